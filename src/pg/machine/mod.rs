//! What the machine has: clocks and randomness.

pub mod clock;
pub mod host;
pub mod mac_address;
pub mod random;
pub mod server;
