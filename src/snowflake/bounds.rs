//! Ids as bounds of a time range, which make it a range of the primary key.
//!
//! The time of an id is the start of its tick. A bound that no id can have is NULL, and a comparison with it is never
//! true.
//! The distance of two bounds is the length of a partition, or of a chunk of another extension.

use crate::pg::datum::timestamp::to_micros;
use crate::pg::error::OrReport;
use crate::snowflake::layout::sql_type::SnowflakeLayout;
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;

/// Returns the smallest id of a timestamp or later: for `id >= snowflake_min(at)`.
#[pg_extern(sql = false)]
fn snowflake_min(at: TimestampWithTimeZone, layout: SnowflakeLayout) -> Option<i64> {
    layout.layout().min_id(to_micros(at)).or_report()
}

/// Returns the largest id of a timestamp or earlier: for `id <= snowflake_max(at)`.
#[pg_extern(sql = false)]
fn snowflake_max(at: TimestampWithTimeZone, layout: SnowflakeLayout) -> Option<i64> {
    layout.layout().max_id(to_micros(at)).or_report()
}

/// Returns the smallest id after a timestamp: for `id >= snowflake_min_after(at)`.
#[pg_extern(sql = false)]
fn snowflake_min_after(at: TimestampWithTimeZone, layout: SnowflakeLayout) -> Option<i64> {
    layout.layout().min_id_after(to_micros(at)).or_report()
}

/// Returns the largest id before a timestamp: for `id <= snowflake_max_before(at)`.
#[pg_extern(sql = false)]
fn snowflake_max_before(at: TimestampWithTimeZone, layout: SnowflakeLayout) -> Option<i64> {
    layout.layout().max_id_before(to_micros(at)).or_report()
}

/// Returns by how much `snowflake_min` grows in an interval.
#[pg_extern(sql = false)]
fn snowflake_span(length: Interval, layout: SnowflakeLayout) -> i64 {
    layout
        .layout()
        .span(length.months(), length.days(), length.micros())
        .or_report()
}
