//! The functions of an id's time from which the planner derives bounds of the id, and their support functions.

use crate::pg::datum::node::simplified;
use crate::pg::datum::timestamp;
use crate::time_predicates::function::TimeFunction;
use crate::time_predicates::{hook, inline};
use mint_core::Layout;
use pgrx::datum::{Date, Timestamp, TimestampWithTimeZone};
use pgrx::prelude::*;
use pgrx::{Internal, pg_sys};

static SNOWFLAKE_TIME: TimeFunction = TimeFunction {
    is_ordered: has_time_on_top,
    is_partial: true,
    is_exact: true,
    ..TimeFunction::new([
        c"snowflake_min", c"snowflake_min_after", c"snowflake_max", c"snowflake_max_before",
    ])
};

const UUID_BOUNDS: [&std::ffi::CStr; 4] = [
    c"uuid_v7_min", c"uuid_v7_min_after", c"uuid_v7_max", c"uuid_v7_max_before",
];

/// Between UUIDs of version 7 are others, which have no time.
static UUID_V7_TIME: TimeFunction = TimeFunction::new(UUID_BOUNDS);

/// The time of version 1 is not in front, so there must be no other version than 7.
static UUID_TIME: TimeFunction = TimeFunction {
    is_of_version_7: true,
    ..TimeFunction::new(UUID_BOUNDS)
};

static OBJECTID_TIME: TimeFunction = TimeFunction {
    is_exact: true,
    ..TimeFunction::new([
        c"objectid_min", c"objectid_min_after", c"objectid_max", c"objectid_max_before",
    ])
};

/// Returns whether ids of a layout are in the order of their time.
fn has_time_on_top(layout: &[&[u8]]) -> bool {
    let bytes = match layout {
        [bytes] => <&[u8; Layout::BYTES]>::try_from(*bytes).ok(),
        _ => None,
    };
    bytes.is_some_and(|bytes| Layout::from_bytes(bytes).is_ok_and(|layout| layout.time_on_top()))
}

/// Notes the oid of the function that the planner asks for, and installs the hook for tables. Changes nothing.
fn answer(
    request: Internal,
    call: pg_sys::FunctionCallInfo,
    function: &'static TimeFunction,
) -> Internal {
    simplified(request, |asked| {
        // SAFETY: the node of a call has the oid of its function.
        unsafe { function.note((*asked.fcall).funcid, (*(*call).flinfo).fn_oid) };
        hook::install();
        None
    })
}

#[pg_extern(sql = false)]
fn snowflake_time_support(request: Internal, call: pg_sys::FunctionCallInfo) -> Internal {
    answer(request, call, &SNOWFLAKE_TIME)
}

#[pg_extern(sql = false)]
fn snowflake_decode_support(request: Internal) -> Internal {
    // SAFETY: a request of the planner's.
    simplified(request, |asked| unsafe { inline::answer(asked) })
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

/// Returns a timestamp of the session's time zone, which is infinity beyond the ends of timestamptz, too.
#[pg_extern(sql = false)]
fn timestamptz_of_timestamp(at: Timestamp) -> TimestampWithTimeZone {
    timestamp::of_timestamp_saturating(at)
}
