//! UUIDs of every version (RFC 9562): built from their parts, and read.

use crate::clock::Micros;
use crate::monotonic::ClockTime;
pub use ::uuid::Uuid;
use ::uuid::{Builder, Variant};
use md5::{Digest, Md5};
use sha1_smol::Sha1;

/// 1582-10-15T00:00:00Z to 1970-01-01T00:00:00Z in 100 ns.
const GREGORIAN: i64 = 0x01b2_1dd2_1381_4000;
/// The last millisecond of version 7, in the year 10889.
const LAST_MILLI: i64 = (1 << 48) - 1;
/// Bits of version 7 that hold the part of a millisecond.
pub(super) const PART: u32 = 12;
/// The variant of RFC 9562, in the lower half of a UUID.
const VARIANT: u64 = 0b10 << 62;
/// The bits of that half below the variant.
const RANDOM: u64 = u64::MAX >> 2;

/// Returns ticks of 100 ns since 1582, which are never negative: the clock's range begins in 1677.
#[inline]
pub(super) fn ticks(now: ClockTime) -> u64 {
    (now.seconds * 10_000_000 + i64::from(now.nanos / 100) + GREGORIAN).unsigned_abs()
}

/// Returns the time of such ticks.
pub(super) fn time_of_ticks(ticks: u64) -> Micros {
    (ticks.cast_signed() - GREGORIAN).div_euclid(10)
}

/// Returns version 7 of a lane's word and 62 of the random bits.
#[inline]
pub(super) fn v7_of(word: u64, random: u64) -> Uuid {
    /// The version, between the time and the part of its millisecond.
    const VERSION: u64 = 7 << PART;
    let part = word & ((1 << PART) - 1);
    // Two words are two stores; the bytes of a builder are sixteen.
    Uuid::from_u64_pair(
        word >> PART << 16 | VERSION | part,
        VARIANT | random & RANDOM,
    )
}

/// Returns version 7 of the same word with 62 other random bits: as unique as before, and in the same order beside ids
/// of other words.
#[inline]
#[must_use]
pub fn v7_redrawn(id: &Uuid, random: u64) -> Uuid {
    let (upper, _) = id.as_u64_pair();
    Uuid::from_u64_pair(upper, VARIANT | random & RANDOM)
}

/// Returns version 7 of any timestamp, to the microsecond; none before 1970 and after the time field. It is from no
/// lane: unique by 62 of the random bits, and ordered only as the timestamps are.
#[must_use]
pub fn v7_at(at: Micros, random: u64) -> Option<Uuid> {
    let milli = at.div_euclid(1_000);
    let part = (at.rem_euclid(1_000) << PART) / 1_000;
    (0..=LAST_MILLI)
        .contains(&milli)
        .then(|| v7_of((milli << PART | part).unsigned_abs(), random))
}

/// Returns the smallest version 7 with a [`time`] at or after a timestamp; none after the time field.
#[must_use]
pub fn v7_min(at: Micros) -> Option<Uuid> {
    let at = at.max(0);
    let milli = at / 1_000 + i64::from(at % 1_000 > 0);
    (milli <= LAST_MILLI).then(|| v7_of(milli.unsigned_abs() << PART, 0))
}

/// Returns the largest version 7 with a [`time`] at or before a timestamp; none before 1970.
#[must_use]
pub fn v7_max(at: Micros) -> Option<Uuid> {
    let next = (at / 1_000).min(LAST_MILLI).unsigned_abs() + 1;
    (at >= 0).then(|| v7_of((next << PART) - 1, u64::MAX))
}

/// Returns the smallest version 7 with a [`time`] after a timestamp; none after the time field.
#[must_use]
pub fn v7_min_after(at: Micros) -> Option<Uuid> {
    v7_min(at.saturating_add(1))
}

/// Returns the largest version 7 with a [`time`] before a timestamp; none before 1970.
#[must_use]
pub fn v7_max_before(at: Micros) -> Option<Uuid> {
    v7_max(at.saturating_sub(1))
}

/// Returns version 3: MD5 of a namespace and a name.
#[must_use]
pub fn v3(namespace: &Uuid, name: &[u8]) -> Uuid {
    v3_in_parts(namespace, name, || ())
}

/// Does the same as [`v3`], which calls `between` after each megabyte of the name.
#[must_use]
pub fn v3_in_parts(namespace: &Uuid, name: &[u8], between: impl FnMut()) -> Uuid {
    let mut hash = Md5::new_with_prefix(namespace.as_bytes());
    in_parts(name, |part| hash.update(part), between);
    Builder::from_md5_bytes(hash.finalize().into()).into_uuid()
}

fn in_parts(name: &[u8], mut take: impl FnMut(&[u8]), mut between: impl FnMut()) {
    for (place, part) in name.chunks(1 << 20).enumerate() {
        if place > 0 {
            between();
        }
        take(part);
    }
}

/// Returns version 5: SHA-1 of a namespace and a name.
#[must_use]
pub fn v5(namespace: &Uuid, name: &[u8]) -> Uuid {
    v5_in_parts(namespace, name, || ())
}

