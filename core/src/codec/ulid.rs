//! ULIDs (github.com/ulid/spec): 48 bits of milliseconds since 1970 and 80 random ones, as 26 of Crockford's digits.
//!
//! The bits are those of a UUID without version and variant, so a ULID is kept in a column of UUIDs, and sorts by time there
//! beside those of version 7.

use crate::clock::Micros;
use crate::codec::text::{CROCKFORD, Encoding, EncodingError, encoding};
use crate::codec::wide::BASE32_DIGITS;
use uuid::Uuid;

/// The digits of ULIDs: either case, and no other character stands for one.
static ULID: Encoding = encoding("ULID", CROCKFORD, true);

/// The number of characters of a ULID.
pub const LENGTH: usize = BASE32_DIGITS;

/// The last millisecond, in the year 10889.
const LAST_MILLI: i64 = (1 << 48) - 1;
/// Bits below the time.
const RANDOM: u32 = 80;

/// Returns the text of a ULID, in upper case.
#[must_use]
#[inline]
pub fn to_text(id: &Uuid) -> [u8; LENGTH] {
    ULID.base32(id.as_u128())
}

/// Reads the 26 digits of a ULID in either case, and nothing else: no I, L, O, U, and no hyphens.
///
/// # Errors
/// The rule that the text breaks. Texts from `80000000000000000000000000` on exceed 128 bits.
pub fn parse(text: &[u8]) -> Result<Uuid, EncodingError> {
    ULID.decode_wide(text).map(Uuid::from_u128)
}

/// Returns the time of a ULID, to the millisecond. 1970 to 10889.
#[must_use]
pub fn time(id: &Uuid) -> Micros {
    ((id.as_u128() >> RANDOM) as i64) * 1_000
}

/// Returns the smallest ULID with a [`time`] at or after a timestamp; none after the time field. It is at or below
/// every UUID of version 7 of its millisecond, too.
#[must_use]
pub fn min(at: Micros) -> Option<Uuid> {
    let at = at.max(0);
    let milli = at / 1_000 + i64::from(at % 1_000 > 0);
    (milli <= LAST_MILLI).then(|| Uuid::from_u128(u128::from(milli.unsigned_abs()) << RANDOM))
}

/// Returns the largest ULID with a [`time`] at or before a timestamp; none before 1970.
#[must_use]
pub fn max(at: Micros) -> Option<Uuid> {
    let milli = (at / 1_000).min(LAST_MILLI).unsigned_abs();
    let random = (1 << RANDOM) - 1;
    (at >= 0).then(|| Uuid::from_u128(u128::from(milli) << RANDOM | random))
}

/// Returns the smallest ULID with a [`time`] after a timestamp; none after the time field.
#[must_use]
pub fn min_after(at: Micros) -> Option<Uuid> {
    min(at.saturating_add(1))
}

/// Returns the largest ULID with a [`time`] before a timestamp; none before 1970.
#[must_use]
pub fn max_before(at: Micros) -> Option<Uuid> {
    max(at.saturating_sub(1))
}
