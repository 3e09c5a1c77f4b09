//! Leases of nodes: which server may mint as which node, and for how long.

pub mod assigned_rules;
pub mod identity;
pub mod lease_rules;
pub mod node_set;
