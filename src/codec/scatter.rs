//! TiDB's remedies for hot spots: ids scattered by their digits or by their transaction.

use crate::pg::error::OrReport;
use crate::pg::machine::clock::transaction_start;
use mint_core::AutoRandom;
use mint_core::codec::scatter::{scatter, unscatter};
use pgrx::prelude::*;

/// Moves the last decimal digits of an id behind its first, so that consecutive ids lie far apart.
#[pg_extern(sql = false)]
fn snowflake_scatter(id: i64, digits: i32) -> i64 {
    scatter(id, digits).or_report()
}

/// Undoes `snowflake_scatter` with the same number of digits.
#[pg_extern(sql = false)]
fn snowflake_unscatter(id: i64, digits: i32) -> i64 {
    unscatter(id, digits).or_report()
}

/// Returns an id as TiDB's AUTO_RANDOM does: the shard of this transaction in the high bits, the value in the low ones.
///
/// - **Unique**: as the values are.
/// - **Ordered**: by value within a transaction; transactions are scattered over the shards.
/// - **Stable**: the shard is computed from the start of the transaction, as in TiDB, so parallel workers of a query
///   have the same one.
#[pg_extern(sql = false)]
fn auto_random(value: i64, shard_bits: i32, range_bits: i32) -> i64 {
    AutoRandom::new(shard_bits, range_bits)
        .and_then(|widths| widths.id(transaction_start(), value))
        .or_report()
}

/// Returns the value from which `auto_random` made an id.
#[pg_extern(sql = false)]
fn auto_random_value(id: i64, shard_bits: i32, range_bits: i32) -> i64 {
    AutoRandom::new(shard_bits, range_bits)
        .and_then(|widths| widths.value(id))
        .or_report()
}

/// Returns the shard that `auto_random` gave an id.
#[pg_extern(sql = false)]
fn auto_random_shard(id: i64, shard_bits: i32, range_bits: i32) -> i64 {
    AutoRandom::new(shard_bits, range_bits)
        .and_then(|widths| widths.shard(id))
        .or_report()
}
