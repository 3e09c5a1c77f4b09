//! Many sessions at once, and records of what they saw.

pub mod clients;
pub mod ledger;
pub mod sessions;
