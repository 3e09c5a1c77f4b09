//! A registry of nodes, its members, and their faults.

pub mod fleet;
pub mod members;
pub mod proxy;
