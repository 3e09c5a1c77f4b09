//! Tenants of one server, who take what they can.

pub mod greed;
pub mod neighbors;
