//! What belongs to one process of the server.

pub mod callbacks;
pub mod discard;
pub mod guc;
pub mod last_used;
pub mod lent;
pub mod local;
pub mod lock;
pub mod recovery;
pub mod statement;
