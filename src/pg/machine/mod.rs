//! The machine: its clocks, randomness, memory and addresses.

pub mod clock;
pub mod dsm;
pub mod host;
#[cfg_attr(test, expect(dead_code))]
mod memory;
pub mod random;
pub mod server;
pub mod state_file;
pub mod wal;
