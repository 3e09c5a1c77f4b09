//! The statistics of the server, for SQL.

use crate::counter::segment::usage as segments;
use crate::counter::user::{sections, users};
use crate::objectid::generate as objectids;
use crate::pg::datum::timestamp::{interval, timestamp};
use crate::registry::member::usage as leases;
use crate::snowflake::lane::{ceiling, lanes};
use crate::statistics;
use crate::statistics::{Count, Family, never_less};
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;

/// Returns the values of the view `mint.stats`, in its order: ids by family, waits by cause, counts, and usage beside
/// its limits; how long calls have waited, by cause; and the time since when the statistics count.
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn stat_values() -> TableIterator<
    'static,
    (
        name!(ids, Vec<i64>),
        name!(waits, Vec<i64>),
        name!(waited, Vec<Interval>),
        name!(counts, Vec<i64>),
        name!(used, Vec<i64>),
        name!(since, Option<TimestampWithTimeZone>),
    ),
> {
    let waits = statistics::waits();
    TableIterator::once((
        statistics::locked(ids).map(u64::cast_signed).to_vec(),
        waits.iter().map(|(calls, _)| calls.cast_signed()).collect(),
        waits.iter().map(|&(_, span)| interval(span)).collect(),
        COUNTS
            .map(|count| statistics::count(count).cast_signed())
            .to_vec(),
        used().into_iter().flatten().map(u64::cast_signed).collect(),
        timestamp(statistics::since()),
    ))
}

/// The counts of the view, in its order.
const COUNTS: [Count; 13] = [
    Count::ClockStepsBack,
    Count::ClockStepsForward,
    Count::CeilingWrites,
    Count::SectionRaises,
    Count::Refills,
    Count::SegmentEvictions,
    Count::SectionEvictions,
    Count::UserEvictions,
    Count::LeaseRenewals,
    Count::LeaseFailures,
    Count::ClockRefusals,
    Count::LeaseRefusals,
    Count::LayoutEndRefusals,
];

/// Returns how many snowflakes, ObjectIDs and values of segments were issued.
fn ids() -> [u64; 3] {
    let taken = lanes::made_lanes().map(|lane| lane.ids_taken()).sum();
    let objectids = objectids::made_lane().map_or(0, |lane| lane.ids_minted());
    [
        never_less(Family::Snowflakes, taken),
        never_less(Family::ObjectIds, objectids),
        never_less(Family::SegmentValues, values_drawn()),
    ]
}

/// Returns how many values of segments were drawn since the last reset.
fn values_drawn() -> u64 {
    // In this order, a segment that is filled or dropped in between lowers the result, and never raises it.
    let taken = statistics::count(Count::ValuesTaken);
    let left = segments::remaining();
    taken.saturating_sub(left + statistics::count(Count::ValuesDropped))
}

/// Returns how many lanes, ceilings, segments, sections, users and leases are in use, each with the most that can be.
pub fn used() -> [[u64; 2]; 6] {
    let wide = |(used, most): (usize, usize)| [used as u64, most as u64];
    [
        <[u32; 2]>::from(lanes::used()).map(u64::from),
        wide(ceiling::used()),
        wide(segments::used()),
        wide(sections::used()),
        users::used().into(),
        wide(leases::slots_used()),
    ]
}

/// Sets `mint.stats` to zero, and the statistics in the views of lanes, ceilings and segments. Returns the time.
#[pg_extern(sql = false)]
fn reset_stats() -> Option<TimestampWithTimeZone> {
    timestamp(statistics::locked(|| {
        lanes::made_lanes().for_each(|lane| lane.reset_statistics());
        if let Some(lane) = objectids::made_lane() {
            lane.reset_count();
        }
        ceiling::reset_statistics();
        segments::reset_statistics();
        statistics::add(Count::ValuesDropped, values_drawn());
        statistics::reset()
    }))
}
