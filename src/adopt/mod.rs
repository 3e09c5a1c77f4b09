//! From the tables that there are to ids of this extension: partitions by time.

pub mod default;
pub mod partition;
