//! ULIDs, as text and as UUIDs.

use crate::codec::error::bad_text;
use crate::pg::datum::text::{NewText, Text};
use crate::pg::datum::timestamp::{timestamp_or_report, to_micros};
use crate::pg::datum::uuid::UuidValue;
use mint_core::Uuid;
use mint_core::codec::ulid;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

fn parse(text: Text<'_>) -> Uuid {
    ulid::parse(text.0).unwrap_or_else(|error| {
        bad_text("ULID", text.0, error, |text| ulid::parse(text).err()).raise()
    })
}

/// Returns the UUID of the same 128 bits. A ULID of other generators has random bits where a UUID has its version.
#[pg_extern(sql = false)]
fn ulid_to_uuid(id: Text<'_>) -> UuidValue {
    parse(id).into()
}

/// Returns the ULID of the same 128 bits, in upper case.
#[pg_extern(sql = false)]
fn uuid_to_ulid(id: UuidValue) -> NewText {
    NewText::new(&ulid::to_text(&id.into()))
}

/// Returns when a ULID was minted, to the millisecond.
#[pg_extern(sql = false)]
fn ulid_time(id: Text<'_>) -> TimestampWithTimeZone {
    timestamp_or_report(ulid::time(&parse(id)))
}

/// Does the same as `ulid_time(text)`, of a ULID that is kept as a UUID; `uuid_time` reads only UUIDs that have a version.
#[pg_extern(sql = false)]
fn ulid_time_of_uuid(id: UuidValue) -> TimestampWithTimeZone {
    timestamp_or_report(ulid::time(&id.into()))
}

/// Returns the smallest ULID of a timestamp or later, as a UUID: for `id >= ulid_min(at)`. It is at or below all UUIDs of
/// version 7 of its millisecond. NULL after the year 10889; a comparison with it is never true.
#[pg_extern(sql = false)]
fn ulid_min(at: TimestampWithTimeZone) -> Option<UuidValue> {
    ulid::min(to_micros(at)).map(UuidValue::from)
}

/// Returns the largest ULID of a timestamp or earlier, as a UUID: for `id <= ulid_max(at)`. NULL before 1970.
#[pg_extern(sql = false)]
fn ulid_max(at: TimestampWithTimeZone) -> Option<UuidValue> {
    ulid::max(to_micros(at)).map(UuidValue::from)
}

/// Returns the smallest ULID after a timestamp, as a UUID: for `id >= ulid_min_after(at)`.
#[pg_extern(sql = false)]
fn ulid_min_after(at: TimestampWithTimeZone) -> Option<UuidValue> {
    ulid::min_after(to_micros(at)).map(UuidValue::from)
}

/// Returns the largest ULID before a timestamp, as a UUID: for `id <= ulid_max_before(at)`.
#[pg_extern(sql = false)]
fn ulid_max_before(at: TimestampWithTimeZone) -> Option<UuidValue> {
    ulid::max_before(to_micros(at)).map(UuidValue::from)
}
