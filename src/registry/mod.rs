//! Leases of nodes: the registry that grants them, and the members that mint under them.

pub mod identity;
pub mod member;
pub mod protocol;
pub mod server;
pub mod settings;

/// Defines the settings, and leases nodes once they name a registry. Called once, when the library is loaded.
pub fn init() {
    member::memory::leases::init();
    member::session::init();
    settings::init(&member::session::RegistryGrantor);
}
