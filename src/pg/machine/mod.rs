//! The machine: its clocks, randomness, memory and addresses.

pub mod clock;
pub mod dsm;
pub mod host;
mod memory;
pub mod random;
pub mod server;
pub mod wal;
