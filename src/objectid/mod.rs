//! The type `objectid`.

pub mod generate;
pub mod order;
pub mod sql_type;
