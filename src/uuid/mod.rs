//! UUIDs of all versions.

pub mod decode;
pub mod generate;
pub mod lanes;
pub mod mysql;
pub mod node;

/// Defines the setting, and registers the memory. Called once, when the library is loaded.
pub fn init() {
    node::init();
    lanes::init();
}
