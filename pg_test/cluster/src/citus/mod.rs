//! Clusters of Citus, and what befalls their nodes under load.

pub mod cluster;
pub mod torture;
