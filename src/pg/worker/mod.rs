//! Background workers, questions to them, and theirs to other servers.

pub mod dblink;
pub mod lifecycle;
pub mod request;
