//! A server that requests leases of nodes from a registry.

pub mod assigned;
pub mod bounds;
pub mod functions;
pub mod leases;
pub mod request;
pub mod slot;
pub mod tasks;
pub mod usage;
pub mod worker;
