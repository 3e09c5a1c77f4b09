//! A layout: which bits of a 64-bit id hold the time, the shard and the sequence.

use crate::bytes::hash::fibonacci;
use crate::clock::Micros;
use crate::snowflake::definition::{Definition, DefinitionError, Field, Order};
use crate::snowflake::error::LayoutError;

/// The part of a layout that decides which ids are equal: the key of a lane is this and the shard.
///
/// It has the epoch, the unit and the places of time, shard and sequence, but not the width of the time, the split of
/// the shard or the start of a tick. So layouts that could issue the same id share their lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LayoutKey {
    pub(crate) shape: u64,
    pub(crate) epoch: u64,
}

impl LayoutKey {
    /// Returns 16 bits that differ from layout to layout, for small tables.
    #[must_use]
    pub fn spread(self) -> u64 {
        fibonacci(self.shape ^ self.epoch.rotate_left(32)) >> 48
    }
}

/// A checked layout with what is derived from it, ready for minting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    definition: Definition,
    /// The place of the time.
    pub time: Field,
    /// The place of the shard; width 0 when the layout has none.
    pub shard: Field,
    /// The place of the sequence.
    pub seq: Field,
    max_tick: u64,
    key: LayoutKey,
    /// The unit's reciprocal: see [`Layout::ticks`].
    reciprocal: u64,
    reciprocal_shift: u32,
}

impl From<DefinitionError> for LayoutError {
    fn from(error: DefinitionError) -> Self {
        match error {
            DefinitionError::ZeroWidth(field) => LayoutError::ZeroWidth(field),
            DefinitionError::TooWide(bits) => LayoutError::TooWide(bits),
            DefinitionError::ShardTooWide(bits) => LayoutError::ShardTooWide(bits),
            DefinitionError::SignBit => LayoutError::SignBit,
            DefinitionError::OutOfRange => LayoutError::BadBytes(Layout::VERSION),
        }
    }
}

impl Layout {
    /// Length of the stored form in bytes.
    pub const BYTES: usize = 20;
    /// First byte of the stored form.
    pub const VERSION: u8 = 1;

    /// Checks a definition and derives the rest.
    ///
    /// # Errors
    /// The rule that the definition breaks.
    pub fn new(definition: Definition) -> Result<Layout, LayoutError> {
        Ok(Layout::derive(definition)?)
    }

    /// Does the same as [`Layout::new`], for the compiler as well.
    pub(crate) const fn derive(mut definition: Definition) -> Result<Layout, DefinitionError> {
        if definition.shard_bits() == 0 {
            definition.order = definition.order.without_shard();
        }
        if let Err(error) = definition.check() {
            return Err(error);
        }
        let Definition { unit, epoch, .. } = definition;
        let [time, shard, seq] = definition.fields();
        let sign = definition.total_bits() == 64;
        let shape = (unit as u64) << 32
            | (time.shift as u64) << 24
            | (shard.shift as u64) << 18
            | (shard.width as u64) << 12
            | (seq.shift as u64) << 6
            | seq.width as u64;
        // The smallest shift with 2^shift >= unit.
        let reciprocal_shift = u32::BITS - (unit - 1).leading_zeros();
        Ok(Layout {
            definition,
            time,
            shard,
            seq,
            max_tick: time.max() >> sign as u32,
            key: LayoutKey {
                shape,
                epoch: epoch.cast_unsigned(),
            },
            // For a unit of a power of two it is 2^63 + 1; otherwise it is at most 2^64 - 1. It always fits.
            reciprocal: ((1_u128 << (63 + reciprocal_shift)) / unit as u128) as u64 + 1,
            reciprocal_shift,
        })
    }

    /// Returns how many whole ticks fit into `age` microseconds, which are less than 2^63.
    ///
    /// It multiplies by the reciprocal, rounded up, as a division would be the slowest step of minting. The result is
    /// exact below 2^63 (Granlund and Montgomery, *Division by Invariant Integers using Multiplication*, theorem 4.2,
    /// with N = 63).
    #[must_use]
    #[inline]
    pub const fn ticks(&self, age: u64) -> u64 {
        // The age is doubled, so that the result is the upper half of the product.
        let product = (age << 1) as u128 * self.reciprocal as u128;
        (product >> 64) as u64 >> self.reciprocal_shift
    }

    /// Returns the start of a tick; none where 64 bits of microseconds cannot hold it.
    #[must_use]
    pub fn tick_start(&self, tick: u64) -> Option<Micros> {
        // In 128 bits, because an age can need more than 64 if the epoch is long ago.
        i64::try_from(i128::from(tick) * i128::from(self.unit()) + i128::from(self.epoch())).ok()
    }

