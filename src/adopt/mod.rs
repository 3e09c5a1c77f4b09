//! From the tables that there are to ids of this extension: an inventory, an audit, and partitions by time.

pub mod audit;
pub mod default;
pub mod inventory;
pub mod partition;
