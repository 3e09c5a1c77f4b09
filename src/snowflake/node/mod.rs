//! Which node this server mints as.

pub mod java;
pub mod lender;
pub mod setting;
