//! Background workers: their life cycle, the requests of sessions, and queries on other servers.

pub mod dblink;
pub mod lifecycle;
pub mod request;
