//! State and hooks of one process of the server.

pub mod callbacks;
pub mod discard;
pub mod guc;
pub mod local;
pub mod lock;
pub mod orphan;
pub mod recovery;
pub mod statement;
pub mod transaction;
pub mod wait;
