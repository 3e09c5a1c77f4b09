//! Tables that are there already: partitions, inventory and audit.

mod inventory;
mod partitions;
