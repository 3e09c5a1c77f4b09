//! Views for an administrator: lanes, statistics and the health of the server.

pub mod health;
pub mod lanes;
pub mod stats;
