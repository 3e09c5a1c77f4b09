//! Existing tables: the last chapter of the install script.

mod convert_plan;
mod partitions;
