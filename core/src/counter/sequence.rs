//! The rules of a sequence, increment, bounds and cycle, for many values at once.
//!
//! The rules are those of PostgreSQL's `nextval`, so that a session that takes a step from a sequence and one that
//! calls `nextval` on it can never get the same value.

use crate::clock::{Micros, SECOND};

/// The definition of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// The step from one value to the next; not 0, negative for a descending sequence.
    pub increment: i64,
    /// The smallest value.
    pub min: i64,
    /// The largest value.
    pub max: i64,
    /// True when the sequence begins again at its other end.
    pub cycle: bool,
}

/// The state of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceState {
    /// The value issued last, or the one to issue first.
    pub last: i64,
    /// True when `last` was issued.
    pub called: bool,
}

/// Consecutive values of a sequence: `first`, `first + increment` and so on, `count` of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Values {
    /// The first of them.
    pub first: i64,
    /// The step from one to the next.
    pub increment: i64,
    /// Their number, at least 1.
    pub count: u64,
}

impl Values {
    /// Returns the value `index` steps after the first. **`index` is below `count`.**
    #[must_use]
    #[inline]
    pub fn get(&self, index: u64) -> i64 {
        // This cannot overflow below `count`: the last value was checked against the bounds.
        self.first
            .wrapping_add(self.increment.wrapping_mul(index.cast_signed()))
    }

    /// Returns the last of them.
    #[must_use]
    pub fn last(&self) -> i64 {
        self.get(self.count - 1)
    }

    /// Returns true when all of them follow `end` in the direction of the sequence.
    #[must_use]
    pub fn are_beyond(&self, end: i64) -> bool {
        is_beyond(self.first, end, self.increment)
    }
}

/// Returns true when a value follows `end` in the direction of `increment`.
#[must_use]
pub fn is_beyond(value: i64, end: i64, increment: i64) -> bool {
    match increment {
        0.. => value > end,
        _ => value < end,
    }
}

impl Rules {
    /// Returns how many values lie from `from` to the end in the direction of the sequence, `from` included.
    fn room(&self, from: i128) -> u64 {
        let distance = if self.increment > 0 {
            i128::from(self.max) - from
        } else {
            from - i128::from(self.min)
        };
        let steps = distance.div_euclid(i128::from(self.increment).abs()) + 1;
        u64::try_from(steps.max(0)).unwrap_or(u64::MAX)
    }

    /// Returns the value where the sequence begins again.
    fn beginning(&self) -> i64 {
        if self.increment > 0 {
            self.min
        } else {
            self.max
        }
    }

    fn next(&self, state: SequenceState) -> i128 {
        let last = i128::from(state.last);
        if state.called {
            last + i128::from(self.increment)
        } else {
            last
        }
    }

    /// Returns how many values can be issued before the end.
    #[must_use]
    pub fn remaining(&self, state: SequenceState) -> u64 {
        self.room(self.next(state))
    }

    /// Returns how many values the sequence has in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.room(i128::from(self.beginning()))
    }

    /// Returns the next values: up to `most` of them, if they follow each other without beginning again, but never
    /// fewer than `least`. The result is none if the sequence is used up, or cannot have `least` in a row.
    #[must_use]
    pub fn take(&self, state: SequenceState, least: u64, most: u64) -> Option<Values> {
        let next = self.next(state);
        let (first, room) = match self.room(next) {
            room if room >= least.max(1) => (next, room),
            _ if self.cycle => (i128::from(self.beginning()), self.total()),
            _ => return None,
        };
        let count = room.min(most);
        (count >= least.max(1)).then_some(Values {
            first: i64::try_from(first).ok()?,
            increment: self.increment,
            count,
        })
    }
}

/// The number of values that `nextval` logs ahead: `SEQ_LOG_VALS` of sequence.c.
const LOGGED_AHEAD: u64 = 32;

