//! The lanes of all families, for SQL.

use crate::objectid::generate as objectids;
use crate::pg::datum::timestamp::{interval, timestamp};
use crate::pg::machine::clock;
use crate::snowflake::lane::lanes as snowflakes;
use crate::snowflake::layout::sql_type::SnowflakeLayout;
use crate::uuid::lanes as uuids;
use mint_core::{Lane, Micros};
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;

/// Returns the lanes from which the server has minted since it started, for the view of the same name.
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn lanes() -> TableIterator<
    'static,
    (
        name!(layout, Option<SnowflakeLayout>),
        name!(shard, Option<i64>),
        name!(last_id, Option<i64>),
        name!(at, Option<TimestampWithTimeZone>),
        name!(ahead, Option<Interval>),
        name!(ids, Option<i64>),
        name!(waits, i64),
        name!(waited, Interval),
        name!(largest_step, Interval),
        name!(family, &'static str),
    ),
> {
    let snowflake = |lane: &Lane| {
        let layout = lane.layout()?;
        let word = lane.last();
        let at = layout.tick_start(word >> layout.seq.width);
        Some((
            Some(SnowflakeLayout::from(&layout)),
            lane.shard().map(u64::cast_signed),
            lane.shard().map(|shard| layout.id(shard, word)),
            at.and_then(timestamp),
            at.map(|at| interval(clock::ahead(at))),
            Some(lane.ids_taken().cast_signed()),
            lane.waits().cast_signed(),
            interval(lane.waited()),
            interval(lane.largest_step()),
            "snowflake",
        ))
    };
    // Returns a lane that never waits.
    let monotonic = |family, at: Micros, minted: Option<u64>| {
        let ahead = Some(interval(clock::ahead(at)));
        let ids = minted.map(u64::cast_signed);
        let (at, no) = (timestamp(at), || interval(0));
        (None, None, None, at, ahead, ids, 0, no(), no(), family)
    };
    let [gregorian, unix] = uuids::made_lanes().map_or([None; 2], |lanes| lanes.last());
    let objectid = objectids::made_lane().and_then(|lane| Some((lane.last()?, lane.ids_minted())));
    let further = [
        gregorian.map(|at| monotonic("uuid_v1", at, None)),
        unix.map(|at| monotonic("uuid_v7", at, None)),
        objectid.map(|(at, minted)| monotonic("objectid", at, Some(minted))),
    ];
    let all = snowflakes::lanes().filter_map(snowflake);
    TableIterator::new(all.chain(further.into_iter().flatten()))
}
