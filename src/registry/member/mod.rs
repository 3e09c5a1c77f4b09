//! A server that asks a registry for nodes.

pub mod functions;
pub mod leases;
pub mod question;
pub mod slot;
pub mod tasks;
pub mod worker;
