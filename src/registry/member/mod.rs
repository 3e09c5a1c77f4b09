//! A server that requests leases of nodes from a registry.

pub mod assigned;
mod assigned_file;
pub mod bounds;
pub mod end;
pub mod functions;
pub mod memory;
pub mod query;
pub mod session;
pub mod tasks;
pub mod trouble;
pub mod usage;
pub mod worker;
