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

use mint_cluster::Session;

/// Returns the node of an id.
#[track_caller]
fn shard(session: &mut Session, id: i64) -> i32 {
    session.one(&format!("SELECT snowflake_shard({id})"))
}
