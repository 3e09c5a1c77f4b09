//! A layout: which bits of a 64-bit id hold the time, the node and the sequence.

use crate::clock::Micros;
use crate::snowflake::error::LayoutError;

/// A run of bits inside an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Field {
    /// How many bits stand below it.
    pub shift: u32,
    /// How many bits it has, 0 to 63.
    pub width: u32,
}

impl Field {
    /// The largest value that fits.
    #[must_use]
    pub const fn max(self) -> u64 {
        (1 << self.width) - 1
    }

    /// `value` at the field's place. The value fits, or its upper bits are lost: check first.
    #[must_use]
    #[inline]
    pub const fn put(self, value: u64) -> u64 {
        (value & self.max()) << self.shift
    }

    /// The field's value in `id`.
    #[must_use]
    #[inline]
    pub const fn take(self, id: u64) -> u64 {
        (id >> self.shift) & self.max()
    }
}

/// The order of the fields, from the top bit down.
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

    /// The one order that stands for all that differ only in where a node of no bits is, so that
    /// equal layouts have equal bytes.
    const fn without_node(self) -> Order {
        match self {
            Order::TimeNodeSeq | Order::TimeSeqNode | Order::NodeTimeSeq => Order::TimeNodeSeq,
            Order::NodeSeqTime | Order::SeqTimeNode | Order::SeqNodeTime => Order::SeqTimeNode,
        }
    }

    /// The fields as letters, from the top bit down.
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

/// What a layout is, before anything is derived from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Definition {
    /// Order of the fields.
    pub order: Order,
    /// Bits of time.
    pub time: u32,
    /// Bits of the node's two parts, upper and lower. A node in one piece has no lower part; a
    /// layout without a node has neither.
    pub node: (u32, u32),
    /// Bits of sequence.
    pub seq: u32,
    /// Length of a tick in microseconds, 1 to 3,600,000,000.
    pub unit: u32,
    /// The moment of tick 0.
    pub epoch: Micros,
    /// The first sequence of a tick is drawn from 0 to 2^start - 1; 0 starts at 0.
    pub start: u32,
}

/// What makes two ids equal: the key of a lane is this and the node.
///
/// Holds epoch, unit, and where time, node and sequence stand; not how wide the time is, how the
/// node is split, nor how a tick starts. So layouts that could issue the same id share their lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LayoutKey {
    pub(crate) shape: u64,
    pub(crate) epoch: u64,
}

impl LayoutKey {
    /// A few bits that differ from layout to layout, for small tables.
    #[must_use]
    pub fn spread(self) -> u64 {
        (self.shape ^ self.epoch.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48
    }
}

/// A checked layout with what is derived from it, ready for minting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    definition: Definition,
    /// Where the time stands.
    pub time: Field,
    /// Where the node stands; width 0 when the layout has none.
    pub node: Field,
    /// Where the sequence stands.
    pub seq: Field,
    max_tick: u64,
    key: LayoutKey,
    /// The unit's reciprocal: see [`Layout::ticks`].
    reciprocal: u64,
    reciprocal_shift: u32,
}

/// A rule that a definition breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    ZeroWidth(&'static str),
    TooWide(u32),
    SignBit,
    OutOfRange,
}

impl From<Fault> for LayoutError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::ZeroWidth(field) => LayoutError::ZeroWidth(field),
            Fault::TooWide(bits) => LayoutError::TooWide(bits),
            Fault::SignBit => LayoutError::SignBit,
            Fault::OutOfRange => LayoutError::BadBytes(Layout::VERSION),
        }
    }
}

/// Longest unit: an hour, in microseconds.
pub(crate) const MAX_UNIT: u32 = 3_600_000_000;

/// -9999-01-02T01:59:59Z and 9999-12-30T22:00:00Z: the epochs that a layout's text can say.
pub(crate) const FIRST_EPOCH: Micros = -377_705_023_201_000_000;
pub(crate) const LAST_EPOCH: Micros = 253_402_207_200_000_000;

impl Layout {
    /// Length of the stored form in bytes.
    pub const BYTES: usize = 20;
    /// First byte of the stored form.
    pub const VERSION: u8 = 1;

    /// Checks a definition and derives the rest.
    ///
    /// # Errors
    /// Which rule the definition breaks.
    pub fn new(definition: Definition) -> Result<Layout, LayoutError> {
        Ok(Layout::derive(definition)?)
    }

