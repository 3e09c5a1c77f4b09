//! The node that this server mints as.

pub mod grantor;
pub mod java;
pub mod own_shards;
pub mod setting;
