//! Lanes, the counters in shared memory that issue ids, and the ceiling above them.

pub mod ceiling;
pub mod first_ceiling;
pub mod lanes;
pub mod mint;
pub mod open_ticks;
pub mod reset_ceiling;
mod server_ceiling;
pub mod session;
mod slots;
pub mod usage;
