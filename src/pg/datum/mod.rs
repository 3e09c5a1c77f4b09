//! Conversions between values of PostgreSQL and Rust.

pub mod convert;
pub mod fixed;
pub mod fixed_order;
pub mod json;
pub mod list;
pub mod node;
pub mod regclass;
pub mod text;
pub mod timestamp;
pub mod uuid;