    /// As [`Layout::new`], for the compiler as well.
    pub(crate) const fn derive(definition: Definition) -> Result<Layout, Fault> {
        let Definition {
            order,
            time,
            node,
            seq,
            unit,
            epoch,
            start,
        } = definition;
        if time == 0 {
            return Err(Fault::ZeroWidth("time"));
        }
        if seq == 0 {
            return Err(Fault::ZeroWidth("seq"));
        }
        if node.0 == 0 && node.1 != 0 {
            return Err(Fault::ZeroWidth("node"));
        }
        let node_bits = node.0.saturating_add(node.1);
        let total = time.saturating_add(node_bits).saturating_add(seq);
        if total > 64 || time > 63 || seq > 63 || node_bits > 62 {
            return Err(Fault::TooWide(total));
        }
        let order = if node_bits == 0 {
            order.without_node()
        } else {
            order
        };
        let definition = Definition {
            order,
            ..definition
        };
        let letters = order.letters();
        // Ids are positive: the 64th bit can only be the time's, and is given up.
        if total == 64 && (letters[0] != b't' || time == 1) {
            return Err(Fault::SignBit);
        }
        if epoch < FIRST_EPOCH || epoch > LAST_EPOCH {
            return Err(Fault::OutOfRange);
        }
        if unit == 0 || unit > MAX_UNIT || start > seq {
            return Err(Fault::OutOfRange);
        }
        let mut fields = [Field { shift: 0, width: 0 }; 3];
        let mut shift = 0;
        let mut place = 3;
        while place > 0 {
            place -= 1;
            let (slot, width) = match letters[place] {
                b't' => (0, time),
                b'n' => (1, node_bits),
                _ => (2, seq),
            };
            fields[slot] = Field {
                shift: if width == 0 { 0 } else { shift },
                width,
            };
            shift += width;
        }
        let [time, node, seq] = fields;
        let max_tick = if total == 64 {
            time.max() >> 1
        } else {
            time.max()
        };
        let shape = (unit as u64) << 32
            | (time.shift as u64) << 24
            | (node.shift as u64) << 18
            | (node.width as u64) << 12
            | (seq.shift as u64) << 6
            | seq.width as u64;
        let key = LayoutKey {
            shape,
            epoch: epoch.cast_unsigned(),
        };
        // The smallest shift with 2^shift >= unit.
        let reciprocal_shift = u32::BITS - (unit - 1).leading_zeros();
        Ok(Layout {
            definition,
            time,
            node,
            seq,
            max_tick,
            key,
            // At most 2^64 - 1, but for a unit of a power of two, where it is 2^63 + 1.
            reciprocal: ((1_u128 << (63 + reciprocal_shift)) / unit as u128) as u64 + 1,
            reciprocal_shift,
        })
    }

    /// How many whole ticks fit into `age` microseconds, which are less than 2^63.
    ///
    /// A multiplication by the reciprocal, rounded up, in place of a division, which would be the
    /// dearest step of minting. Exact below 2^63 (Granlund and Montgomery, *Division by Invariant
    /// Integers using Multiplication*, theorem 4.2, with N = 63).
    #[must_use]
    #[inline]
    pub const fn ticks(&self, age: u64) -> u64 {
        // Twice the age, so that the upper half of the product is what is wanted.
        let product = (age << 1) as u128 * self.reciprocal as u128;
        (product >> 64) as u64 >> self.reciprocal_shift
    }

    /// What the layout was made from.
    #[must_use]
    pub const fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The key of its lanes, less the node.
    #[must_use]
    #[inline]
    pub const fn key(&self) -> LayoutKey {
        self.key
    }

    /// Length of a tick in microseconds.
    #[must_use]
    #[inline]
    pub const fn unit(&self) -> Micros {
        self.definition.unit as Micros
    }

    /// The moment of tick 0.
    #[must_use]
    #[inline]
    pub const fn epoch(&self) -> Micros {
        self.definition.epoch
    }

    /// The last tick whose ids are positive and fit the time field.
    #[must_use]
    #[inline]
    pub const fn max_tick(&self) -> u64 {
        self.max_tick
    }

    /// How many first sequences a tick draws from, as a mask; 0 when it starts at 0.
    #[must_use]
    #[inline]
    pub const fn start_mask(&self) -> u64 {
        (1 << self.definition.start) - 1
    }

    /// Width of the lower part of a split node; 0 when the node is in one piece.
    #[must_use]
    pub const fn node_split(&self) -> u32 {
        self.definition.node.1
    }

    /// Whether ids sort by time.
    #[must_use]
    pub const fn time_on_top(&self) -> bool {
        matches!(
            self.definition.order,
            Order::TimeNodeSeq | Order::TimeSeqNode
        )
    }

    /// The most ids that one node can mint in a second, for ever.
    #[must_use]
    pub fn ids_per_second(&self) -> f64 {
        // Both are exact in a double: at most 2^63 and 3.6e9.
        (self.seq.max() as f64 + 1.0) * 1e6 / f64::from(self.definition.unit)
    }

    /// The stored form: version, widths, order and start, a zero, unit and epoch, big-endian.
    ///
    /// The fields themselves, never a name, so that what a default, an index or a partition bound
    /// holds keeps its meaning.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let d = &self.definition;
        let mut bytes = [0; Self::BYTES];
        let widths = [d.time, d.node.0, d.node.1, d.seq].map(|width| width as u8);
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
            node: (upper.into(), lower.into()),
            seq: seq.into(),
            unit: u32::from_be_bytes([u0, u1, u2, u3]),
            epoch: i64::from_be_bytes(epoch),
            start: start.into(),
        })
    }
}
