//! The parts of a UUID, and UUIDs as bounds of a time range.
//!
//! The functions return NULL for a part that a UUID does not have, as PostgreSQL 18's own `uuid_extract_` functions do.

use crate::pg::datum::uuid::UuidValue;
use crate::pg::datum::{fixed, timestamp};
use crate::pg::error::report;
use crate::uuid::generate::DOMAINS;
use mint_core::uuid::version;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

/// A value of the type `macaddr`.
#[derive(Debug, Clone, Copy)]
struct MacAddress([u8; 6]);

fixed::fixed_type!(MacAddress, 6, "macaddr");

/// Returns the version of a UUID; NULL if it is not of RFC 9562.
#[pg_extern(sql = false)]
fn uuid_version_of(id: UuidValue) -> Option<i32> {
    version::version(&id.into()).map(i32::from)
}

/// Returns the variant of a UUID: `rfc9562`; or else `ncs` (the nil UUID too), `microsoft` or `future` (the max
/// UUID too).
#[pg_extern(sql = false)]
fn uuid_variant(id: UuidValue) -> &'static str {
    version::variant(&id.into())
}

/// Returns when a UUID was minted: versions 1 and 6 to the microsecond, 7 to the millisecond, 2 the start of its
/// window of 7 minutes; NULL for the others.
#[pg_extern(sql = false)]
fn uuid_time(id: UuidValue) -> Option<TimestampWithTimeZone> {
    version::time(&id.into()).map(timestamp::timestamp_or_report)
}

/// Returns the time of a UUID of version 7, to the millisecond; NULL for the others. Unlike that of `uuid_time`, its order
/// is that of the UUIDs.
#[pg_extern(sql = false)]
fn uuid_v7_time(id: UuidValue) -> Option<TimestampWithTimeZone> {
    let id = id.into();
    let at = version::time(&id).filter(|_| version::version(&id) == Some(7));
    at.map(timestamp::timestamp_or_report)
}

/// Returns the node of versions 1, 2 and 6; NULL for the others.
#[pg_extern(sql = false)]
fn uuid_node(id: UuidValue) -> Option<MacAddress> {
    version::node(&id.into()).map(MacAddress)
}

/// Returns the clock sequence of versions 1 and 6, and the 6 bits of it that version 2 has; NULL for the others.
#[pg_extern(sql = false)]
fn uuid_clock_sequence(id: UuidValue) -> Option<i32> {
    version::clock_sequence(&id.into()).map(i32::from)
}

/// Returns the domain of version 2: `person`, `group`, `org` or a number; NULL for the others.
#[pg_extern(sql = false)]
fn uuid_domain(id: UuidValue) -> Option<String> {
    let (domain, _) = version::local(&id.into())?;
    let name = DOMAINS.get(usize::from(domain)).copied();
    Some(name.map_or_else(|| domain.to_string(), str::to_owned))
}

/// Returns the local id of version 2; NULL for the others.
#[pg_extern(sql = false)]
fn uuid_local_id(id: UuidValue) -> Option<i64> {
    version::local(&id.into()).map(|(_, local_id)| i64::from(local_id))
}

/// Returns the smallest version 7 of a timestamp or later: for `id >= uuid_v7_min(at)`. NULL after the
/// year 10889; a comparison with it is never true.
#[pg_extern(sql = false)]
fn uuid_v7_min(at: TimestampWithTimeZone) -> Option<UuidValue> {
    version::v7_min(timestamp::to_micros(at)).map(UuidValue::from)
}

/// Returns the largest version 7 of a timestamp or earlier: for `id <= uuid_v7_max(at)`. NULL before 1970.
#[pg_extern(sql = false)]
fn uuid_v7_max(at: TimestampWithTimeZone) -> Option<UuidValue> {
    version::v7_max(timestamp::to_micros(at)).map(UuidValue::from)
}

/// Returns the smallest version 7 after a timestamp: for `id >= uuid_v7_min_after(at)`.
#[pg_extern(sql = false)]
fn uuid_v7_min_after(at: TimestampWithTimeZone) -> Option<UuidValue> {
    version::v7_min_after(timestamp::to_micros(at)).map(UuidValue::from)
}

/// Returns the largest version 7 before a timestamp: for `id <= uuid_v7_max_before(at)`.
#[pg_extern(sql = false)]
fn uuid_v7_max_before(at: TimestampWithTimeZone) -> Option<UuidValue> {
    version::v7_max_before(timestamp::to_micros(at)).map(UuidValue::from)
}

/// Converts version 1 to version 6: the same time, clock sequence and node, in an order that sorts.
#[pg_extern(sql = false)]
fn uuid_v1_to_v6(id: UuidValue) -> UuidValue {
    convert(id, version::v1_to_v6, 1)
}

/// Converts version 6 to version 1, the inverse of `uuid_v1_to_v6`.
#[pg_extern(sql = false)]
fn uuid_v6_to_v1(id: UuidValue) -> UuidValue {
    convert(id, version::v6_to_v1, 6)
}

fn convert(
    id: UuidValue,
    converted: fn(&version::Uuid) -> Option<version::Uuid>,
    version: u8,
) -> UuidValue {
    let id = id.into();
    match converted(&id) {
        Some(converted) => converted.into(),
        None => report(
            PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE,
            format!("UUID {id} is not of version {version}"),
        )
        .detail_if(version::version(&id).map(|its| format!("The UUID is of version {its}.")))
        .raise(),
    }
}
