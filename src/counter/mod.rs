//! Numbers of sequences: segments, tickets, the sequences of users.

pub mod exhausted;
pub mod segment;
pub mod sequence_table;
pub mod settings;
pub mod ticket;
pub mod user;

/// Defines the settings, and registers what sessions shall forget. Called once, when the library is loaded.
pub fn init() {
    settings::init();
    segment::session::init();
    user::draw::init();
}
