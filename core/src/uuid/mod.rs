//! UUIDs: what each version carries, and the forms of others.

pub mod mysql;
pub mod version;
