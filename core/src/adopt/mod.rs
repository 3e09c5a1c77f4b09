//! What can be computed of existing tables: what their defaults call, and the bounds of their partitions.

pub mod call;
pub mod keys;
pub mod partition;
