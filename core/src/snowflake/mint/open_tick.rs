//! The next id of a tick from which a shard has minted: that of [`mint()`], by a shorter way.
//!
//! The layout, the lane, and the beginning and end of the tick stay the same from id to id. The bounds, the lease, the
//! word and the clock are read for each id, in the order of [`mint()`]. If any word but the next one of the tick is
//! due, the result is none, and [`mint()`] decides.
//!
//! [`mint()`]: crate::mint()

use crate::atomic::Ordering;
use crate::ceiling::Ceiling;
use crate::clock::Micros;
use crate::snowflake::lane::Lane;
use crate::snowflake::layout::Layout;
use crate::snowflake::lease::Lease;

/// A tick from which a shard has minted.
#[derive(Debug, Clone, Copy)]
pub struct OpenTick<'a> {
    layout: &'a Layout,
    lane: &'a Lane,
    lease: Option<&'a Lease>,
    /// The last word.
    end: u64,
    start: Micros,
    /// The earliest time of the clock at which ids of the tick can be minted.
    earliest: Micros,
    /// The earliest time of the clock at which ids of the next tick are due.
    next: Micros,
    /// The difference between an id and its word, at the place of the sequence.
    base: i64,
}

/// Another session has moved the lane meanwhile.
struct Overtaken;

impl<'a> OpenTick<'a> {
    /// Returns the tick of a word that was minted from `lane`, which is that of the shard, under `lease`; none where 64 bits of
    /// microseconds cannot hold its end.
    #[inline(always)]
    #[must_use]
    pub fn new(
        layout: &'a Layout,
        (lane, lease): (&'a Lane, Option<&'a Lease>),
        (shard, word): (u64, u64),
        max_ahead: Micros,
    ) -> Option<Self> {
        let start = layout.word_start_saturating(word);
        let sequence = (word << layout.seq.shift).cast_signed();
        Some(Self {
            layout,
            lane,
            lease,
            end: word | layout.seq.max(),
            start,
            earliest: start.saturating_sub(max_ahead).max(layout.epoch()),
            next: start.checked_add(layout.unit())?,
            base: layout.id(shard, word).wrapping_sub(sequence),
        })
    }

    /// Returns the layout.
    #[must_use]
    #[inline]
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// Returns the shard, its lane and its lease.
    #[must_use]
    pub fn place(&self) -> (u64, &'a Lane, Option<&'a Lease>) {
        let last = (self.base).wrapping_add((self.end << self.layout.seq.shift).cast_signed());
        let shard = self.layout.shard.take(last.cast_unsigned());
        (shard, self.lane, self.lease)
    }

    /// Mints the next id of the tick, if [`mint()`](crate::mint()) would.
    #[inline(always)]
    pub fn next<'b>(
        &self,
        ceiling: impl Fn() -> &'b Ceiling,
        now: impl Fn() -> Micros,
    ) -> Option<i64> {
        match self.attempt(ceiling(), &now)? {
            Ok(id) => Some(id),
            Err(Overtaken) => self.retry(ceiling, now),
        }
    }

    // In a function of its own, as the compiler would use more registers for a loop.
    #[cold]
    fn retry<'b>(
        &self,
        ceiling: impl Fn() -> &'b Ceiling,
        now: impl Fn() -> Micros,
    ) -> Option<i64> {
        loop {
            if let Ok(id) = self.attempt(ceiling(), &now)? {
                return Some(id);
            }
        }
    }

    #[inline(always)]
    fn attempt(
        &self,
        ceiling: &Ceiling,
        now: &impl Fn() -> Micros,
    ) -> Option<Result<i64, Overtaken>> {
        let start = self.start;
        if start >= ceiling.limit() || start < ceiling.floor() {
            return None;
        }
        // The word was in this tick, and only rises.
        let last = self.lane.word.load(Ordering::Acquire);
        if last >= self.end {
            return None;
        }
        if let Some(lease) = self.lease
            && (start >= lease.until() || start < lease.from())
        {
            return None;
        }
        let now = now();
        if now >= self.next || now < self.earliest {
            return None;
        }
        let word = last + 1;
        let swapped =
            (self.lane.word).compare_exchange(last, word, Ordering::AcqRel, Ordering::Acquire);
        if swapped.is_err() {
            return Some(Err(Overtaken));
        }
        let sequence = (word << self.layout.seq.shift).cast_signed();
        Some(Ok(self.base.wrapping_add(sequence)))
    }
}
