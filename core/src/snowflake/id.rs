//! Ids of a layout: composing, decoding, and the bounds of a timestamp.

use crate::clock::{DAY, Micros, duration_text, timestamp_text};
use crate::snowflake::error::{IdError, SpanError};
use crate::snowflake::layout::Layout;

/// The fields of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// Start of the id's tick.
    pub at: Micros,
    /// The shard; 0 in a layout without one.
    pub shard: u64,
    /// The sequence within the tick.
    pub sequence: u64,
}

impl Layout {
    /// Returns the id of a lane's word.
    #[must_use]
    #[inline]
    pub fn id(&self, shard: u64, word: u64) -> i64 {
        let tick = word >> self.seq.width;
        // Ticks end before the sign bit: the checks of minting and encoding see to it.
        (self.time.put(tick) | self.shard.put(shard) | self.seq.put(word)).cast_signed()
    }

    /// Checks a shard given by a user.
    ///
    /// # Errors
    /// When it is negative or too large.
    #[inline]
    pub fn check_shard(&self, shard: i64) -> Result<u64, IdError> {
        match u64::try_from(shard) {
            Ok(shard) if shard <= self.shard.max() => Ok(shard),
            _ => Err(self.bad_node(shard)),
        }
    }

    #[cold]
    fn bad_node(&self, shard: i64) -> IdError {
        IdError::Shard {
            shard,
            max: self.shard.max(),
            layout: self.to_string(),
        }
    }

    /// Returns the id of a timestamp, shard and sequence. The timestamp is cut to the start of its tick.
    ///
    /// # Errors
    /// A field that is out of the layout's range.
    pub fn encode(&self, at: Micros, shard: i64, sequence: i64) -> Result<i64, IdError> {
        let shard = self.check_shard(shard)?;
        let sequence = u64::try_from(sequence)
            .ok()
            .filter(|&sequence| sequence <= self.seq.max())
            .ok_or_else(|| IdError::Sequence {
                sequence,
                max: self.seq.max(),
                layout: self.to_string(),
            })?;
        let tick = self.tick_of(at).ok_or_else(|| IdError::Timestamp {
            layout: self.to_string(),
            first: timestamp_text(self.epoch()),
            last: self
                .tick_start(self.max_tick())
                .map_or_else(|| "infinity".to_owned(), timestamp_text),
        })?;
        Ok(self.id(shard, tick << self.seq.width | sequence))
    }

    /// Returns the tick of a timestamp; none before the epoch or past the end.
    fn tick_of(&self, at: Micros) -> Option<u64> {
        let tick = u64::try_from(i128::from(at) - i128::from(self.epoch())).ok()?
            / self.unit().unsigned_abs();
        Some(tick).filter(|&tick| tick <= self.max_tick())
    }

    /// Returns the fields of an id.
    ///
    /// # Errors
    /// When no such id exists: it is negative, has bits above the layout's fields, or a time that
    /// 64 bits of microseconds cannot hold.
    pub fn decode(&self, id: i64) -> Result<Parts, IdError> {
        let not_an_id = || IdError::NotAnId {
            id,
            layout: self.to_string(),
        };
        let bits = u64::try_from(id).map_err(|_| not_an_id())?;
        let tick = self.time.take(bits);
        let shard = self.shard.take(bits);
        let sequence = self.seq.take(bits);
        let whole = self.time.put(tick) | self.shard.put(shard) | self.seq.put(sequence);
        if whole != bits {
            return Err(not_an_id());
        }
        let at = self.tick_start(tick).ok_or_else(not_an_id)?;
        Ok(Parts {
            at,
            shard,
            sequence,
        })
    }

    /// Returns the start of an id's tick: the time of [`Layout::decode`] alone, for conditions on many rows.
    ///
    /// # Errors
    /// As [`Layout::decode`].
    #[inline]
    pub fn time_of(&self, id: i64) -> Result<Micros, IdError> {
        let ones = u64::MAX;
        let fields = self.time.put(ones) | self.shard.put(ones) | self.seq.put(ones);
        let tick = self.time.take(id.cast_unsigned()).cast_signed();
        let at = tick
            .checked_mul(self.unit())
            .and_then(|age| age.checked_add(self.epoch()));
        match at {
            Some(at) if id >= 0 && id.cast_unsigned() & !fields == 0 => Ok(at),
            // `decode` refuses the id, or its age needs more than 64 bits.
            _ => self.decode(id).map(|parts| parts.at),
        }
    }

