//! Numbers of sequences: segments, tickets and user sequences.

pub mod common;
pub mod exhausted;
pub mod segment;
pub mod sequence_table;
pub mod settings;
pub mod ticket;
pub mod user;

/// Defines the settings, and registers callbacks. Called once, when the library is loaded.
pub fn init() {
    settings::init();
    segment::init();
    user::init();
}
