//! Tenants of one server that use up what they share.

pub mod resources;
pub mod shared_server;
