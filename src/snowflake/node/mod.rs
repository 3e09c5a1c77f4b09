//! The node that this server mints as.

pub mod java;
pub mod lender;
pub mod setting;
