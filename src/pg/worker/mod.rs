//! Background workers: their life cycle, the requests of sessions, deadlines, and queries on other servers.

pub mod dblink;
pub mod deadline;
pub mod foreign_server;
pub mod lifecycle;
pub mod mailbox;
pub mod note;
pub mod ticker;
pub mod transaction;
pub mod visitor;
