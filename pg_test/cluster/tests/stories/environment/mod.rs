//! The extension's schema and catalog, other tenants, extreme arguments and unusual environments.

mod catalog;
pub mod dumps;
mod encodings;
mod image_volume;
mod interruptions;
mod memory;
mod moved_shard;
mod other_extensions;
pub mod schema;
mod statements;
mod tenants;
mod updates;
