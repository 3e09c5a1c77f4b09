//! What a sequence issues next: its increment, bounds and cycle, many values at once.
//!
//! The rules are those of PostgreSQL's `nextval`, so that a session that takes a step from a sequence and one that
//! calls `nextval` on it can never get the same value.

use crate::clock::Micros;

/// What the definition of a sequence says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// From one value to the next; not 0, negative for a descending sequence.
    pub increment: i64,
    /// No value is below it.
    pub min: i64,
    /// No value is above it.
    pub max: i64,
    /// Whether the sequence begins again at its other end.
    pub cycle: bool,
}

/// Where a sequence stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The value issued last, or the one to issue first.
    pub last: i64,
    /// Whether `last` was issued.
    pub called: bool,
}

/// Consecutive values of a sequence: `first`, `first + increment` and so on, `count` of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Values {
    /// The first of them.
    pub first: i64,
    /// From one to the next.
    pub increment: i64,
    /// How many, at least 1.
    pub count: u64,
}

impl Values {
    /// The value `index` places after the first. **`index` is below `count`.**
    #[must_use]
    #[inline]
    pub fn get(&self, index: u64) -> i64 {
        // Wrapping cannot happen below `count`: the last value was checked against the bounds.
        self.first
            .wrapping_add(self.increment.wrapping_mul(index.cast_signed()))
    }

    /// The last of them.
    #[must_use]
    pub fn last(&self) -> i64 {
        self.get(self.count - 1)
    }
}

impl Rules {
    /// How many values lie from `from` to the end in the direction of the sequence, `from` included.
    fn room(&self, from: i128) -> u64 {
        let distance = if self.increment > 0 {
            i128::from(self.max) - from
        } else {
            from - i128::from(self.min)
        };
        let steps = distance.div_euclid(i128::from(self.increment).abs()) + 1;
        u64::try_from(steps.max(0)).unwrap_or(u64::MAX)
    }

    /// The value where the sequence begins again.
    fn beginning(&self) -> i64 {
        if self.increment > 0 {
            self.min
        } else {
            self.max
        }
    }

    fn next(&self, place: Place) -> i128 {
        let last = i128::from(place.last);
        if place.called {
            last + i128::from(self.increment)
        } else {
            last
        }
    }

    /// How many values can be issued before the end.
    #[must_use]
    pub fn left(&self, place: Place) -> u64 {
        self.room(self.next(place))
    }

    /// How many values the sequence has in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.room(i128::from(self.beginning()))
    }

    /// The next values: up to `most` of them, as far as they follow each other without beginning again,
    /// but never fewer than `least`. None when the sequence is used up, or cannot have `least` in a row.
    #[must_use]
    pub fn take(&self, place: Place, least: u64, most: u64) -> Option<Values> {
        let next = self.next(place);
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

/// How many values `nextval` logs ahead: `SEQ_LOG_VALS` of sequence.c.
const LOGGED_AHEAD: u64 = 32;

/// What is on the page of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Where it stands.
    pub place: Place,
    /// How many of the values that were logged are left.
    pub log_count: i64,
    /// Whether a checkpoint may have made `nextval` log anew.
    pub relogged: bool,
}

impl Rules {
    /// Whether calls of `nextval` can have brought a sequence from `left`, with nothing logged ahead, to where it is
    /// found, for at most `most` values. Something has. `cache` is how many it takes at once.
    ///
    /// `setval` leaves nothing logged ahead, and so do one of 33 calls of `nextval`, which are taken for it. What it
    /// leaves after some further calls of `nextval` is mistaken for the work of those alone when it went forward by a
    /// multiple of 33, and not beyond `most`.
    #[must_use]
    pub fn is_of_nextval(&self, cache: u64, left: i64, found: Found, most: u64) -> bool {
        if !found.place.called {
            return false;
        }
        let distance = i128::from(found.place.last) - i128::from(left);
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
        // Each call uses up as many of those logged, and logs anew when there are not enough.
        let used = LOGGED_AHEAD - log_count;
        let calls_of_log = LOGGED_AHEAD / cache + 1;
        used.is_multiple_of(cache) && (found.relogged || (calls - 1) % calls_of_log == used / cache)
    }
}

const MINUTE: Micros = 60_000_000;

/// How many values to take next, when `now` were taken `lasted` ago: Leaf's rule. Twice as many when they
/// lasted less than a quarter of an hour, half as many after half an hour or more; never below `own`, nor
/// grown above `most`.
#[must_use]
pub fn adapt(now: u64, lasted: Micros, own: u64, most: u64) -> u64 {
    let wanted = match lasted {
        ..0 => now,
        _ if lasted < 15 * MINUTE && now.saturating_mul(2) <= most => now * 2,
        _ if lasted < 30 * MINUTE => now,
        _ => now / 2,
    };
    wanted.max(own)
}

/// The least number above `above`, and not below `server`, that leaves `server` when divided by `servers`:
/// where one of several ticket servers goes on. `server` is 1 to `servers`; `above` is not negative. None
/// when 64 bits have no such number.
#[must_use]
pub fn first_of_series(server: i64, servers: i64, above: i64) -> Option<i64> {
    match above.checked_sub(server)? {
        ..0 => Some(server),
        past => (past / servers + 1)
            .checked_mul(servers)?
            .checked_add(server),
    }
}
