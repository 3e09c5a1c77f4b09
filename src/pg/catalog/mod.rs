//! Objects of the database: lookup, names, statements on them, and the privileges of these statements.

pub mod binding;
pub mod expression;
pub mod extension;
pub mod function;
pub mod invalidation;
pub mod privilege;
pub mod relation;
pub mod scan;
pub mod spi;
pub mod sql;
pub mod tables;
