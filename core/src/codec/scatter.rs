//! Scattering: an id's last decimal digits moved behind its first, so that ids minted one after the
//! other lie far apart.
//!
//! The idea is from PingCAP's article on hot spots of TiDB, where text is cut and joined. Here arithmetic rotates the
//! digits after the first, so an id keeps its number of digits and its first digit, and no two ids become one.

use thiserror::Error;

/// Reason why an id cannot be scattered.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each variant's message says what it is")]
pub enum ScatterError {
    #[error("digits must be between 1 and {MAX_DIGITS}")]
    Digits,
    #[error("id {id} with digits moved ({digits}) is out of range for type bigint")]
    OutOfRange { id: i64, digits: i32 },
}

/// An id has at most 19 digits, and the first one stays.
pub const MAX_DIGITS: i32 = 18;

/// Moves the last `digits` decimal digits of an id behind its first one. The sign is kept apart, and
/// an id of no more digits than that is itself.
///
/// # Errors
/// When `digits` is not from 1 to 18, or the result exceeds a bigint, which only an id of 19 digits
/// that begins with a 9 can.
#[inline]
pub fn scatter(id: i64, digits: i32) -> Result<i64, ScatterError> {
    rotate(id, digits, |_, moved| moved)
}

/// Undoes [`scatter`] with the same `digits`.
///
/// # Errors
/// As [`scatter`].
#[inline]
pub fn unscatter(id: i64, digits: i32) -> Result<i64, ScatterError> {
    rotate(id, digits, |tail, moved| tail - moved)
}

/// Rotates the digits after the first to the right, by the number that `by` returns for their count and
/// `digits`.
#[inline]
fn rotate(id: i64, digits: i32, by: impl Fn(u32, u32) -> u32) -> Result<i64, ScatterError> {
    let moved = digits.cast_unsigned();
    if !(1..=MAX_DIGITS).contains(&digits) {
        return Err(ScatterError::Digits);
    }
    let magnitude = id.unsigned_abs();
    let tail = magnitude.checked_ilog10().unwrap_or(0);
    if tail <= moved {
        return Ok(id);
    }
    let low = by(tail, moved);
    let (unit, cut) = (TENS[tail as usize], TENS[low as usize]);
    let (first, rest) = (magnitude / unit, magnitude % unit);
    // Below 10 * 10^18, which 64 bits hold without a sign.
    let result = first * unit + rest % cut * TENS[(tail - low) as usize] + rest / cut;
    let signed = if id < 0 {
        0_i64.checked_sub_unsigned(result)
    } else {
        0_i64.checked_add_unsigned(result)
    };
    signed.ok_or(ScatterError::OutOfRange { id, digits })
}

/// Powers of ten; the last is that of a bigint's first digit.
const TENS: [u64; 19] = {
    let mut tens = [1; 19];
    let mut place = 1;
    while place < 19 {
        tens[place] = tens[place - 1] * 10;
        place += 1;
    }
    tens
};
