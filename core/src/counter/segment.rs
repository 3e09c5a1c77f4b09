//! A segment: values taken from a sequence at once, which every session draws from. A second one is
//! fetched while the first is in use, so that no session waits at the boundary: Leaf's double buffer.
//!
//! ```text
//! word = generation << 21 | offset       offset: how many values of the generation's half were drawn
//! ```
//!
//! The values of generation `g` are in half `g % 2`. A half is written for `g + 1` only while `g` is in
//! use and `g - 1`, whose half it is, is past for good. So a swap of the word from generation `g` proves that
//! what was read of `g`'s half before it belonged to `g`: no lock, and no value twice.
//!
//! A segment is on disk before its first value is drawn: its half carries the position in the log, and
//! the session that switches to it flushes first.

use crate::atomic::{AtomicI64, AtomicU64, Ordering, fence};
use crate::clock::Micros;
use crate::counter::sequence;
use crate::counter::sequence::Values;

/// The bits of an offset. The generation has the other 43.
const OFFSET: u32 = 21;

/// The most values of one segment.
pub const MAX_VALUES: u64 = 1 << 20;

/// The owner of a segment; 0 is none. A segment that was given to another sequence has another owner.
pub type SegmentOwner = u32;

/// A position in the server's log.
pub type Position = u64;

/// Two segments of one sequence, one in use and one in waiting, in shared memory.
///
/// - `word`: moved by compare-and-swap only; the generation only rises.
/// - `filled`: the last generation whose half is written, `word`'s or the next. Changed only while filling.
/// - `halves`, `positions`: written before `filled` shows them.
/// - `step`, `refilled`: notes for filling. `refilled` is when the second segment or a later one was filled, and
///   `ONCE` after the first.
/// - `taken`, `refills`, `waits`, `waited`: statistics, of the owner's time.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Segment {
    word: AtomicU64,
    filled: AtomicU64,
    halves: [Half; 2],
    positions: [AtomicU64; 2],
    step: AtomicU64,
    refilled: AtomicI64,
    taken: AtomicU64,
    refills: AtomicU64,
    waits: AtomicU64,
    waited: AtomicU64,
}

/// Marks that only one segment was filled. The second is fetched after a tenth of it, too early to tell the load.
const ONCE: Micros = -1;

#[derive(Debug, Default)]
#[repr(C)]
struct Half {
    /// Owner and number of values, which are checked together.
    head: AtomicU64,
    first: AtomicI64,
    increment: AtomicI64,
}

const _: () = assert!(cfg!(loom) || size_of::<Segment>() == 128);

/// Outcome of a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draw {
    /// Values for this session.
    Got {
        /// The first of the values.
        first: i64,
        /// The step from one to the next.
        increment: i64,
        /// True when this session has to fetch a missing next segment: past the first tenth, and in the last.
        fetch: bool,
    },
    /// The segment in use has fewer values left.
    Short {
        /// Their number.
        left: u64,
    },
    /// The memory belongs to another sequence now.
    NotMine,
}

/// Outcome of [`Segment::switch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// There are values to draw, or were until now.
    Done,
    /// The next segment must be filled first.
    Unfilled,
    /// The memory belongs to another sequence now.
    NotMine,
}

fn generation(word: u64) -> u64 {
    word >> OFFSET
}

fn offset(word: u64) -> u64 {
    word & ((1 << OFFSET) - 1)
}

fn head(owner: SegmentOwner, count: u64) -> u64 {
    u64::from(owner) << 32 | count
}

fn owner_of(head: u64) -> SegmentOwner {
    (head >> 32) as SegmentOwner
}

fn count_of(head: u64) -> u64 {
    head & u64::from(u32::MAX)
}

impl Segment {
    fn half(&self, generation: u64) -> &Half {
        &self.halves[(generation & 1) as usize]
    }

    /// Draws `want` values in a row, at least 1.
    #[inline]
    pub fn draw(&self, owner: SegmentOwner, want: u64) -> Draw {
        let mut word = self.word.load(Ordering::Acquire);
        loop {
            let half = self.half(generation(word));
            let head = half.head.load(Ordering::Relaxed);
            if owner_of(head) != owner {
                return Draw::NotMine;
            }
            let (drawn, count) = (offset(word), count_of(head));
            if want > count - drawn.min(count) {
                // The halves can have changed since the word was read. Only the word tells, after they were read.
                fence(Ordering::Acquire);
                let now = self.word.load(Ordering::Acquire);
                if now == word {
                    return Draw::Short {
                        left: count - drawn.min(count),
                    };
                }
                word = now;
                continue;
            }
            let values = Values {
                first: half.first.load(Ordering::Relaxed),
                increment: half.increment.load(Ordering::Relaxed),
                count,
            };
            let after = word + want;
            match self
                .word
                .compare_exchange(word, after, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => {
                    // Like Leaf, fetch once less than nine tenths are left; for a segment of one value, at its draw.
                    let tenth = count / 10;
                    let mark = (tenth + 1).min(count - 1);
                    let is_mark = drawn <= mark && mark < drawn + want;
                    return Draw::Got {
                        first: values.get(drawn),
                        increment: values.increment,
                        fetch: is_mark || drawn + want > count - tenth,
                    };
                }
                Err(now) => word = now,
            }
        }
    }

