//! Segments: values that are taken from a sequence at once, and drawn by all sessions.

pub mod draw;
pub mod functions;
pub mod leaf;
pub mod refill;
pub mod request;
pub mod rows;
pub mod session;
pub mod slots;
pub mod source;
pub mod supply;
pub mod usage;

/// Registers the memory and callbacks. Called once, when the library is loaded.
pub fn init() {
    slots::init();
    session::init();
}
