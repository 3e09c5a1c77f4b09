//! Generators of UUIDs of every version (RFC 9562), of the server's own type.

use crate::pg::datum::text::{NewText, Text};
use crate::pg::datum::timestamp;
use crate::pg::datum::uuid::UuidValue;
use crate::pg::error;
use crate::pg::error::excerpt;
use crate::pg::error::{OrReport, report, required};
use crate::pg::machine::random;
use crate::pg::quick::quick;
use crate::uuid::lanes;
use mint_core::HashPartition;
use mint_core::codec::ulid as ulid_text;
use mint_core::uuid::version;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

/// Mints a UUID of version 1: time, clock sequence and node. It can be guessed from others of its time.
///
/// - **Unique** among all of versions 1 and 6 on the server: all sessions and databases. Among
///   servers by the node, 47 random bits at each start, and 14 random bits of clock sequence; with a
///   node given in `pg_mint.uuid_node`, by those 14 alone.
/// - **Ordered** by its time, strictly increasing in the order of minting, over all sessions. The
///   type sorts by bytes, which does not follow the time: use `uuid_v6()` or `uuid_v7()` for that.
/// - **Overflow**: more than one per 100 ns run ahead of the clock. Never an error, never a wait.
/// - **Clock steps back**: continues from the last id, however far, also when a clock that had jumped forward is
///   corrected; a restart begins at the clock again.
/// - **Crash and restart**: a new clock sequence, and a new random node.
/// - **Standby**: mints, with a node and a clock sequence of its own.
/// - **Read-only transaction**, **Parallel query**: mints.
#[pg_extern(sql = false)]
fn uuid_v1() -> UuidValue {
    lanes::v1().into()
}

/// Mints a UUID of version 6: as `uuid_v1()`, with the time in front, so that it sorts by time.
#[pg_extern(sql = false)]
fn uuid_v6() -> UuidValue {
    lanes::v6().into()
}

/// Mints a UUID of version 7: time in front, 62 random bits behind.
///
/// - **Unique** on the server by its time, as a lane counts it; among servers by 62 bits of a CSPRNG.
/// - **Ordered**: strictly increasing in the order of minting, over all sessions of the server.
/// - **Overflow**: more than 4096 in a millisecond run ahead of the clock. Never an error, never a
///   wait.
/// - **Clock steps back**: continues from the last id, however far; see `uuid_v1()`.
/// - **Crash and restart**: continues from the clock. If that was set back, ids are unique by their random bits, and
///   below earlier ones.
/// - **Standby**, **Read-only transaction**, **Parallel query**: mints.
#[pg_extern(sql = false)]
fn guarded_uuid_v7() -> UuidValue {
    lanes::v7().into()
}

quick!(
    uuid_v7_wrapper,
    pg_finfo_uuid_v7_wrapper,
    guarded_uuid_v7_wrapper,
    () => lanes::next_v7().map(version::Uuid::into_bytes)
);

/// Mints a UUID of version 7 whose row belongs to a partition by hash: that of `modulus` and `remainder`.
///
/// The rest is as in `uuid_v7()`, from the same lane. Only the random bits are drawn until they fit, so the lane loses
/// nothing; a fitting id has the randomness of one of so many ids: 62 bits less the logarithm of the modulus.
#[pg_extern(sql = false)]
fn uuid_v7_in(modulus: Option<i32>, remainder: Option<i32>) -> UuidValue {
    /// The number of draws before the next check for interrupts.
    const DRAWS: u32 = 4_096;
    let (modulus, remainder) = (
        required(modulus, "modulus"),
        required(remainder, "remainder"),
    );
    let partition = HashPartition::new(modulus, remainder).or_report();
    let mut id = lanes::v7();
    loop {
        for _ in 0..DRAWS {
            if partition.has_uuid(id.into_bytes()) {
                return id.into();
            }
            id = version::v7_redrawn(&id, random::bits());
        }
        check_interrupts();
    }
}

/// Mints a UUID of version 7 and returns it as a ULID: 26 characters, of which 10 are time.
///
/// - **Unique**, **Ordered**, and the rest: as in `uuid_v7()`, from the same lane. So ULIDs ascend over all sessions,
///   within a millisecond too, and never run out within one.
/// - 62 bits are random; 12 are the part of the millisecond, and 6 mark version 7.
#[pg_extern(sql = false)]
fn ulid() -> NewText {
    NewText::new(&ulid_text::to_text(&lanes::v7()))
}

/// Makes a UUID of version 7 for another timestamp, to migrate old rows. It sorts by that timestamp, to the
/// microsecond. It is unique by its 62 random bits, and in no order with others of its microsecond.
#[pg_extern(sql = false)]
fn uuid_v7_at(at: TimestampWithTimeZone) -> UuidValue {
    v7_at(at).into()
}

/// Makes a ULID for another timestamp.
#[pg_extern(sql = false)]
fn ulid_at(at: TimestampWithTimeZone) -> NewText {
    NewText::new(&ulid_text::to_text(&v7_at(at)))
}

fn v7_at(at: TimestampWithTimeZone) -> version::Uuid {
    let id = version::v7_at(timestamp::to_micros(at), random::bits());
    id.unwrap_or_else(|| {
        report(
            PgSqlErrorCode::ERRCODE_DATETIME_FIELD_OVERFLOW,
            "timestamp out of range for UUID version 7",
        )
        .detail("Timestamps must be between 1970-01-01T00:00:00Z and 10889-08-02T05:31:50.655999Z.")
        .raise()
    })
}

