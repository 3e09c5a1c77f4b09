//! MongoDB's ObjectID (BSON ObjectID specification): 12 bytes of time, process and counter.

use crate::atomic::{AtomicU64, CacheLine, Ordering};
use crate::clock::{Micros, SECOND};
use crate::monotonic::{ClockTime, MonotonicWord};
use md5::{Digest, Md5};
use std::cell::Cell;
use std::fmt;

/// 4 bytes of unsigned seconds since 1970, 5 bytes of a process, 3 of a counter; big-endian, so that order by bytes is
/// order by time. Its text has 24 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectId(pub [u8; 12]);

const COUNTER: u32 = 24;
const COUNTER_MASK: u64 = (1 << COUNTER) - 1;
/// The last second, in 2106.
const LAST: i64 = u32::MAX as i64;

impl ObjectId {
    /// Its length in bytes.
    pub const BYTES: usize = 12;

    /// Reads 24 hexadecimal digits of either case, and nothing else.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mut bytes = [0; Self::BYTES];
        hex::decode_to_slice(text, &mut bytes).ok()?;
        Some(Self(bytes))
    }

    #[inline]
    fn new(word: u64, process: [u8; 5]) -> Self {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&((word >> COUNTER) as u32).to_be_bytes());
        bytes[4..9].copy_from_slice(&process);
        bytes[9..].copy_from_slice(&(word as u32).to_be_bytes()[1..]);
        Self(bytes)
    }

    /// Returns an id of a timestamp's second with random bits behind it, to migrate old rows; none before 1970 and
    /// after the time field.
    #[must_use]
    pub fn at(at: Micros, random: u64) -> Option<Self> {
        let second = u32::try_from(at.div_euclid(SECOND)).ok()?;
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&second.to_be_bytes());
        bytes[4..].copy_from_slice(&random.to_be_bytes());
        Some(Self(bytes))
    }

    /// Returns its time, to the second. 1970 to 2106.
    #[must_use]
    pub fn time(&self) -> Micros {
        let [a, b, c, d, ..] = self.0;
        Micros::from(u32::from_be_bytes([a, b, c, d])) * SECOND
    }

    /// Returns its counter, 24 bits.
    #[must_use]
    pub fn counter(&self) -> u32 {
        let [.., a, b, c] = self.0;
        u32::from_be_bytes([0, a, b, c])
    }

    /// Returns the machine of a legacy id, 24 bits of a hash; random in others.
    #[must_use]
    pub fn legacy_machine(&self) -> u32 {
        let [_, _, _, _, a, b, c, ..] = self.0;
        u32::from_be_bytes([0, a, b, c])
    }

    /// Returns the lower 16 bits of a legacy id's process id; random in others.
    #[must_use]
    pub fn legacy_pid(&self) -> u16 {
        let [.., a, b, _, _, _] = self.0;
        u16::from_be_bytes([a, b])
    }

    /// Returns the smallest id with a time at or after a timestamp; none after the time field.
    #[must_use]
    pub fn min(at: Micros) -> Option<Self> {
        let at = at.max(0);
        let second = at / SECOND + i64::from(at % SECOND > 0);
        (second <= LAST).then(|| Self::new(second.unsigned_abs() << COUNTER, [0; 5]))
    }

    /// Returns the largest id with a time at or before a timestamp; none before 1970.
    #[must_use]
    pub fn max(at: Micros) -> Option<Self> {
        let second = (at / SECOND).min(LAST).unsigned_abs();
        (at >= 0).then(|| Self::new(second << COUNTER | COUNTER_MASK, [0xff; 5]))
    }

    /// Returns the smallest id with a time after a timestamp; none after the time field.
    #[must_use]
    pub fn min_after(at: Micros) -> Option<Self> {
        Self::min(at.saturating_add(1))
    }

    /// Returns the largest id with a time before a timestamp; none before 1970.
    #[must_use]
    pub fn max_before(at: Micros) -> Option<Self> {
        Self::max(at.saturating_sub(1))
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// Returns the 3 bytes by which older servers told machines apart: the start of the host name's MD5.
#[must_use]
pub fn legacy_machine(host: &[u8]) -> [u8; 3] {
    let [a, b, c, ..] = <[u8; 16]>::from(Md5::digest(host));
    [a, b, c]
}

/// The lane of ObjectIDs of a server, and the random numbers of its start. In shared memory.
///
/// - `word`: `seconds since 1970 << 24 | counter`, moved by compare-and-swap only, ever upward.
/// - `process`: written by [`ObjectIdLane::seed`] before the memory is published, immutable from then on.
/// - `skipped`: a statistic, how many words up to `word` were not issued since the count began. A session that skips words,
///   as at a new second, adds them before it moves the word, so that the difference of both is never above what was issued.
#[derive(Debug, Default)]
#[repr(C)]
pub struct ObjectIdLane {
    word: CacheLine<MonotonicWord>,
    process: AtomicU64,
    skipped: AtomicU64,
}

impl ObjectIdLane {
    /// Returns a lane outside of shared memory, which has issued nothing yet.
    #[must_use]
    pub fn new(random: u64) -> Self {
        let lane = Self::default();
        lane.seed(random);
        lane
    }

    /// Sets the 5 random bytes and the counter of this start of the server. No one else uses the lane yet, whose memory
    /// is zeroed.
    pub fn seed(&self, random: u64) {
        self.process.store(random >> COUNTER, Ordering::Relaxed);
        let word = self.word.take(random & COUNTER_MASK);
        self.skipped.store(word, Ordering::Relaxed);
    }

    /// Mints an ObjectID: seconds, the 5 random bytes of this start, and the next of a counter that started at random.
    /// The result is none after the time field, in 2106.
    ///
    /// - **Unique** and **Ordered**: strictly increasing over all callers.
    /// - **Overflow**: a counter that comes round within a second takes the next second.
    /// - **Clock steps back**: continues in the last id's second, however far.
    /// - **Crash and restart**: other random bytes.
    #[inline]
    #[must_use]
    pub fn objectid(&self, now: impl Into<ClockTime>) -> Option<ObjectId> {
        let [_, _, _, process @ ..] = self.process.load(Ordering::Relaxed).to_be_bytes();
        Some(ObjectId::new(self.next(now.into())?, process))
    }

    /// Does the same as [`ObjectIdLane::objectid`] from the same lane, with a machine and a process id in place of the
    /// random bytes: unique all the same, and ordered from second to second.
    #[must_use]
    pub fn objectid_legacy(
        &self,
        now: impl Into<ClockTime>,
        machine: [u8; 3],
        pid: u16,
    ) -> Option<ObjectId> {
        let ([a, b, c], [d, e]) = (machine, pid.to_be_bytes());
        Some(ObjectId::new(self.next(now.into())?, [a, b, c, d, e]))
    }

    /// Returns the next word. The counter continues from second to second. If it overflows, its carry is the next
    /// second, unless the clock is there already.
    #[inline]
    fn next(&self, now: ClockTime) -> Option<u64> {
        let second = now.seconds.max(0).unsigned_abs();
        let skipped = Cell::new(0_u64);
        let word = self.word.advance(|last| {
            if skipped.get() > 0 {
                // Another session moved the word first.
                self.skip(skipped.take().wrapping_neg());
            }
            let next = last + 1;
            let words = second.saturating_sub(next >> COUNTER) << COUNTER;
            let next = next + words;
            if next >> COUNTER > LAST.unsigned_abs() {
                return Err(());
            }
            if words > 0 {
                self.skip(words);
                skipped.set(words);
            }
            Ok(next)
        });
        word.ok()
    }

    /// Counts words as skipped: once a second while ids are minted. Models of loom do not, to stay small.
    #[cold]
    fn skip(&self, words: u64) {
        if !cfg!(loom) {
            self.skipped.fetch_add(words, Ordering::Relaxed);
        }
    }

    /// Returns how many ids were minted since the server started or the count was reset. A session that mints meanwhile can
    /// make it less, never more.
    #[must_use]
    pub fn ids_minted(&self) -> u64 {
        // Read the word first: the words skipped before it were added before it moved.
        let word = self.word.last();
        let minted = word.wrapping_sub(self.skipped.load(Ordering::Relaxed));
        if minted.cast_signed() < 0 { 0 } else { minted }
    }

    /// Begins the count again.
    pub fn reset_count(&self) {
        self.skip(self.ids_minted());
    }

    /// Returns the time of the last id, to the second; none before the first.
    #[must_use]
    pub fn last(&self) -> Option<Micros> {
        let second = self.word.last() >> COUNTER;
        (second > 0).then(|| (second as Micros).saturating_mul(SECOND))
    }
}
