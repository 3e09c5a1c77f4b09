//! Which functions of an id's time the planner derives bounds of the id from.

use crate::pg::catalog::function;
use crate::pg::datum::timestamp;
use crate::time_predicates::function::{Condition, TimeFunction};
use crate::time_predicates::support::{answer, answer_decode};
use mint_core::Layout;
use pgrx::datum::{Date, Timestamp, TimestampWithTimeZone};
use pgrx::prelude::*;
use pgrx::{Internal, pg_sys};

static SNOWFLAKE_TIME: TimeFunction = TimeFunction::new(
    [
        c"snowflake_min", c"snowflake_min_after", c"snowflake_max", c"snowflake_max_before",
    ],
    has_time_on_top,
    true,
    true,
    None,
);

const UUID_BOUNDS: [&std::ffi::CStr; 4] = [
    c"uuid_v7_min", c"uuid_v7_min_after", c"uuid_v7_max", c"uuid_v7_max_before",
];

/// The time of version 1 is not where order begins, so there must be no other version than 7.
static UUID_TIME: TimeFunction = TimeFunction::new(
    UUID_BOUNDS,
    always,
    false,
    false,
    Some(Condition {
        function: c"uuid_version_of",
        of_server: function::UUID_EXTRACT_VERSION,
        value: 7,
    }),
);

/// Between UUIDs of version 7 are others, which have no time.
static UUID_V7_TIME: TimeFunction = TimeFunction::new(UUID_BOUNDS, always, false, false, None);

static OBJECTID_TIME: TimeFunction = TimeFunction::new(
    [
        c"objectid_min", c"objectid_min_after", c"objectid_max", c"objectid_max_before",
    ],
    always,
    false,
    true,
    None,
);

fn always(_: &[&[u8]]) -> bool {
    true
}

/// Returns whether ids of a layout are in the order of their time.
fn has_time_on_top(layout: &[&[u8]]) -> bool {
    let bytes = match layout {
        [bytes] => <&[u8; Layout::BYTES]>::try_from(*bytes).ok(),
        _ => None,
    };
    bytes.is_some_and(|bytes| Layout::from_bytes(bytes).is_ok_and(|layout| layout.time_on_top()))
}

#[pg_extern(sql = false)]
fn snowflake_time_support(request: Internal, call: pg_sys::FunctionCallInfo) -> Internal {
    answer(request, call, &SNOWFLAKE_TIME)
}

#[pg_extern(sql = false)]
fn snowflake_decode_support(request: Internal) -> Internal {
    answer_decode(request)
}

#[pg_extern(sql = false)]
fn uuid_time_support(request: Internal, call: pg_sys::FunctionCallInfo) -> Internal {
    answer(request, call, &UUID_TIME)
}

#[pg_extern(sql = false)]
fn uuid_v7_time_support(request: Internal, call: pg_sys::FunctionCallInfo) -> Internal {
    answer(request, call, &UUID_V7_TIME)
}

#[pg_extern(sql = false)]
fn objectid_time_support(request: Internal, call: pg_sys::FunctionCallInfo) -> Internal {
    answer(request, call, &OBJECTID_TIME)
}

/// Returns the start of a day in the session's time zone, as comparisons of a timestamptz with a date take it: beyond
/// the ends of timestamptz it is infinity, and not an error.
#[pg_extern(sql = false)]
fn timestamptz_of(day: Date) -> TimestampWithTimeZone {
    timestamp::of_date_saturating(day)
}

/// Returns a timestamp of the session's time zone, likewise.
#[pg_extern(sql = false)]
fn timestamptz_of_timestamp(at: Timestamp) -> TimestampWithTimeZone {
    timestamp::of_timestamp_saturating(at)
}