    /// Returns the shard of an id, and its word in the lane of the shard.
    ///
    /// # Errors
    /// As [`Layout::decode`].
    pub fn shard_and_word(&self, id: i64) -> Result<(u64, u64), IdError> {
        let Parts {
            shard, sequence, ..
        } = self.decode(id)?;
        let tick = self.time.take(id.cast_unsigned());
        Ok((shard, tick << self.seq.width | sequence))
    }

    /// Returns the smallest id whose time is at or after `at`; none when there is no such id.
    ///
    /// # Errors
    /// When ids of the layout do not sort by time.
    pub fn min_id(&self, at: Micros) -> Result<Option<i64>, IdError> {
        self.first_of(i128::from(at), i128::from(self.unit()) - 1)
    }

    /// Returns the smallest id whose time is after `at`; none when there is no such id.
    ///
    /// # Errors
    /// When ids of the layout do not sort by time.
    pub fn min_id_after(&self, at: Micros) -> Result<Option<i64>, IdError> {
        self.first_of(i128::from(at), i128::from(self.unit()))
    }

    /// Returns the largest id whose time is at or before `at`; none when there is no such id.
    ///
    /// # Errors
    /// When ids of the layout do not sort by time.
    pub fn max_id(&self, at: Micros) -> Result<Option<i64>, IdError> {
        self.last_of(i128::from(at))
    }

    /// Returns the largest id whose time is before `at`; none when there is no such id.
    ///
    /// # Errors
    /// When ids of the layout do not sort by time.
    pub fn max_id_before(&self, at: Micros) -> Result<Option<i64>, IdError> {
        self.last_of(i128::from(at) - 1)
    }

    /// Returns the distance of two ids whose times are an interval apart, with days of 24 hours: [`Layout::min_id`]
    /// grows by this distance.
    ///
    /// # Errors
    /// When there is no such distance, or it is not the same everywhere.
    pub fn span(&self, months: i32, days: i32, time: Micros) -> Result<i64, SpanError> {
        self.check_time_on_top()?;
        if months != 0 {
            return Err(SpanError::Months);
        }
        let length = i128::from(days) * i128::from(DAY) + i128::from(time);
        if length <= 0 {
            return Err(SpanError::NotPositive);
        }
        let unit = i128::from(self.unit());
        if length % unit != 0 {
            return Err(SpanError::PartOfATick {
                layout: self.to_string(),
                unit: duration_text(self.unit()),
            });
        }
        u64::try_from(length / unit)
            .ok()
            .filter(|&ticks| ticks <= self.max_tick())
            .map(|ticks| self.time.put(ticks).cast_signed())
            .ok_or_else(|| SpanError::TooLong {
                layout: self.to_string(),
                longest: duration_text(self.unit().saturating_mul(self.max_tick().cast_signed())),
            })
    }

    /// Returns the first id of the tick of `at`, rounded up by `shift` microseconds and cut.
    fn first_of(&self, at: i128, shift: i128) -> Result<Option<i64>, IdError> {
        self.check_time_on_top()?;
        let age = (at - i128::from(self.epoch()) + shift).div_euclid(i128::from(self.unit()));
        let tick = u64::try_from(age.max(0))
            .ok()
            .filter(|&tick| tick <= self.max_tick());
        Ok(tick.map(|tick| self.id(0, tick << self.seq.width)))
    }

    fn last_of(&self, at: i128) -> Result<Option<i64>, IdError> {
        self.check_time_on_top()?;
        let age = (at - i128::from(self.epoch())).div_euclid(i128::from(self.unit()));
        let tick = u64::try_from(age.min(i128::from(self.max_tick()))).ok();
        Ok(tick.map(|tick| self.id(self.shard.max(), tick << self.seq.width | self.seq.max())))
    }

    fn check_time_on_top(&self) -> Result<(), IdError> {
        if self.time_on_top() {
            Ok(())
        } else {
            Err(IdError::TimeNotOnTop(self.to_string()))
        }
    }
}
