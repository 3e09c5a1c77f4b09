//! The parts of an id, and ids made of given parts.

use crate::pg::datum::timestamp::{timestamp_or_report, to_micros};
use crate::pg::error::{OrReport, report};
use crate::snowflake::layout::sql_type::SnowflakeLayout;
use mint_core::{Layout, Parts};
use pgrx::PgSqlErrorCode as Code;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

/// Returns the id of a timestamp, shard and sequence: to migrate old rows, or to make a bound by hand.
#[pg_extern(sql = false)]
fn snowflake_encode(
    at: TimestampWithTimeZone,
    shard: i32,
    sequence: i64,
    layout: SnowflakeLayout,
) -> i64 {
    layout
        .layout()
        .encode(to_micros(at), shard.into(), sequence)
        .or_report()
}

/// Returns the shard that has these parts, from the upper one down, each checked against its width: for layouts whose
/// shard is split, as in `shard:5+5`.
#[pg_extern(sql = false)]
fn snowflake_shard_from_parts(parts: Vec<Option<i32>>, layout: SnowflakeLayout) -> i32 {
    let parts: Option<Vec<i64>> = parts.into_iter().map(|part| part.map(i64::from)).collect();
    let parts = parts.unwrap_or_else(|| {
        report(
            Code::ERRCODE_NULL_VALUE_NOT_ALLOWED,
            "parts must not contain nulls",
        )
        .raise()
    });
    // At most 31 bits.
    layout.layout().shard_from_parts(&parts).or_report() as i32
}

/// Returns the parts of an id, with the two parts of a split shard.
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn snowflake_decode(
    id: i64,
    layout: SnowflakeLayout,
) -> TableIterator<
    'static,
    (
        name!(at, TimestampWithTimeZone),
        name!(shard, i32),
        name!(sequence, i64),
        name!(parts, Option<Vec<i32>>),
    ),
> {
    let layout = layout.layout();
    let Parts {
        at,
        shard,
        sequence,
    } = layout.decode(id).or_report();
    TableIterator::once((
        timestamp_or_report(at),
        shard_of(shard),
        sequence.cast_signed(),
        shard_parts(&layout, shard),
    ))
}

/// Returns a shard, of 31 bits at most, as SQL has it.
#[inline]
fn shard_of(shard: u64) -> i32 {
    shard as i32
}

/// Returns the upper and lower part of a split shard.
fn shard_parts(layout: &Layout, shard: u64) -> Option<Vec<i32>> {
    let lower = layout.shard_split();
    (lower > 0).then(|| {
        let mask = (1_u64 << lower) - 1;
        vec![shard_of(shard >> lower), shard_of(shard & mask)]
    })
}

/// Returns when an id was minted: the start of its tick.
#[pg_extern(sql = false)]
fn snowflake_time(id: i64, layout: SnowflakeLayout) -> TimestampWithTimeZone {
    timestamp_or_report(layout.layout().time_of(id).or_report())
}

/// Returns the two parts of the shard of an id, if it is split: for `snowflake_decode` in FROM.
#[pg_extern(sql = false)]
fn snowflake_shard_parts(id: i64, layout: SnowflakeLayout) -> Option<Vec<i32>> {
    let layout = layout.layout();
    shard_parts(&layout, layout.decode(id).or_report().shard)
}

/// Returns the shard of an id.
#[pg_extern(sql = false)]
fn snowflake_shard(id: i64, layout: SnowflakeLayout) -> i32 {
    shard_of(layout.layout().decode(id).or_report().shard)
}

/// Returns the sequence of an id within its tick.
#[pg_extern(sql = false)]
fn snowflake_sequence(id: i64, layout: SnowflakeLayout) -> i64 {
    layout
        .layout()
        .decode(id)
        .or_report()
        .sequence
        .cast_signed()
}

/// Returns true if a layout can have made the id: it is not negative, and has no bits outside the layout's fields.
#[pg_extern(sql = false)]
fn snowflake_is_valid(id: i64, layout: SnowflakeLayout) -> bool {
    layout.layout().decode(id).is_ok()
}
