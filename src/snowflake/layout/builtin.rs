//! The built-in layouts as a table.

use crate::pg::datum::timestamp::{interval, timestamp, timestamp_or_report};
use crate::pg::machine::clock;
use crate::snowflake::layout::sql_type::SnowflakeLayout;
use mint_core::BUILTINS;
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;

/// Returns every built-in layout with its capacity.
///
/// `nodes` is the number of nodes, `ids_per_second` the sustained rate of one of them, and `first_invalid` the
/// timestamp from which no ids can be minted. Stable, because `expired` depends on the clock.
#[pg_extern(stable, strict, parallel_safe, cost = 10)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn snowflake_layouts() -> TableIterator<
    'static,
    (
        name!(name, &'static str),
        name!(layout, SnowflakeLayout),
        name!(bits, String),
        name!(unit, Interval),
        name!(epoch, TimestampWithTimeZone),
        name!(nodes, i64),
        name!(ids_per_second, f64),
        name!(first_invalid, Option<TimestampWithTimeZone>),
        name!(expired, bool),
        name!(definition, String),
    ),
> {
    TableIterator::new(BUILTINS.iter().map(|builtin| {
        let layout = &builtin.layout;
        let definition = layout.fields();
        (
            builtin.name,
            SnowflakeLayout::from(layout),
            layout.bits(),
            interval(layout.unit()),
            timestamp_or_report(layout.epoch()),
            layout.node.max().cast_signed() + 1,
            layout.ids_per_second(),
            layout.end().and_then(timestamp),
            layout.end().is_some_and(|end| end <= clock::now()),
            definition,
        )
    }))
}

extension_sql_file!(
    "../../../sql/snowflake/layouts.sql",
    name = "snowflake_layouts",
    requires = [snowflake_layouts]
);
