//! Shared memory: its rendezvous, its reservation, and its segments.

pub mod rendezvous;
pub mod reservation;
pub mod segment;
pub mod size_setting;
