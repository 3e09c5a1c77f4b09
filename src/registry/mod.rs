//! Leases of nodes: the registry that grants them, and the members that mint under them.

pub mod member;
pub mod protocol;
pub mod server;
pub mod settings;

/// Defines the settings, and leases nodes once they name a registry. Called once, when the library is loaded.
pub fn init() {
    server::memory::init();
    member::memory::init();
    member::session::init();
    settings::init(&member::session::RegistryGrantor);
}

/// Describes the width of a node in a message.
pub fn bits(width: u32) -> String {
    match width {
        1 => "1 bit".to_owned(),
        _ => format!("{width} bits"),
    }
}