/// Makes a random UUID, version 4: 122 bits of a CSPRNG, seeded in each process from the operating system.
/// It needs no clock and no shared memory, and works wherever a function can be called.
#[pg_extern(sql = false)]
fn uuid_v4() -> UuidValue {
    version::v4(random::bytes()).into()
}

/// Mints a UUID of version 2 (DCE 1.1): of a person, group or organization, `domain` by name, and its
/// number.
///
/// - **Unique** as `uuid_v1()`. With a node given in `pg_mint.uuid_node`, a restart within 7 minutes
///   can repeat ids.
/// - **Ordered**: by time in windows of 7 minutes 9.5 seconds.
/// - **Overflow**: 64 ids in a window, and 64 of the next one; then an error (2200H) until
///   the clock is in that window. Local ids with the same word in shared memory, 1 pair in 16384, share them.
/// - **Clock steps back**: continues from the last id, up to one window ahead of the clock.
/// - **Crash and restart**: a new random node.
/// - **Standby**, **Read-only transaction**, **Parallel query**: mints.
#[pg_extern(sql = false)]
fn uuid_v2(domain: Text<'_>, local_id: i64) -> UuidValue {
    let domain = excerpt(domain.0);
    let number = match DOMAINS.iter().position(|name| *name == domain) {
        Some(number) => Ok(number as u8),
        None => domain.parse(),
    };
    match number {
        Ok(number) => mint_local(number, local_id),
        Err(_) => report(
            PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE,
            format!("unrecognized domain: \"{domain}\""),
        )
        .hint("Use person, group, org, or a number between 0 and 255 as the domain.")
        .raise(),
    }
}

/// The domains that DCE names, by number.
pub const DOMAINS: [&str; 3] = ["person", "group", "org"];

/// Does the same as `uuid_v2(domain, local_id)`, the domain by number: 0 person, 1 group, 2 organization, up to 255.
#[pg_extern(sql = false)]
fn uuid_v2_of_number(domain: i32, local_id: i64) -> UuidValue {
    match domain.try_into() {
        Ok(domain) => mint_local(domain, local_id),
        Err(_) => report(
            PgSqlErrorCode::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
            format!("domain {domain} is out of range"),
        )
        .detail("Domains must be between 0 and 255.")
        .raise(),
    }
}

fn mint_local(domain: u8, local_id: i64) -> UuidValue {
    let Ok(local) = local_id.try_into() else {
        report(
            PgSqlErrorCode::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
            format!("local id {local_id} is out of range"),
        )
        .detail(format!("Local ids must be between 0 and {}.", u32::MAX))
        .raise()
    };
    match lanes::v2(domain, local) {
        Some(id) => id.into(),
        None => report(
            PgSqlErrorCode::ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
            format!("no UUID of version 2 is left for domain {domain}, local id {local_id}"),
        )
        .detail(
            "There are 64 in each period of 7 minutes 9.5 seconds, \
             and those of the next period are used up as well.",
        )
        .hint("Wait until the next period, or use another version.")
        .raise(),
    }
}

/// Returns the UUID of a name, version 3: MD5. The same name in the same namespace gives the same UUID. The
/// namespace is `dns`, `url`, `oid`, `x500`, or the text of a uuid.
#[pg_extern(sql = false)]
fn uuid_v3(namespace: Text<'_>, name: Text<'_>) -> UuidValue {
    version::v3_in_parts(&namespace_of(namespace.0), name.0, check_interrupts).into()
}

/// Does the same as `uuid_v3(namespace, name)`, with any uuid as the namespace.
#[pg_extern(sql = false)]
fn uuid_v3_of_uuid(namespace: UuidValue, name: Text<'_>) -> UuidValue {
    version::v3_in_parts(&namespace.into(), name.0, check_interrupts).into()
}

/// Returns the UUID of a name, version 5: SHA-1; otherwise like `uuid_v3()`.
#[pg_extern(sql = false)]
fn uuid_v5(namespace: Text<'_>, name: Text<'_>) -> UuidValue {
    version::v5_in_parts(&namespace_of(namespace.0), name.0, check_interrupts).into()
}

/// Does the same as `uuid_v5(namespace, name)`, with any uuid as the namespace.
#[pg_extern(sql = false)]
fn uuid_v5_of_uuid(namespace: UuidValue, name: Text<'_>) -> UuidValue {
    version::v5_in_parts(&namespace.into(), name.0, check_interrupts).into()
}

/// Checks for interrupts: a name can have a gigabyte, and a modulus can be large.
fn check_interrupts() {
    pgrx::check_for_interrupts!();
}

fn namespace_of(text: &[u8]) -> version::Uuid {
    version::namespace(text).unwrap_or_else(|| {
        let hint = "Use dns, url, oid, x500, or a UUID as the namespace.";
        error::bad_syntax("uuid", text).hint(hint).raise()
    })
}

/// Makes a UUID of version 8: 16 bytes of the caller, with version and variant set.
#[pg_extern(sql = false)]
fn uuid_v8(bytes: &[u8]) -> UuidValue {
    version::v8(error::exact_bytes(bytes, "uuid")).into()
}

/// Returns the nil UUID: all bits zero.
#[pg_extern(sql = false)]
fn uuid_nil_value() -> UuidValue {
    version::Uuid::nil().into()
}

/// Returns the max UUID: all bits one.
#[pg_extern(sql = false)]
fn uuid_max_value() -> UuidValue {
    version::Uuid::max().into()
}
