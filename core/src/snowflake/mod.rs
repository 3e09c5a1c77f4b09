//! Ids of 64 bits: layouts, lanes that issue them, and what they may not pass.

pub mod builtin;
pub mod definition;
pub mod error;
pub mod id;
pub mod java_node;
pub mod lane;
pub mod lane_table;
pub mod layout;
pub mod layout_text;
pub mod lease;
pub mod mint;
pub mod mint_error;
