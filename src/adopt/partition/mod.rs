//! Partitions by time on an id: statements that create the missing ones, and that drop the old ones.

mod bounds;
mod error;
mod functions;
mod names;
mod parent;
mod zone;
