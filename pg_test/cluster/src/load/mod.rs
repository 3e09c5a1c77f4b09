//! Many sessions at once, and what they saw.

pub mod clients;
pub mod ledger;
pub mod sessions;
