//! UUIDs of all versions.

pub mod decode;
pub mod generate;
pub mod lanes;
pub mod mysql;
pub mod node;
