//! What can be computed of existing tables: what their ids look like, and the bounds of their partitions.

pub mod evidence;
pub mod keys;
pub mod partition;
