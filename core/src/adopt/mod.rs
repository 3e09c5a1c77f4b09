//! What can be computed of existing tables: the bounds of their partitions.

pub mod keys;
pub mod partition;
