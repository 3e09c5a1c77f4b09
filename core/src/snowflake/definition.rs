//! The definition of a layout: its fields, their order, and the rules that they keep.

use crate::clock::Micros;

/// A run of bits inside an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Field {
    /// The number of bits below it.
    pub shift: u32,
    /// The number of its bits, 0 to 63.
    pub width: u32,
}

impl Field {
    /// Returns the largest value that fits.
    #[must_use]
    pub const fn max(self) -> u64 {
        (1 << self.width) - 1
    }

    /// Returns `value` at the field's place. Upper bits that do not fit are lost: check first.
    #[must_use]
    #[inline]
    pub const fn put(self, value: u64) -> u64 {
        (value & self.max()) << self.shift
    }

    /// Returns the field's value in `id`.
    #[must_use]
    #[inline]
    pub const fn take(self, id: u64) -> u64 {
        (id >> self.shift) & self.max()
    }
}

/// Order of the fields, from the top bit down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each name is the order that it means")]
#[repr(u8)]
pub enum Order {
    TimeNodeSeq = 0,
    TimeSeqNode = 1,
    NodeTimeSeq = 2,
    NodeSeqTime = 3,
    SeqTimeNode = 4,
    SeqNodeTime = 5,
}

impl Order {
    pub(crate) const ALL: [Order; 6] = [
        Order::TimeNodeSeq,
        Order::TimeSeqNode,
        Order::NodeTimeSeq,
        Order::NodeSeqTime,
        Order::SeqTimeNode,
        Order::SeqNodeTime,
    ];

    /// Returns the order to store for a layout without a shard, whose place does not matter, so that equal layouts have
    /// equal bytes.
    pub(crate) const fn without_shard(self) -> Order {
        match self {
            Order::TimeNodeSeq | Order::TimeSeqNode | Order::NodeTimeSeq => Order::TimeNodeSeq,
            Order::NodeSeqTime | Order::SeqTimeNode | Order::SeqNodeTime => Order::SeqTimeNode,
        }
    }

    /// Returns the fields as letters, from the top bit down.
    pub(crate) const fn letters(self) -> [u8; 3] {
        match self {
            Order::TimeNodeSeq => *b"tns",
            Order::TimeSeqNode => *b"tsn",
            Order::NodeTimeSeq => *b"nts",
            Order::NodeSeqTime => *b"nst",
            Order::SeqTimeNode => *b"stn",
            Order::SeqNodeTime => *b"snt",
        }
    }
}

/// The parameters of a layout, from which the rest is derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Definition {
    /// Order of the fields.
    pub order: Order,
    /// Bits of time.
    pub time: u32,
    /// Bits of the shard's two parts, upper and lower. A shard in one piece has no lower part; a
    /// layout without a shard has neither.
    pub shard: (u32, u32),
    /// Bits of sequence.
    pub seq: u32,
    /// Length of a tick in microseconds, 1 to 3,600,000,000.
    pub unit: u32,
    /// The start of tick 0.
    pub epoch: Micros,
    /// The first sequence of a tick is drawn from 0 to 2^start - 1; 0 starts at 0.
    pub start: u32,
}

/// The widest shard: every shard is an `integer` of SQL.
pub const MAX_SHARD_BITS: u32 = 31;

/// Longest unit: an hour, in microseconds.
pub(crate) const MAX_UNIT: u32 = 3_600_000_000;

/// -9999-01-02T01:59:59Z and 9999-12-30T22:00:00Z: the first and the last epoch that a layout's text can have.
pub(crate) const FIRST_EPOCH: Micros = -377_705_023_201_000_000;
pub(crate) const LAST_EPOCH: Micros = 253_402_207_200_000_000;

impl Definition {
    /// Returns the bits of the whole shard.
    pub(crate) const fn shard_bits(&self) -> u32 {
        self.shard.0.saturating_add(self.shard.1)
    }

    /// Returns the bits of all fields.
    pub(crate) const fn total_bits(&self) -> u32 {
        let above = self.time.saturating_add(self.shard_bits());
        above.saturating_add(self.seq)
    }

    /// Checks every rule.
    pub(crate) const fn check(&self) -> Result<(), DefinitionError> {
        let (time, shard, seq, total) = (self.time, self.shard_bits(), self.seq, self.total_bits());
        if time == 0 {
            return Err(DefinitionError::ZeroWidth("time"));
        }
        if seq == 0 {
            return Err(DefinitionError::ZeroWidth("seq"));
        }
        if self.shard.0 == 0 && self.shard.1 != 0 {
            return Err(DefinitionError::ZeroWidth("shard"));
        }
        if total > 64 || time > 63 || seq > 63 {
            return Err(DefinitionError::TooWide(total));
        }
        if shard > MAX_SHARD_BITS {
            return Err(DefinitionError::ShardTooWide(shard));
        }
        // Ids are positive, so the 64th bit stays zero: only a time of more bits can have it.
        if total == 64 && (self.order.letters()[0] != b't' || time == 1) {
            return Err(DefinitionError::SignBit);
        }
        if self.epoch < FIRST_EPOCH
            || self.epoch > LAST_EPOCH
            || self.unit == 0
            || self.unit > MAX_UNIT
            || self.start > seq
        {
            return Err(DefinitionError::OutOfRange);
        }
        Ok(())
    }

    /// Returns the places of time, shard and sequence.
    pub(crate) const fn fields(&self) -> [Field; 3] {
        let letters = self.order.letters();
        let mut fields = [Field { shift: 0, width: 0 }; 3];
        let mut shift = 0;
        let mut place = 3;
        while place > 0 {
            place -= 1;
            let (field, width) = match letters[place] {
                b't' => (0, self.time),
                b'n' => (1, self.shard_bits()),
                _ => (2, self.seq),
            };
            if width > 0 {
                fields[field] = Field { shift, width };
            }
            shift += width;
        }
        fields
    }
}

/// A rule that a definition breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DefinitionError {
    ZeroWidth(&'static str),
    TooWide(u32),
    ShardTooWide(u32),
    SignBit,
    OutOfRange,
}
