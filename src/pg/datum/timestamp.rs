//! Conversions between timestamps of PostgreSQL, which count from 2000, and of core, which count from 1970.

use crate::pg::error::report;
use mint_core::Micros;
use pgrx::datum::{Interval, Timestamp, TimestampWithTimeZone};
use pgrx::{PgSqlErrorCode, pg_sys};

/// 2000-01-01T00:00:00Z in Unix microseconds.
const Y2K: Micros = 946_684_800_000_000;

/// Converts a timestamptz to Unix microseconds. The infinities become the ends of the range.
#[inline]
pub fn to_micros(at: TimestampWithTimeZone) -> Micros {
    pg_sys::TimestampTz::from(at).saturating_add(Y2K)
}

/// Converts Unix microseconds to a timestamptz; returns none if out of its range.
pub fn timestamp(at: Micros) -> Option<TimestampWithTimeZone> {
    at.checked_sub(Y2K)?.try_into().ok()
}

/// As [`timestamp`], or raises the server's error.
#[track_caller]
pub fn timestamp_or_report(at: Micros) -> TimestampWithTimeZone {
    match timestamp(at) {
        Some(timestamp) => timestamp,
        None => report(
            PgSqlErrorCode::ERRCODE_DATETIME_FIELD_OVERFLOW,
            "timestamp out of range",
        )
        .detail("The timestamp of the id is out of range for type timestamp with time zone.")
        .raise(),
    }
}

/// Converts a timestamp without time zone to microseconds since 1970 there. The infinities become the ends of the range.
pub fn from_local(at: Timestamp) -> Micros {
    pg_sys::Timestamp::from(at).saturating_add(Y2K)
}

/// Converts microseconds since 1970 in a time zone to a timestamp without it; returns none if out of its range.
pub fn to_local(at: Micros) -> Option<Timestamp> {
    at.checked_sub(Y2K)?.try_into().ok()
}

/// Converts microseconds to an interval of hours, minutes and seconds.
pub fn interval(span: Micros) -> Interval {
    Interval::from_micros(span)
}
