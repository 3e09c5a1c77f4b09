//! What the catalogs say of the tables that have ids: read in one way, for the inventory, the audit, conversions and plans of
//! partitions.

pub mod casts;
pub mod column;
pub mod default;
pub mod ends;
pub mod foreign_key;
pub mod home;
pub mod table;
