//! Objects of the database: found, named, changed, and with whose rights.

pub mod binding;
pub mod extension;
pub mod invalidation;
pub mod privilege;
pub mod relation;
pub mod sql;
pub mod tables;
