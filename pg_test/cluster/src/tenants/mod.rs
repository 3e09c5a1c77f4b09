//! Tenants of one server that use up what they share.

pub mod greed;
pub mod neighbors;
