//! The lanes of UUIDs: minting of the versions that carry a time.

use crate::atomic::{AtomicU64, CacheLine, Ordering};
use crate::bytes::hash::fibonacci;
use crate::clock::Micros;
use crate::monotonic::{ClockTime, MonotonicWord};
use crate::uuid::version::{PART, Uuid, ticks, time_of_ticks, v7_of};
use ::uuid::{Builder, Version};
use std::array;

/// The binary logarithm of the words for ids of version 2: enough that a million local ids at once find room. One for
/// interpreters, which look at each of them at every call.
const LOCAL_BITS: u32 = if cfg!(any(loom, miri)) { 1 } else { 14 };
const LOCAL: usize = 1 << LOCAL_BITS;

/// Every lane of UUIDs of a server, and the random numbers of its start. In shared memory.
///
/// - `gregorian`, `unix`, `local`: moved by compare-and-swap only, ever upward.
/// - `node`, `clock_sequence`: written by [`UuidLanes::seed`] before the memory is published, immutable
///   from then on.
#[derive(Debug)]
#[repr(C)]
pub struct UuidLanes {
    /// Versions 1 and 6: 100 ns since 1582-10-15. One lane for both, so that they convert into each
    /// other without ever meeting.
    gregorian: CacheLine<MonotonicWord>,
    /// Version 7: `milliseconds since 1970 << 12 | 4096ths of a millisecond`.
    unix: CacheLine<MonotonicWord>,
    node: AtomicU64,
    clock_sequence: AtomicU64,
    /// Version 2, by a hash of the local id: `window << 6 | count`.
    local: [MonotonicWord; LOCAL],
}

impl UuidLanes {
    /// Returns lanes outside of shared memory, which have issued nothing yet.
    #[must_use]
    pub fn new(random: u64) -> Self {
        let lanes = Self {
            gregorian: CacheLine::default(),
            unix: CacheLine::default(),
            node: AtomicU64::new(0),
            clock_sequence: AtomicU64::new(0),
            local: array::from_fn(|_| MonotonicWord::default()),
        };
        lanes.seed(random);
        lanes
    }

    /// Sets the random node and clock sequence of this start of the server. No one else uses the lanes yet, whose
    /// memory is zeroed.
    pub fn seed(&self, random: u64) {
        /// Tells a random node from a machine's address: the multicast bit (RFC 9562, 6.10).
        const MULTICAST: u64 = 1 << 40;
        self.node.store(random >> 16 | MULTICAST, Ordering::Relaxed);
        self.clock_sequence
            .store(random & 0x3fff, Ordering::Relaxed);
    }

    /// Returns the node of this start: 48 random bits, but with the multicast bit set.
    #[inline]
    fn node(&self) -> [u8; 6] {
        let [_, _, node @ ..] = self.node.load(Ordering::Relaxed).to_be_bytes();
        node
    }

    /// Returns the clock sequence of this start, 14 random bits.
    #[inline]
    fn clock_sequence(&self) -> u16 {
        self.clock_sequence.load(Ordering::Relaxed) as u16
    }

    /// Returns the word of a local id. Two local ids can share one.
    fn local(&self, domain: u8, local_id: u32) -> &MonotonicWord {
        let hash = fibonacci(u64::from(domain) << 32 | u64::from(local_id));
        &self.local[(hash >> (64 - LOCAL_BITS)) as usize]
    }

    /// Returns the times of the last ids of versions 1 and 6, and of version 7, in microseconds since 1970; none before the
    /// first.
    #[must_use]
    pub fn last(&self) -> [Option<Micros>; 2] {
        let used = |word: &MonotonicWord| Some(word.last()).filter(|&word| word != 0);
        let unix = |word: u64| (word >> PART).cast_signed().saturating_mul(1_000);
        [
            used(&self.gregorian).map(time_of_ticks),
            used(&self.unix).map(unix),
        ]
    }

    /// Mints version 1: 100 ns since 1582, clock sequence and node, low bits first. `node` replaces
    /// the random one of this start.
    ///
    /// - **Unique** and **Ordered** by time: over all callers, together with [`UuidLanes::v6`].
    /// - **Overflow**, **Clock steps back**: continues from the last id, however far.
    /// - **Crash and restart**: another clock sequence and another random node.
    #[inline]
    #[must_use]
    pub fn v1(&self, now: impl Into<ClockTime>, node: Option<[u8; 6]>) -> Uuid {
        let tick = self.gregorian.take(ticks(now.into()));
        let node = node.unwrap_or_else(|| self.node());
        Builder::from_gregorian_timestamp(tick, self.clock_sequence(), &node).into_uuid()
    }

    /// Mints version 6: as [`UuidLanes::v1`], high bits first, so that ids sort by time.
    #[inline]
    #[must_use]
    pub fn v6(&self, now: impl Into<ClockTime>, node: Option<[u8; 6]>) -> Uuid {
        let tick = self.gregorian.take(ticks(now.into()));
        let node = node.unwrap_or_else(|| self.node());
        Builder::from_sorted_gregorian_timestamp(tick, self.clock_sequence(), &node).into_uuid()
    }

    /// Mints version 7: milliseconds since 1970, 4096ths of one (RFC 9562, 6.2, method 3), and 62 of
    /// the random bits.
    ///
    /// - **Unique** and **Ordered**: strictly increasing over all callers.
    /// - **Overflow**, **Clock steps back**: continues from the last id, however far.
    #[inline]
    #[must_use]
    pub fn v7(&self, now: impl Into<ClockTime>, random: u64) -> Uuid {
        let now = now.into();
        let (seconds, nanos) = if now.seconds < 0 {
            (0, 0)
        } else {
            (now.seconds.unsigned_abs(), u64::from(now.nanos))
        };
        // A second has 4,096,000 words, so 15,625 ns have 64.
        let word = seconds * (1_000 << PART) + nanos * 64 / 15_625;
        v7_of(self.unix.take(word), random)
    }

    /// Mints version 2 (DCE): a local id of a domain, a window of 2^32 * 100 ns, 6 bits to count in it, and a node. The
    /// result is none if the 64 ids of this window and of the next are used up.
    ///
    /// - **Unique** over all callers; two local ids may share their 64 ids of a window.
    /// - **Overflow**: the 65th takes the next window; if that is used up, too, the clock must reach it first.
    /// - **Clock steps back**: continues from the last id, but no further than that.
    #[must_use]
    pub fn v2(
        &self,
        now: impl Into<ClockTime>,
        domain: u8,
        local_id: u32,
        node: Option<[u8; 6]>,
    ) -> Option<Uuid> {
        const COUNT: u32 = 6;
        let window = ticks(now.into()) >> 32;
        let word = self.local(domain, local_id).advance(|last| {
            let next = (window << COUNT).max(last + 1);
            (next >> COUNT <= window + 1).then_some(next).ok_or(())
        });
        let word = word.ok()?;
        let tick = word >> COUNT << 32 | u64::from(local_id);
        let count = (word & ((1 << COUNT) - 1)) as u16;
        let node = node.unwrap_or_else(|| self.node());
        let id = Builder::from_gregorian_timestamp(tick, count << 8 | u16::from(domain), &node);
        Some(id.with_version(Version::Dce).into_uuid())
    }
}
