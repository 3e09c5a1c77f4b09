//! Shared memory: where it is found, how it is reserved, and segments of it.

pub mod rendezvous;
pub mod reservation;
pub mod segment;
pub mod size_setting;
