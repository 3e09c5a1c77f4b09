//! Nodes that are lent to servers: the registry, and its members.

pub mod identity;
pub mod member;
pub mod server;
pub mod settings;

/// Defines the settings, and lends nodes once they name a registry. Called once, when the library is loaded.
pub fn init() {
    member::leases::init();
    settings::init(&member::leases::LEASES);
}