    /// Returns the start of a word's tick; the end of time where 64 bits of microseconds cannot hold it.
    #[must_use]
    #[inline]
    pub fn word_start_saturating(&self, word: u64) -> Micros {
        i64::try_from(word >> self.seq.width)
            .ok()
            .and_then(|tick| tick.checked_mul(self.unit()))
            .and_then(|age| age.checked_add(self.epoch()))
            .unwrap_or(Micros::MAX)
    }

    /// Returns the first word whose tick starts at or after a timestamp. If the timestamp is past the layout's end, so
    /// is the tick.
    #[must_use]
    #[cold]
    pub fn word_at(&self, at: Micros) -> u64 {
        let age = at.saturating_sub(self.epoch()).max(0).unsigned_abs();
        let tick = age.div_ceil(self.unit().unsigned_abs());
        tick.min(self.max_tick() + 1) << self.seq.width
    }

    /// Returns the end of the last tick; none where 64 bits of microseconds cannot hold it.
    #[must_use]
    pub fn end(&self) -> Option<Micros> {
        self.tick_start(self.max_tick() + 1)
    }

    /// Returns the definition that the layout was made from.
    #[must_use]
    pub const fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Returns the key of its lanes, without the shard.
    #[must_use]
    #[inline]
    pub const fn key(&self) -> LayoutKey {
        self.key
    }

    /// Returns the length of a tick in microseconds.
    #[must_use]
    #[inline]
    pub const fn unit(&self) -> Micros {
        self.definition.unit as Micros
    }

    /// Returns the start of tick 0.
    #[must_use]
    #[inline]
    pub const fn epoch(&self) -> Micros {
        self.definition.epoch
    }

    /// Returns the last tick whose ids are positive and fit the time field.
    #[must_use]
    #[inline]
    pub const fn max_tick(&self) -> u64 {
        self.max_tick
    }

    /// Returns the mask of a tick's random first sequence; 0 when a tick starts at 0.
    #[must_use]
    #[inline]
    pub const fn start_mask(&self) -> u64 {
        (1 << self.definition.start) - 1
    }

    /// Returns the width of the lower part of a split shard; 0 when the shard is in one piece.
    #[must_use]
    pub const fn shard_split(&self) -> u32 {
        self.definition.shard.1
    }

    /// Returns true when ids sort by time.
    #[must_use]
    pub const fn time_on_top(&self) -> bool {
        matches!(
            self.definition.order,
            Order::TimeNodeSeq | Order::TimeSeqNode
        )
    }

    /// Returns the most ids that one shard can mint in a second, for ever.
    #[must_use]
    pub fn ids_per_second(&self) -> f64 {
        // Both are exact in a double: at most 2^63 and 3.6e9.
        (self.seq.max() as f64 + 1.0) * 1e6 / f64::from(self.definition.unit)
    }

    /// Returns the stored form: version, widths, order and start, a zero, unit and epoch, big-endian.
    ///
    /// It has the fields themselves, never a name, so that defaults, indexes and partition bounds keep their meaning.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let d = &self.definition;
        let mut bytes = [0; Self::BYTES];
        let widths = [d.time, d.shard.0, d.shard.1, d.seq].map(|width| width as u8);
        bytes[0] = Self::VERSION;
        bytes[1..5].copy_from_slice(&widths);
        bytes[5] = d.order as u8;
        bytes[6] = d.start as u8;
        bytes[8..12].copy_from_slice(&d.unit.to_be_bytes());
        bytes[12..20].copy_from_slice(&d.epoch.to_be_bytes());
        bytes
    }

    /// Reads the stored form, checking it as its text would be.
    ///
    /// # Errors
    /// An unknown version or order, a byte that must be zero, or a definition that breaks a rule.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Result<Layout, LayoutError> {
        let bad = LayoutError::BadBytes(Self::VERSION);
        let [
            version,
            time,
            upper,
            lower,
            seq,
            order,
            start,
            zero,
            rest @ ..,
        ] = *bytes;
        let [u0, u1, u2, u3, epoch @ ..] = rest;
        if version != Self::VERSION || zero != 0 {
            return Err(bad);
        }
        let order = *Order::ALL.get(usize::from(order)).ok_or(bad)?;
        Layout::new(Definition {
            order,
            time: time.into(),
            shard: (upper.into(), lower.into()),
            seq: seq.into(),
            unit: u32::from_be_bytes([u0, u1, u2, u3]),
            epoch: i64::from_be_bytes(epoch),
            start: start.into(),
        })
    }
}
