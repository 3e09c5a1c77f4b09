//! Many servers: their counters, a registry that is far away, away for long, or large, and a cluster under Patroni.

mod every_fault;
mod idle_connections;
mod long_outages;
mod many_leases;
mod patroni;
mod promoted_counters;
mod replicated_sequences;
mod sharded_ids;
mod tickets;
