//! Moments between PostgreSQL, which counts from 2000, and the core, which counts from 1970.

use crate::pg::error::{report, sentence};
use mint_core::Micros;
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::{PgSqlErrorCode, pg_sys};

/// 2000-01-01T00:00:00Z in Unix microseconds.
const Y2K: Micros = 946_684_800_000_000;

/// A timestamptz as the core counts. The infinities are the ends of the range.
#[inline]
pub fn to_micros(at: TimestampWithTimeZone) -> Micros {
    pg_sys::TimestampTz::from(at).saturating_add(Y2K)
}

/// The core's moment as a timestamptz, where there is one.
pub fn timestamp(at: Micros) -> Option<TimestampWithTimeZone> {
    at.checked_sub(Y2K)?.try_into().ok()
}

/// As [`timestamp`], or the error that the server gives.
pub fn timestamp_or_report(at: Micros) -> TimestampWithTimeZone {
    timestamp(at).unwrap_or_else(|| {
        report(
            PgSqlErrorCode::ERRCODE_DATETIME_FIELD_OVERFLOW,
            "timestamp out of range",
        )
        .detail_if(sentence("the time of the id cannot be a timestamptz"))
        .raise()
    })
}

/// A span as an interval of hours, minutes and seconds.
pub fn interval(span: Micros) -> Interval {
    Interval::from_micros(span)
}
