//! Leases of nodes: which server may mint as which node, and for how long.

pub mod node_set;
pub mod ring;
mod ring_state;
