//! Leases of nodes that a registry grants.

mod copies;
mod members;
mod orphans;
mod outages;
mod reasons;
mod replication;
mod restores;
mod settings;
mod shutdowns;
mod trust;
mod unresponsive;

use mint_cluster::Session;

/// Returns the node of an id.
#[track_caller]
fn shard(session: &mut Session, id: i64) -> i64 {
    session
        .one::<i32>(&format!("SELECT snowflake_shard({id})"))
        .into()
}
