//! The machine: its clocks, randomness and addresses.

pub mod clock;
pub mod dsm;
pub mod host;
pub mod random;
pub mod server;
pub mod wal;
