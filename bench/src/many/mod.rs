//! Objects that many sessions, cores and servers share: a lane, and a registry.

pub mod first_call;
pub mod line;
pub mod managed;
pub mod members;
pub mod sessions;
mod swap;
pub mod word;
