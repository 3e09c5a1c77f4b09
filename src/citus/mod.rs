//! Citus: a server's group in its cluster is its node, and it refuses other shards.
//!
//! Citus evaluates a default on any of its nodes. A default that passes a shard, `snowflake_next_id(5)`, would generate
//! the same ids on several of them.

pub mod judge;
pub mod membership;

/// Judges shards if there is no registry. Called once, when the library is loaded.
pub fn init() {
    judge::init();
}
