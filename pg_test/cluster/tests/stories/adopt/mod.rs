//! Adoption: inventory and audit, conversions of tables that are in use, and back, and partitions.

mod changed_since;
mod convert;
mod drawn_ids;
mod inventory;
mod load;
mod meanings;
mod mentions;
mod online;
mod partition_maintenance;
mod partition_register;
mod partitions;
mod resumed;
mod said_before;
mod shop;
mod untrusted_objects;