/// The page of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceData {
    /// Its state.
    pub state: SequenceState,
    /// The number of logged values that are left.
    pub log_count: i64,
    /// True when a checkpoint can have made `nextval` log again.
    pub relogged: bool,
}

impl Rules {
    /// Returns true when calls of `nextval` for at most `most` values can have brought a sequence from `left`, with
    /// nothing logged ahead, to the state that was found. `cache` is how many values a call takes at once.
    ///
    /// Like `setval`, one of 33 calls of `nextval` leaves nothing logged ahead, and is taken for a `setval`. A `setval`
    /// before calls of `nextval` is mistaken for such calls if it went forward by a multiple of 33, and not beyond
    /// `most`.
    #[must_use]
    pub fn is_of_nextval(&self, cache: u64, left: i64, found: SequenceData, most: u64) -> bool {
        if !found.state.called {
            return false;
        }
        let distance = i128::from(found.state.last) - i128::from(left);
        let increment = i128::from(self.increment);
        let Ok(moved @ 1..) = u64::try_from(distance / increment) else {
            return false;
        };
        let log_count = found.log_count.unsigned_abs();
        let (cache, calls) = (cache.max(1), moved / cache.max(1));
        if distance % increment != 0
            || moved > most
            || !moved.is_multiple_of(cache)
            || !(1..=LOGGED_AHEAD).contains(&log_count)
        {
            return false;
        }
        // Each call uses up as many logged values as it takes, and logs again when there are not enough.
        let used = LOGGED_AHEAD - log_count;
        let calls_of_log = LOGGED_AHEAD / cache + 1;
        used.is_multiple_of(cache) && (found.relogged || (calls - 1) % calls_of_log == used / cache)
    }
}

/// The length of the first two segments of a sequence whose step adapts. A sequence that issued eight values before a
/// restart continues within fifty.
const FIRST: u64 = 10;
/// The longest step.
const MOST: u64 = 1_000_000;

/// Returns the least and the most values to take at once of a sequence of `total` values. A `step` above 1 is used
/// whatever the load. Otherwise the step adapts from 10 on, and is at most a thousandth of all values.
#[must_use]
pub fn steps(step: u64, total: u64) -> (u64, u64) {
    if step > 1 {
        let step = step.min(MOST);
        return (step, step);
    }
    let most = (total / 1_000).clamp(1, MOST);
    (FIRST.min(most), most)
}

const MINUTE: Micros = 60 * SECOND;

/// The time that a segment has to last at least. Leaf has 15 minutes for it. Here that is for the two segments of a sequence, which a
/// restart skips: so it skips up to three times what was issued in the 15 minutes before. The time from one refill to the next
/// is for the most part that of the segment before, so that a step grows to twice as much before that is seen.
pub const LASTING: Micros = 15 * MINUTE / 8;

/// Returns how many values to take next, when `now` were taken `lasted` ago, by Leaf's rule: twice as many when they
/// lasted less than [`LASTING`], half as many after twice that or more. The result is never below `least`, nor above
/// `most` unless `least` is.
#[must_use]
pub fn adapt(now: u64, lasted: Micros, least: u64, most: u64) -> u64 {
    let wanted = match lasted {
        ..0 => now,
        _ if lasted < LASTING && now.saturating_mul(2) <= most => now * 2,
        _ if lasted < 2 * LASTING => now,
        _ => now / 2,
    };
    wanted.clamp(least, most.max(least))
}

/// Returns the least number above `above`, and not below `server`, that leaves `server` when divided by `servers`: one
/// of several ticket servers continues there. `server` is 1 to `servers`; `above` is not negative. The result is none
/// if 64 bits have no such number.
#[must_use]
pub fn first_of_series(server: i64, servers: i64, above: i64) -> Option<i64> {
    match above.checked_sub(server)? {
        ..0 => Some(server),
        past => (past / servers + 1)
            .checked_mul(servers)?
            .checked_add(server),
    }
}
