//! Adoption: inventory and audit, conversions of tables that are in use, and back, and partitions.

mod changed_since;
mod convert;
mod load;
mod meanings;
mod online;
mod script;
mod shop;
mod untrusted;
