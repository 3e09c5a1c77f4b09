//! The type `objectid`, MongoDB's ObjectID, and its functions.

use crate::objectid::generate;
use crate::pg::datum::{fixed, timestamp};
use crate::pg::error::{Report, ereturn_bad_syntax, exact_bytes, report};
use crate::pg::machine::random;
use crate::pg::quick::quick;
use mint_core::ObjectId;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;
use std::ffi::{CStr, CString};

/// A value of the type `objectid`: its 12 bytes and nothing else.
#[derive(Debug, Clone, Copy)]
pub struct ObjectIdValue(pub [u8; ObjectId::BYTES]);

fixed::fixed_type!(ObjectIdValue, ObjectId::BYTES, "objectid");

impl From<ObjectId> for ObjectIdValue {
    #[inline]
    fn from(id: ObjectId) -> Self {
        ObjectIdValue(id.0)
    }
}

#[pg_extern(sql = false)]
fn objectid_in(text: &CStr, call: pg_sys::FunctionCallInfo) -> ObjectIdValue {
    let id = ObjectId::parse(text.to_bytes()).unwrap_or_else(|| {
        ereturn_bad_syntax(call, "objectid", text.to_bytes());
        ObjectId([0; ObjectId::BYTES])
    });
    id.into()
}

#[pg_extern(sql = false)]
fn objectid_out(id: ObjectIdValue) -> CString {
    // Hexadecimal digits have no zero byte.
    CString::new(ObjectId(id.0).to_string()).unwrap_or_default()
}

#[pg_extern(sql = false)]
fn objectid_recv(message: pgrx::Internal) -> ObjectIdValue {
    ObjectIdValue(fixed::receive(message))
}

#[pg_extern(sql = false)]
fn objectid_send(id: ObjectIdValue) -> Vec<u8> {
    id.0.to_vec()
}

#[pg_extern(sql = false)]
fn objectid_to_bytea(id: ObjectIdValue) -> Vec<u8> {
    id.0.to_vec()
}

#[pg_extern(sql = false)]
fn objectid_from_bytea(bytes: &[u8]) -> ObjectIdValue {
    ObjectIdValue(exact_bytes(bytes, "objectid"))
}

/// Mints an ObjectID, as MongoDB's drivers do today: seconds, 5 random bytes, and a counter from a
/// random start. It can be guessed from others of its time.
///
/// - **Unique** on the server: all sessions and databases; among servers by the 5 random bytes, drawn
///   at each start of the server.
/// - **Ordered**: strictly increasing in the order of minting, over all sessions.
/// - **Overflow**: a counter that wraps around within a second, after 16 million, takes the next
///   second, ahead of the clock. Never a wait. An error (2200H) only after 2106-02-07, when the time
///   field ends.
/// - **Clock steps back**: continues from the last id, however far, also when a clock that had jumped forward is
///   corrected; a restart begins at the clock again.
/// - **Crash and restart**: new random bytes, a new start of the counter.
/// - **Standby**, **Read-only transaction**, **Parallel query**: mints.
#[pg_extern(sql = false)]
fn guarded_objectid() -> ObjectIdValue {
    let id = generate::objectid().unwrap_or_else(|| end_of_time().raise());
    id.into()
}

quick!(
    objectid_wrapper,
    pg_finfo_objectid_wrapper,
    guarded_objectid_wrapper,
    () => generate::next_objectid().map(|id| id.0)
);

/// Makes an ObjectID of the second of another timestamp, to migrate old rows. It is unique by 64 random bits, and in no
/// order with others of its second.
#[pg_extern(sql = false)]
fn objectid_at(at: TimestampWithTimeZone) -> ObjectIdValue {
    let id = ObjectId::at(timestamp::to_micros(at), random::bits()).unwrap_or_else(|| {
        report(
            PgSqlErrorCode::ERRCODE_DATETIME_FIELD_OVERFLOW,
            "timestamp out of range for ObjectID",
        )
        .detail("Timestamps must be between 1970-01-01T00:00:00Z and 2106-02-07T06:28:15.999999Z.")
        .raise()
    });
    id.into()
}

/// Mints an ObjectID as MongoDB's older servers did: seconds, 3 bytes of the host name's MD5, 2 of the process id, 3 of
/// a counter. It reveals machine and process. It is from the lane of `objectid()` and as unique, but ordered from
/// second to second only: the process comes before the counter.
#[pg_extern(sql = false)]
fn objectid_legacy() -> ObjectIdValue {
    let id = generate::objectid_legacy().unwrap_or_else(|| end_of_time().raise());
    id.into()
}

#[cold]
#[track_caller]
fn end_of_time() -> Report {
    report(
        PgSqlErrorCode::ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
        "ObjectID has reached the end of its time field",
    )
    .detail(
        "The last second of an ObjectID is 2106-02-07T06:28:15Z. \
         If the system clock is before that now, it was not when the last ObjectID was minted.",
    )
    .hint("Correct the system clock and restart the server.")
}

/// Returns when an ObjectID was minted, to the second.
#[pg_extern(sql = false)]
fn objectid_time(id: ObjectIdValue) -> TimestampWithTimeZone {
    timestamp::timestamp_or_report(ObjectId(id.0).time())
}

/// Returns the counter of an ObjectID, 0 to 16777215.
#[pg_extern(sql = false)]
fn objectid_counter(id: ObjectIdValue) -> i32 {
    ObjectId(id.0).counter().cast_signed()
}

/// Returns the machine of a legacy ObjectID, 0 to 16777215; a random number for others.
#[pg_extern(sql = false)]
fn objectid_legacy_machine(id: ObjectIdValue) -> i32 {
    ObjectId(id.0).legacy_machine().cast_signed()
}

/// Returns the lower 16 bits of a legacy ObjectID's process id; a random number for others.
#[pg_extern(sql = false)]
fn objectid_legacy_pid(id: ObjectIdValue) -> i32 {
    i32::from(ObjectId(id.0).legacy_pid())
}

/// Returns the smallest ObjectID of a timestamp or later: for `id >= objectid_min(at)`. NULL after 2106;
/// a comparison with it is never true.
#[pg_extern(sql = false)]
fn objectid_min(at: TimestampWithTimeZone) -> Option<ObjectIdValue> {
    ObjectId::min(timestamp::to_micros(at)).map(ObjectIdValue::from)
}

/// Returns the largest ObjectID of a timestamp or earlier: for `id <= objectid_max(at)`. NULL before 1970.
#[pg_extern(sql = false)]
fn objectid_max(at: TimestampWithTimeZone) -> Option<ObjectIdValue> {
    ObjectId::max(timestamp::to_micros(at)).map(ObjectIdValue::from)
}

/// Returns the smallest ObjectID after a timestamp: for `id >= objectid_min_after(at)`.
#[pg_extern(sql = false)]
fn objectid_min_after(at: TimestampWithTimeZone) -> Option<ObjectIdValue> {
    ObjectId::min_after(timestamp::to_micros(at)).map(ObjectIdValue::from)
}

/// Returns the largest ObjectID before a timestamp: for `id <= objectid_max_before(at)`.
#[pg_extern(sql = false)]
fn objectid_max_before(at: TimestampWithTimeZone) -> Option<ObjectIdValue> {
    ObjectId::max_before(timestamp::to_micros(at)).map(ObjectIdValue::from)
}
