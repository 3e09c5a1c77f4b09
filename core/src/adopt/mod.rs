//! What can be computed of existing tables: what their ids look like, the bounds of their partitions, and their
//! expressions with other columns.

pub mod evidence;
pub mod keys;
pub mod rename;
