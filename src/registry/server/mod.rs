//! The registry: what members ask it, and what it grants.

pub mod functions;
pub mod grant;
pub mod request;
pub mod tables;
