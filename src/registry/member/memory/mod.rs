//! What sessions and the worker share in memory, which no copy of the data directory has.

pub mod assigned;
pub mod leases;
pub mod slot;
