//! The lanes of UUIDs and ObjectIDs: words that never wait and never fail.
//!
//! A word is the time of the last id, in the finest steps that the id has room for. The next one is
//! `max(now, last + 1)` (RFC 9562, 6.2): a step used up takes the one after it, and a clock that
//! steps back is waited for by counting on from the last id. So the ids of a lane ascend in the order
//! of minting, over every session that shares the word. How far it runs ahead of the clock has no
//! bound. The clock is an argument.

use crate::atomic::{AtomicU64, Ordering};
use std::array;
use std::convert::Infallible;

/// A moment as nanoseconds since 1970-01-01T00:00:00Z without leap seconds; reaches from 1677 to 2262.
pub type Nanos = i64;

/// The last moment issued, alone on its cache line. Zeroed memory is a lane that issued nothing yet.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct InstantLane(AtomicU64);

impl InstantLane {
    /// Takes the word that `next` makes of the last one; see [`advance`].
    #[inline]
    pub(crate) fn advance<E>(&self, next: impl Fn(u64) -> Result<u64, E>) -> Result<u64, E> {
        advance(&self.0, next)
    }

    /// Takes `now`, or the word after the last one if that is not below it.
    #[inline]
    pub(crate) fn take(&self, now: u64) -> u64 {
        let Ok(word) = self.advance::<Infallible>(|last| Ok(now.max(last + 1)));
        word
    }
}

/// Moves a word to what `next` makes of the last one, unless that is an error. `next` must grow: a
/// word is unique only because the one before it was smaller.
#[inline]
fn advance<E>(word: &AtomicU64, next: impl Fn(u64) -> Result<u64, E>) -> Result<u64, E> {
    let mut last = word.load(Ordering::Acquire);
    loop {
        let next = next(last)?;
        match word.compare_exchange_weak(last, next, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return Ok(next),
            Err(other) => last = other,
        }
    }
}

/// How many words the ids of version 2 have, as a power of two: enough that a million local ids at once
/// find room.
const LOCAL_BITS: u32 = if cfg!(loom) { 1 } else { 14 };
const LOCAL: usize = 1 << LOCAL_BITS;

/// Every lane of UUIDs and ObjectIDs of a server, and what was drawn when it started. In shared memory.
///
/// - `gregorian`, `unix`, `object`, `local`: moved by compare-and-swap only, ever upward.
/// - `node`, `clock_sequence`, `process`: written by [`Instants::seed`] before the memory is
///   published, immutable from then on.
#[derive(Debug)]
#[repr(C)]
pub struct Instants {
    /// Versions 1 and 6: 100 ns since 1582-10-15. One lane for both, so that they convert into each
    /// other without ever meeting.
    pub(crate) gregorian: InstantLane,
    /// Version 7: `milliseconds since 1970 << 12 | 4096ths of a millisecond`.
    pub(crate) unix: InstantLane,
    /// ObjectIDs: `seconds since 1970 << 24 | counter`.
    pub(crate) object: InstantLane,
    node: AtomicU64,
    clock_sequence: AtomicU64,
    process: AtomicU64,
    local: [AtomicU64; LOCAL],
}

impl Instants {
    /// Lanes that issued nothing yet, outside of shared memory.
    #[must_use]
    pub fn new(random: [u64; 2]) -> Self {
        let instants = Self {
            gregorian: InstantLane::default(),
            unix: InstantLane::default(),
            object: InstantLane::default(),
            node: AtomicU64::new(0),
            clock_sequence: AtomicU64::new(0),
            process: AtomicU64::new(0),
            local: array::from_fn(|_| AtomicU64::new(0)),
        };
        instants.seed(random);
        instants
    }

    /// Draws what a start of the server draws: node, clock sequence, the 5 bytes of an ObjectID and
    /// the start of its counter. The caller is alone with the lanes, whose memory is zeroed.
    pub fn seed(&self, [one, two]: [u64; 2]) {
        /// Tells a random node from a machine's address: the multicast bit (RFC 9562, 6.10).
        const MULTICAST: u64 = 1 << 40;
        self.node.store(one >> 16 | MULTICAST, Ordering::Relaxed);
        self.clock_sequence.store(one & 0x3fff, Ordering::Relaxed);
        self.process.store(two >> 24, Ordering::Relaxed);
        self.object.0.store(two & 0xff_ffff, Ordering::Relaxed);
    }

    /// The node of this start: 48 random bits, but for the multicast bit, which is set.
    #[inline]
    pub(crate) fn node(&self) -> [u8; 6] {
        let [_, _, node @ ..] = self.node.load(Ordering::Relaxed).to_be_bytes();
        node
    }

    /// The clock sequence of this start, 14 random bits.
    #[inline]
    pub(crate) fn clock_sequence(&self) -> u16 {
        self.clock_sequence.load(Ordering::Relaxed) as u16
    }

    /// The 5 bytes that tell the ObjectIDs of this start from those of others.
    #[inline]
    pub(crate) fn process(&self) -> [u8; 5] {
        let [_, _, _, process @ ..] = self.process.load(Ordering::Relaxed).to_be_bytes();
        process
    }

    /// Moves the word of a local id; see [`advance`]. Two local ids may share one.
    pub(crate) fn advance_local<E>(
        &self,
        domain: u8,
        local_id: u32,
        next: impl Fn(u64) -> Result<u64, E>,
    ) -> Result<u64, E> {
        // Fibonacci hashing (Knuth 6.4), the top bits.
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        let mixed = (u64::from(domain) << 32 | u64::from(local_id)).wrapping_mul(GOLDEN);
        advance(&self.local[(mixed >> (64 - LOCAL_BITS)) as usize], next)
    }
}
