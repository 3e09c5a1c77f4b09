//! Values of a table's column, read without a query.

pub mod newest;
pub mod rows;
pub mod sample;
