//! The node that this server mints as.

pub mod java;
pub mod grantor;
pub mod setting;
