//! The extension's schema and catalog, other tenants, extreme arguments and unusual environments.

mod catalog;
pub mod dumps;
mod encodings;
mod extremes;
mod held;
mod held_sql;
mod memory;
mod moved_shard;
pub mod schema;
mod tenants;
mod updates;
