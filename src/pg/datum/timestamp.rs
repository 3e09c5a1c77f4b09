//! Conversions between timestamps of PostgreSQL, which count from 2000, and of core, which count from 1970.

use crate::pg::error::report;
use mint_core::Micros;
use pgrx::datum::{Date, Interval, Timestamp, TimestampWithTimeZone};
use pgrx::{FromDatum, PgSqlErrorCode, pg_sys};

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

/// Does the same as [`timestamp`]; the last number, and a time out of range, becomes infinity.
pub fn timestamp_saturating(at: Micros) -> TimestampWithTimeZone {
    let inside = timestamp(at).filter(|_| at < Micros::MAX);
    inside.unwrap_or_else(|| match at {
        ..0 => TimestampWithTimeZone::negative_infinity(),
        0.. => TimestampWithTimeZone::positive_infinity(),
    })
}

/// Does the same as [`timestamp`], or raises the server's error.
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

/// Converts microseconds to an interval of hours, minutes and seconds.
pub fn interval(span: Micros) -> Interval {
    Interval::from_micros(span)
}

/// Returns the start of a day in the session's time zone. Beyond the ends of timestamptz it is infinity.
pub fn of_date_saturating(day: Date) -> TimestampWithTimeZone {
    let day = pg_sys::DateADT::from(day);
    // SAFETY: computes only, with the session's time zone.
    saturating(|overflow| unsafe {
        #[cfg(not(feature = "pg19"))]
        let at = pg_sys::date2timestamptz_opt_overflow(day, overflow);
        #[cfg(feature = "pg19")]
        let at = pg_sys::date2timestamptz_safe(day, overflow);
        at
    })
}

/// Returns a timestamp of the session's time zone. Beyond the ends of timestamptz it is infinity.
pub fn of_timestamp_saturating(at: Timestamp) -> TimestampWithTimeZone {
    let at = pg_sys::Timestamp::from(at);
    // SAFETY: computes only, with the session's time zone.
    saturating(|overflow| unsafe {
        #[cfg(not(feature = "pg19"))]
        let at = pg_sys::timestamp2timestamptz_opt_overflow(at, overflow);
        #[cfg(feature = "pg19")]
        let at = pg_sys::timestamp2timestamptz_safe(at, overflow);
        at
    })
}

/// Converts, with a place for the server to note that the result is out of range: the result is infinity then.
#[cfg(not(feature = "pg19"))]
fn saturating(
    convert: impl FnOnce(*mut std::ffi::c_int) -> pg_sys::TimestampTz,
) -> TimestampWithTimeZone {
    let mut overflow = 0;
    from_datum(convert(&raw mut overflow))
}

/// Does the same as on older versions, where the note was a number.
#[cfg(feature = "pg19")]
fn saturating(
    convert: impl FnOnce(*mut pg_sys::Node) -> pg_sys::TimestampTz,
) -> TimestampWithTimeZone {
    let mut overflow = pg_sys::ErrorSaveContext {
        type_: pg_sys::NodeTag::T_ErrorSaveContext,
        ..Default::default()
    };
    from_datum(convert((&raw mut overflow).cast()))
}

/// Returns a timestamptz of the server, which can be infinity.
fn from_datum(at: pg_sys::TimestampTz) -> TimestampWithTimeZone {
    // SAFETY: the server accepts every number as a timestamptz.
    unsafe { TimestampWithTimeZone::from_datum(at.into(), false) }
        .unwrap_or_else(TimestampWithTimeZone::positive_infinity)
}