/// Does the same as [`v5`], which calls `between` after each megabyte of the name.
#[must_use]
pub fn v5_in_parts(namespace: &Uuid, name: &[u8], between: impl FnMut()) -> Uuid {
    let mut hash = Sha1::new();
    hash.update(namespace.as_bytes());
    in_parts(name, |part| hash.update(part), between);
    let [bytes @ .., _, _, _, _] = hash.digest().bytes();
    Builder::from_sha1_bytes(bytes).into_uuid()
}

/// Returns version 4: random but for 6 bits.
#[inline]
#[must_use]
pub fn v4(random: [u8; 16]) -> Uuid {
    Builder::from_random_bytes(random).into_uuid()
}

/// Returns version 8: the caller's bytes but for 6 bits.
#[must_use]
pub fn v8(bytes: [u8; 16]) -> Uuid {
    Builder::from_custom_bytes(bytes).into_uuid()
}

/// Returns a namespace by its name, `dns`, `url`, `oid` or `x500`, or as the text of any UUID.
#[must_use]
pub fn namespace(text: &[u8]) -> Option<Uuid> {
    let named = [
        ("dns", Uuid::NAMESPACE_DNS),
        ("url", Uuid::NAMESPACE_URL),
        ("oid", Uuid::NAMESPACE_OID),
        ("x500", Uuid::NAMESPACE_X500),
    ];
    named
        .iter()
        .find(|(name, _)| text.eq_ignore_ascii_case(name.as_bytes()))
        .map(|(_, namespace)| *namespace)
        .or_else(|| Uuid::try_parse_ascii(text).ok())
}

/// Returns the version, 0 to 15; none for a UUID that is not of RFC 9562.
#[must_use]
pub fn version(id: &Uuid) -> Option<u8> {
    (id.get_variant() == Variant::RFC4122).then(|| id.get_version_num() as u8)
}

/// Returns the variant (RFC 9562, 4.1) by name: `ncs`, `rfc9562`, `microsoft` or `future`.
#[must_use]
pub fn variant(id: &Uuid) -> &'static str {
    match id.get_variant() {
        Variant::NCS => "ncs",
        Variant::RFC4122 => "rfc9562",
        Variant::Microsoft => "microsoft",
        _ => "future",
    }
}

/// Returns ticks of 100 ns since 1582, of a version that has them. Version 2 keeps the upper 28 bits of 60.
fn gregorian(id: &Uuid) -> Option<u64> {
    let (low, mid, high, _) = id.as_fields();
    let (low, mid, high) = (u64::from(low), u64::from(mid), u64::from(high & 0xfff));
    match version(id)? {
        1 => Some(high << 48 | mid << 32 | low),
        2 => Some(high << 48 | mid << 32),
        6 => Some(low << 28 | mid << 12 | high),
        _ => None,
    }
}

/// Returns the time of an id: versions 1 and 6 to the microsecond, 7 to the millisecond, 2 the start of its window of 7
/// minutes; none for the others.
#[must_use]
pub fn time(id: &Uuid) -> Option<Micros> {
    if version(id)? == 7 {
        return Some((id.as_u64_pair().0 >> 16).cast_signed() * 1_000);
    }
    gregorian(id).map(time_of_ticks)
}

/// Returns the node of versions 1, 2 and 6.
#[must_use]
pub fn node(id: &Uuid) -> Option<[u8; 6]> {
    gregorian(id)?;
    let [.., a, b, c, d, e, f] = *id.as_bytes();
    Some([a, b, c, d, e, f])
}

/// Returns the clock sequence of versions 1 and 6, 14 bits, and what is left of it in version 2, 6 bits.
#[must_use]
pub fn clock_sequence(id: &Uuid) -> Option<u16> {
    gregorian(id)?;
    let [upper, lower, ..] = *id.as_fields().3;
    let upper = u16::from(upper & 0x3f);
    Some(match version(id)? {
        2 => upper,
        _ => upper << 8 | u16::from(lower),
    })
}

/// Returns domain and local id of version 2.
#[must_use]
pub fn local(id: &Uuid) -> Option<(u8, u32)> {
    let (local_id, _, _, [_, domain, ..]) = id.as_fields();
    (version(id)? == 2).then_some((*domain, local_id))
}

/// Returns version 1 as version 6: the same time, clock sequence and node; none for other versions.
#[must_use]
pub fn v1_to_v6(id: &Uuid) -> Option<Uuid> {
    let build = Builder::from_sorted_gregorian_timestamp;
    (version(id)? == 1).then_some(())?;
    Some(build(gregorian(id)?, clock_sequence(id)?, &node(id)?).into_uuid())
}

/// Returns version 6 as version 1, the inverse of [`v1_to_v6`].
#[must_use]
pub fn v6_to_v1(id: &Uuid) -> Option<Uuid> {
    let build = Builder::from_gregorian_timestamp;
    (version(id)? == 6).then_some(())?;
    Some(build(gregorian(id)?, clock_sequence(id)?, &node(id)?).into_uuid())
}

/// Returns a MAC address, six pairs of hexadecimal digits between `:` or `-`.
#[must_use]
pub fn parse_mac(text: &str) -> Option<[u8; 6]> {
    let mut node = [0; 6];
    let mut pairs = text.split([':', '-']);
    for byte in &mut node {
        let pair = pairs.next()?;
        hex::decode_to_slice(pair, std::slice::from_mut(byte)).ok()?;
    }
    pairs.next().is_none().then_some(node)
}
