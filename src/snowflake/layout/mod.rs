//! The SQL type `snowflake_layout`.

pub mod builtin;
pub mod cache;
pub mod sql_type;
