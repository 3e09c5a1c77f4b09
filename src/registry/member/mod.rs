//! A server that requests leases of nodes from a registry.

pub mod end;
pub mod functions;
pub mod memory;
pub mod request;
pub mod session;
pub mod trouble;
pub mod usage;
pub mod worker;
