//! Ids of 64 bits, of any layout.

pub mod admin;
pub mod bounds;
pub mod decode;
pub mod error;
pub mod fitting;
pub mod generate;
pub mod lane;
pub mod layout;
pub mod node;
pub mod settings;

/// Defines the settings and registers callbacks. Called once, when the library is loaded.
pub fn init() {
    settings::init();
    node::own_shards::init();
    node::setting::init();
    lane::ceiling::init();
    lane::lanes::init();
    lane::session::init();
}
