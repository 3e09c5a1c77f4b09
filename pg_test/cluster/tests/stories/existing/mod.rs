//! Existing tables: the last chapter of the install script.

mod partitions;
