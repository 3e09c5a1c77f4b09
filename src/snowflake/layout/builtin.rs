//! Layouts as rows of a table, with their capacity.

use crate::pg::datum::timestamp::{interval, timestamp, timestamp_or_report};
use crate::pg::machine::clock;
use crate::snowflake::layout::sql_type::SnowflakeLayout;
use mint_core::snowflake::builtin::name_of;
use mint_core::{BUILTINS, Layout};
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;

/// Returns every built-in layout with its capacity.
///
/// `shards` is the number of shards, `ids_per_second` the sustained rate of one of them, and `first_invalid` the
/// timestamp from which no ids can be minted. Stable, because `expired` depends on the clock.
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn snowflake_layouts() -> TableIterator<
    'static,
    (
        name!(name, Option<&'static str>),
        name!(layout, SnowflakeLayout),
        name!(bits, String),
        name!(unit, Interval),
        name!(epoch, TimestampWithTimeZone),
        name!(shards, i64),
        name!(ids_per_second, f64),
        name!(first_invalid, Option<TimestampWithTimeZone>),
        name!(expired, bool),
        name!(definition, String),
    ),
> {
    TableIterator::new(BUILTINS.iter().map(|builtin| row(&builtin.layout)))
}

/// Returns the row of one layout, whose name is null unless it is built in.
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn snowflake_layout_row(
    layout: SnowflakeLayout,
) -> TableIterator<
    'static,
    (
        name!(name, Option<&'static str>),
        name!(layout, SnowflakeLayout),
        name!(bits, String),
        name!(unit, Interval),
        name!(epoch, TimestampWithTimeZone),
        name!(shards, i64),
        name!(ids_per_second, f64),
        name!(first_invalid, Option<TimestampWithTimeZone>),
        name!(expired, bool),
        name!(definition, String),
    ),
> {
    TableIterator::once(row(&layout.layout()))
}

type Row = (
    Option<&'static str>,
    SnowflakeLayout,
    String,
    Interval,
    TimestampWithTimeZone,
    i64,
    f64,
    Option<TimestampWithTimeZone>,
    bool,
    String,
);

fn row(layout: &Layout) -> Row {
    let end = layout.end();
    (
        name_of(layout),
        SnowflakeLayout::from(layout),
        layout.bits(),
        interval(layout.unit()),
        timestamp_or_report(layout.epoch()),
        layout.shard.max().cast_signed() + 1,
        layout.ids_per_second(),
        end.and_then(timestamp),
        end.is_some_and(|end| end <= clock::now()),
        layout.fields(),
    )
}
