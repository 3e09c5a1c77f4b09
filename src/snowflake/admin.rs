//! What the administrator of the server sees and does.

use crate::pg::datum::text::Words;
use crate::pg::datum::timestamp::{interval, timestamp, to_micros};
use crate::pg::machine::clock;
use crate::snowflake::lane::{ceiling, lanes, reset_ceiling};
use crate::snowflake::layout::sql_type::SnowflakeLayout;
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;

/// Every lane from which the server minted since it started, behind the view of the same name.
#[pg_extern(volatile, strict, parallel_safe, cost = 100, requires = ["layout_operators"])]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn pg_mint_lanes() -> TableIterator<
    'static,
    (
        name!(layout, SnowflakeLayout),
        name!(node, Option<i64>),
        name!(last_id, Option<i64>),
        name!(at, Option<TimestampWithTimeZone>),
        name!(ahead, Option<Interval>),
        name!(waits, i64),
        name!(largest_step, Interval),
    ),
> {
    TableIterator::new(lanes::lanes().filter_map(|lane| {
        let layout = lane.layout()?;
        let word = lane.last();
        let at = layout.tick_start(word >> layout.seq.width);
        Some((
            SnowflakeLayout::from(&layout),
            lane.node().map(u64::cast_signed),
            lane.node().map(|node| layout.id(node, word)),
            at.and_then(timestamp),
            at.map(|at| interval(clock::ahead(at))),
            lane.waits().cast_signed(),
            interval(lane.largest_step()),
        ))
    }))
}

/// Confirms the clock after it jumped forward by more than `pg_mint.max_jump`, and returns by how
/// much it had. Only when the clock is right: ids minted now hold back all later ones.
#[pg_extern(volatile, strict, parallel_restricted, cost = 1)]
fn pg_mint_accept_clock() -> Interval {
    interval(lanes::accept_clock())
}

/// The durable ceilings of the server's databases, behind the view of the same name.
#[pg_extern(volatile, strict, parallel_safe, cost = 100)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn pg_mint_ceilings() -> TableIterator<
    'static,
    (
        name!(database, Words),
        name!(name, &'static str),
        name!(value, Option<TimestampWithTimeZone>),
        name!(ahead, Interval),
        name!(floor, Option<TimestampWithTimeZone>),
        name!(writes, i64),
        name!(last_write, Option<TimestampWithTimeZone>),
    ),
> {
    TableIterator::new(ceiling::seen().into_iter().map(|seen| {
        (
            Words(seen.database),
            ceiling::NAME,
            timestamp(seen.value),
            interval(clock::ahead(seen.value)),
            timestamp(seen.floor),
            seen.writes.cast_signed(),
            seen.last_write.and_then(timestamp),
        )
    }))
}

/// Puts the ceiling of this database to a moment, after a clock that ran ahead had poisoned it, and
/// returns where it is: never before what may be minted now. **Ids past it may be issued again**: give a
/// moment above those of all ids in use.
#[pg_extern(volatile, strict, parallel_unsafe, cost = 100)]
fn pg_mint_reset_ceiling(at: TimestampWithTimeZone) -> Option<TimestampWithTimeZone> {
    timestamp(reset_ceiling::reset(to_micros(at)))
}

/// Where the ceiling of a new extension begins: above all that was issued in this database since the
/// server started.
#[pg_extern(volatile, strict, parallel_restricted, cost = 100)]
fn pg_mint_highest_ceiling() -> i64 {
    ceiling::highest()
}

extension_sql_file!(
    "../../sql/snowflake/ceiling.sql",
    name = "ceiling",
    requires = ["layout_operators", pg_mint_highest_ceiling]
);

extension_sql_file!(
    "../../sql/snowflake/admin.sql",
    name = "snowflake_admin",
    requires = [
        pg_mint_lanes,
        pg_mint_accept_clock,
        pg_mint_ceilings,
        pg_mint_reset_ceiling,
        pg_mint_highest_ceiling
    ]
);
