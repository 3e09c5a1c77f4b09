//! The word of a lane that never waits and never fails, for ids that need no more than to ascend.
//!
//! A word is the time of the last id, in the finest steps that the id has room for. The next one is
//! `max(now, last + 1)` (RFC 9562, 6.2): a step used up takes the one after it, and a clock that
//! `max(now, last + 1)` (RFC 9562, 6.2): a step used up takes the one after it, and while the clock is behind the last
//! id, the word counts on from that id. So the ids of a lane ascend in the order of minting, over every session that
//! shares the word. The word can run ahead of the clock without a bound. The clock is an argument.

use crate::atomic::{AtomicU64, Ordering};
use std::convert::Infallible;

/// A timestamp as nanoseconds since 1970-01-01T00:00:00Z without leap seconds; reaches from 1677 to 2262.
pub type Nanos = i64;

/// A timestamp as the system's clock has it, in the range of [`Nanos`]. Its two parts save ids a division.
#[derive(Debug, Clone, Copy)]
pub struct ClockTime {
    /// Seconds since 1970-01-01T00:00:00Z without leap seconds; negative before.
    pub seconds: i64,
    /// Nanoseconds of the second, 0 to 999,999,999.
    pub nanos: u32,
}

impl From<Nanos> for ClockTime {
    fn from(at: Nanos) -> Self {
        const SECOND: Nanos = 1_000_000_000;
        Self {
            seconds: at.div_euclid(SECOND),
            nanos: at.rem_euclid(SECOND) as u32,
        }
    }
}

/// The last word issued, moved by compare-and-swap only, ever upward. Zeroed memory is a lane that issued nothing yet.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct MonotonicWord(AtomicU64);

impl MonotonicWord {
    /// Moves the word to the result of `next` for the last one, unless that is an error. The result must be larger: a
    /// word is unique only because the one before it was smaller.
    ///
    /// # Errors
    /// That of `next`; the word stays.
    #[inline]
    pub fn advance<E>(&self, next: impl Fn(u64) -> Result<u64, E>) -> Result<u64, E> {
        let mut last = self.0.load(Ordering::Acquire);
        loop {
            let next = next(last)?;
            match (self.0).compare_exchange_weak(last, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Ok(next),
                Err(other) => last = other,
            }
        }
    }

    /// Returns the last word issued; 0 before the first.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Takes `now`, or the word after the last one if that is not below it.
    #[inline]
    pub fn take(&self, now: u64) -> u64 {
        let Ok(word) = self.advance::<Infallible>(|last| Ok(now.max(last + 1)));
        word
    }
}
