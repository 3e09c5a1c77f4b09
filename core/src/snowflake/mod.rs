//! Ids of 64 bits: their layouts, the lanes that issue them, and leases of id time.

pub mod builtin;
pub mod definition;
pub mod error;
pub mod id;
pub mod lane;
pub mod lane_table;
pub mod layout;
pub mod layout_text;
pub mod lease;
pub mod mint;
pub mod mint_error;
pub mod shard;
pub mod start_above;
