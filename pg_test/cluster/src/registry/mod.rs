//! A registry of nodes, its members, and what happens to them.

pub mod fleet;
pub mod members;