    /// Switches to the next segment if the one in use is used up and there is a next. `flush` must return when
    /// the log is on disk up to that position.
    pub fn switch(&self, owner: SegmentOwner, flush: impl FnOnce(Position)) -> Switch {
        let word = self.word.load(Ordering::Acquire);
        let now = generation(word);
        if offset(word) < count_of(self.half(now).head.load(Ordering::Relaxed)) {
            return Switch::Done;
        }
        if self.filled.load(Ordering::Acquire) == now {
            return Switch::Unfilled;
        }
        let next = now + 1;
        if owner_of(self.half(next).head.load(Ordering::Relaxed)) != owner {
            return Switch::NotMine;
        }
        flush(self.positions[(next & 1) as usize].load(Ordering::Relaxed));
        // If this fails, another session has switched, and flushed before.
        let _ =
            self.word
                .compare_exchange(word, next << OFFSET, Ordering::AcqRel, Ordering::Relaxed);
        Switch::Done
    }

    /// Returns how many values can still be drawn.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        let word = self.word.load(Ordering::Acquire);
        let now = generation(word);
        let count = |generation| count_of(self.half(generation).head.load(Ordering::Acquire));
        let next = match self.filled.load(Ordering::Acquire) {
            filled if filled > now => count(filled),
            _ => 0,
        };
        count(now).saturating_sub(offset(word)) + next
    }

    /// Returns true when there is no next segment yet. **Under the page's lock**: otherwise the answer can be outdated.
    #[must_use]
    pub fn lacks_next(&self) -> bool {
        self.filled.load(Ordering::Acquire) == generation(self.word.load(Ordering::Acquire))
    }

    /// Returns the generation that was filled last: it rises each time.
    #[must_use]
    pub fn last_filled(&self) -> u64 {
        self.filled.load(Ordering::Acquire)
    }

    /// Puts values behind those in use. **One session at a time, and only while [`Segment::lacks_next`]**: the caller
    /// holds the page that they were taken from. Returns false when the memory belongs to another sequence.
    pub fn fill(
        &self,
        owner: SegmentOwner,
        values: Values,
        position: Position,
        now: Micros,
    ) -> bool {
        debug_assert!(values.count <= MAX_VALUES && self.lacks_next());
        let filled = self.filled.load(Ordering::Relaxed);
        if owner_of(self.half(filled).head.load(Ordering::Relaxed)) != owner {
            return false;
        }
        let next = filled + 1;
        let half = self.half(next);
        half.first.store(values.first, Ordering::Relaxed);
        half.increment.store(values.increment, Ordering::Relaxed);
        half.head
            .store(head(owner, values.count), Ordering::Relaxed);
        self.positions[(next & 1) as usize].store(position, Ordering::Relaxed);
        self.filled.store(next, Ordering::Release);
        let at = match self.refilled.load(Ordering::Relaxed) {
            0 => ONCE,
            _ => now,
        };
        self.refilled.store(at, Ordering::Relaxed);
        self.refills.fetch_add(1, Ordering::Relaxed);
        self.taken.fetch_add(values.count, Ordering::Release);
        true
    }

    /// Returns how many values to take next, within the limits. **Under the page's lock.** Call [`Segment::note_step`]
    /// if they are taken.
    #[must_use]
    pub fn next_step(&self, now: Micros, (least, most): (u64, u64)) -> u64 {
        let before = self.step.load(Ordering::Relaxed);
        let refilled = self.refilled.load(Ordering::Relaxed);
        if refilled == 0 || refilled == ONCE {
            least
        } else {
            sequence::adapt(before, now.saturating_sub(refilled), least, most)
        }
    }

    /// Notes how many values to take were chosen. **Under the page's lock.**
    pub fn note_step(&self, step: u64) {
        self.step.store(step, Ordering::Relaxed);
    }

    /// Gives the memory to another owner, without values, and returns how many values remained: they are never issued.
    /// **The caller keeps others from filling meanwhile.**
    pub fn reassign(&self, owner: SegmentOwner) -> u64 {
        let filled = self.filled.load(Ordering::Relaxed);
        let counts = [filled, filled.wrapping_sub(1)];
        let [newest, before] = counts.map(|generation| self.values(generation).count);
        let next = filled + 1;
        // Only the head changes of a half that can be in use, and before the word leaves it. So a draw from it
        // meanwhile gets values that were taken, or sees the other owner.
        self.half(next)
            .head
            .store(head(owner, 0), Ordering::Release);
        self.filled.store(next, Ordering::Release);
        // A swap, as all later moves of the word must see this one.
        let word = self.word.swap(next << OFFSET, Ordering::AcqRel);
        self.step.store(0, Ordering::Relaxed);
        self.reset_statistics();
        self.taken.store(0, Ordering::Relaxed);
        self.refilled.store(0, Ordering::Relaxed);
        let drawn = offset(word);
        if generation(word) == filled {
            newest.saturating_sub(drawn)
        } else {
            before.saturating_sub(drawn) + newest
        }
    }

    /// Returns the values of a generation that has its half.
    fn values(&self, generation: u64) -> Values {
        let half = self.half(generation);
        Values {
            first: half.first.load(Ordering::Relaxed),
            increment: half.increment.load(Ordering::Relaxed),
            count: count_of(half.head.load(Ordering::Relaxed)),
        }
    }

    /// Notes that a session had to fetch a segment before it could continue.
    pub fn note_wait(&self) {
        self.waits.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes how long the session waited.
    pub fn note_waited(&self, span: Micros) {
        self.waited
            .fetch_add(span.max(0).unsigned_abs(), Ordering::Relaxed);
    }

    /// Returns how many values were drawn of those that were taken since the statistics were reset.
    fn values_drawn(&self) -> u64 {
        // Read `taken` first: a segment that is filled in between lowers the result, and never raises it.
        let taken = self.taken.load(Ordering::Acquire);
        let drawn = taken.wrapping_sub(self.remaining());
        if drawn.cast_signed() < 0 { 0 } else { drawn }
    }

    /// Sets the statistics to zero.
    pub fn reset_statistics(&self) {
        let drawn = self.values_drawn();
        self.taken
            .fetch_add(drawn.wrapping_neg(), Ordering::Relaxed);
        for statistic in [&self.refills, &self.waits, &self.waited] {
            statistic.store(0, Ordering::Relaxed);
        }
    }

    /// Returns the state of the segments, for showing.
    #[must_use]
    pub fn state(&self) -> SegmentState {
        let word = self.word.load(Ordering::Acquire);
        let now = generation(word);
        let filled = self.filled.load(Ordering::Acquire);
        let current = self.values(now);
        let ready = filled > now;
        let end = if ready { self.values(filled) } else { current };
        // The other half has the values before until the next ones come, if it is of the same owner.
        let before = now.wrapping_sub(1);
        let is_same = owner_of(self.half(before).head.load(Ordering::Relaxed))
            == owner_of(self.half(now).head.load(Ordering::Relaxed));
        let drawn_before = (!ready && is_same).then(|| self.values(before));
        SegmentState {
            last: match offset(word) {
                0 => drawn_before
                    .filter(|all| all.count > 0)
                    .map(|all| all.last()),
                drawn => Some(current.get(drawn - 1)),
            },
            position: match offset(word) {
                drawn if drawn < current.count => Some(current.get(drawn)),
                _ => ready.then_some(end.first),
            },
            ceiling: (end.count > 0).then(|| end.last()),
            ready,
            step: self.step.load(Ordering::Relaxed),
            is_used: self.refilled.load(Ordering::Relaxed) != 0,
            drawn: self.values_drawn(),
            refills: self.refills.load(Ordering::Relaxed),
            waits: self.waits.load(Ordering::Relaxed),
            waited: self.waited.load(Ordering::Relaxed).cast_signed(),
        }
    }
}

/// The segments as [`Segment::state`] read them. Sessions continue meanwhile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SegmentState {
    /// The value that was drawn last, if it is known.
    pub last: Option<i64>,
    /// The value that is drawn next, if one has been taken for it.
    pub position: Option<i64>,
    /// The last value that was taken from the sequence.
    pub ceiling: Option<i64>,
    /// True when the next segment is there.
    pub ready: bool,
    /// The number of values that were taken last.
    pub step: u64,
    /// True when values were ever taken for this owner.
    pub is_used: bool,
    /// The number of values drawn since the statistics were reset, as are all that follow.
    pub drawn: u64,
    /// The number of times that values were taken.
    pub refills: u64,
    /// The number of times that a session had to fetch a segment before it could continue, the first one included.
    pub waits: u64,
    /// The time that they waited.
    pub waited: Micros,
}
