//! Leases of nodes: which server may mint as which node, and for how long.

pub mod ring;
mod ring_state;
pub mod shard_set;
