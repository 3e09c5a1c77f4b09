//! Numbers of sequences: segments, tickets and user sequences.

pub mod common;
pub mod exhausted;
pub mod last_used;
pub mod row_estimate;
pub mod segment;
pub mod sequence_table;
pub mod settings;
pub mod slot_table;
pub mod ticket;
pub mod user;

/// Defines the settings, and registers callbacks. Called once, when the library is loaded.
pub fn init() {
    settings::init();
    segment::init();
    user::init();
}
