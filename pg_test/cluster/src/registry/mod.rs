//! A registry of nodes, its members, and their faults.

pub mod copies;
pub mod crowd;
pub mod fleet;
pub mod gaps;
pub mod member_faults;
pub mod members;
pub mod proxy;
pub mod registry_faults;
pub mod survival;
