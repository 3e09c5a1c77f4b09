//! The machine: its clocks, randomness, memory and addresses.

pub mod clock;
pub mod dsm;
pub mod host;
// The program that runs the tests is no process of the server.
#[cfg(not(test))]
mod memory;
pub mod random;
pub mod server;
pub mod wal;
