//! User sequences: a sequence for each of many users, in families.

pub mod draw;
pub mod family;
pub mod functions;
pub mod sections;
pub mod users;

/// Registers the memory and callbacks. Called once, when the library is loaded.
pub fn init() {
    sections::init();
    users::init();
    draw::init();
}
