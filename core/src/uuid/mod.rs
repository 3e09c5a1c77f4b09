//! UUIDs: their lanes, the parts of each version, and MySQL's forms.

pub mod lanes;
pub mod mysql;
pub mod version;
