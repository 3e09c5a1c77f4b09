//! The extension's schema and catalog, other tenants, extreme arguments and unusual environments.

mod catalog;
pub mod dumps;
mod encodings;
mod extremes;
mod held;
mod held_sql;
mod memory;
mod moved_shard;
mod neighbors;
mod scarce_memory;
pub mod schema;
mod tenants;
mod updates;
