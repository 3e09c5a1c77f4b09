//! TiDB's AUTO_RANDOM: a counter below, the shard of its transaction above.
//!
//! From the top bit of a bigint: the sign (0), reserved bits (0), the shard, the counter. With a
//! range of 64 bits nothing is reserved, and the form is that of SHARD_ROW_ID_BITS too.

use crate::bytes::hash::splitmix64;
use thiserror::Error;

/// Reason why an id cannot be made, or is not valid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each variant's message says what it is")]
pub enum AutoRandomError {
    #[error("shard_bits must be between 1 and 15")]
    ShardBits,
    #[error("range_bits must be between 32 and 64")]
    RangeBits,
    #[error("value {value} is out of range for auto_random({shard_bits}, {range_bits})")]
    Value {
        value: i64,
        max: i64,
        shard_bits: u32,
        range_bits: u32,
    },
    #[error("id {id} is not valid for auto_random({shard_bits}, {range_bits})")]
    NotAnId {
        id: i64,
        shard_bits: u32,
        range_bits: u32,
    },
}

/// The widths of the parts of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AutoRandom {
    shard_bits: u32,
    range_bits: u32,
}

impl AutoRandom {
    /// Returns the widths of ids with so many bits for the shard and in total, the sign included.
    ///
    /// # Errors
    /// When `shard_bits` is not from 1 to 15, or `range_bits` not from 32 to 64, TiDB's own limits.
    #[inline]
    pub fn new(shard_bits: i32, range_bits: i32) -> Result<Self, AutoRandomError> {
        let within = |bits: i32, limits: std::ops::RangeInclusive<i32>| {
            limits.contains(&bits).then_some(bits.cast_unsigned())
        };
        Ok(Self {
            shard_bits: within(shard_bits, 1..=15).ok_or(AutoRandomError::ShardBits)?,
            range_bits: within(range_bits, 32..=64).ok_or(AutoRandomError::RangeBits)?,
        })
    }

    #[inline]
    fn value_bits(self) -> u32 {
        self.range_bits - 1 - self.shard_bits
    }

    /// Returns the largest counter: how many ids there can be.
    #[must_use]
    #[inline]
    pub fn max_value(self) -> i64 {
        (1 << self.value_bits()) - 1
    }

    /// Returns the largest id.
    #[must_use]
    pub fn max_id(self) -> i64 {
        i64::MAX >> (64 - self.range_bits)
    }

    /// Returns the id of a counter in the shard that `seed` draws. Equal seeds draw equal shards, and
    /// neighboring ones unrelated shards.
    ///
    /// # Errors
    /// When the counter is negative or has too many bits.
    #[inline]
    pub fn id(self, seed: i64, value: i64) -> Result<i64, AutoRandomError> {
        if !(0..=self.max_value()).contains(&value) {
            return Err(self.bad_value(value));
        }
        let shard = splitmix64(seed.cast_unsigned()) >> (64 - self.shard_bits);
        Ok((shard << self.value_bits()).cast_signed() | value)
    }

    /// Returns the shard of an id.
    ///
    /// # Errors
    /// When the id is negative or has reserved bits.
    #[inline]
    pub fn shard(self, id: i64) -> Result<i64, AutoRandomError> {
        self.check(id).map(|id| id >> self.value_bits())
    }

    /// Returns the counter of an id.
    ///
    /// # Errors
    /// When the id is negative or has reserved bits.
    #[inline]
    pub fn value(self, id: i64) -> Result<i64, AutoRandomError> {
        self.check(id).map(|id| id & self.max_value())
    }

    #[inline]
    fn check(self, id: i64) -> Result<i64, AutoRandomError> {
        if (0..=self.max_id()).contains(&id) {
            Ok(id)
        } else {
            Err(self.not_an_id(id))
        }
    }

    #[cold]
    fn bad_value(self, value: i64) -> AutoRandomError {
        AutoRandomError::Value {
            value,
            max: self.max_value(),
            shard_bits: self.shard_bits,
            range_bits: self.range_bits,
        }
    }

    #[cold]
    fn not_an_id(self, id: i64) -> AutoRandomError {
        AutoRandomError::NotAnId {
            id,
            shard_bits: self.shard_bits,
            range_bits: self.range_bits,
        }
    }
}
