//! Citus: a server's group in its cluster is its node, and other shards are refused there.
//!
//! Citus evaluates a default on any of its nodes. One that passes a shard, `snowflake_next_id(5)`, would generate the same ids
//! on several of them.

pub mod judge;
pub mod membership;

/// Judges shards where there is no registry. Called once, when the library is loaded.
pub fn init() {
    judge::init();
}
