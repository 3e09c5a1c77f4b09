//! The node whose ids this server mints.

pub mod grantor;
pub mod java;
pub mod own_shards;
pub mod setting;
