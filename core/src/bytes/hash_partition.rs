//! The partitions of a table that PostgreSQL partitions by the hash of one column, and the test whether one has a key.
//!
//! Rows are on disk by this hash, so it never changes: Bob Jenkins's lookup3 of 2006, as PostgreSQL has adapted it
//! (src/common/hashfn.c), with a seed of its own, reduced by the modulus of the partition.

use thiserror::Error;

/// Reason why there is no such partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each variant's message says what it is")]
pub enum HashPartitionError {
    #[error("modulus must be greater than zero")]
    Modulus,
    #[error("remainder {remainder} is out of range for modulus {modulus}")]
    Remainder { modulus: u32, remainder: i32 },
}

/// A partition: what `FOR VALUES WITH (MODULUS ..., REMAINDER ...)` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashPartition {
    modulus: u32,
    remainder: u32,
}

impl HashPartition {
    /// Returns the partition of a modulus and a remainder.
    ///
    /// # Errors
    /// When the modulus is not positive, or the remainder not from 0 to below it.
    pub fn new(modulus: i32, remainder: i32) -> Result<Self, HashPartitionError> {
        let modulus = u32::try_from(modulus)
            .ok()
            .filter(|&modulus| modulus > 0)
            .ok_or(HashPartitionError::Modulus)?;
        match u32::try_from(remainder) {
            Ok(remainder) if remainder < modulus => Ok(Self { modulus, remainder }),
            _ => Err(HashPartitionError::Remainder { modulus, remainder }),
        }
    }

    /// Returns the modulus: one of so many keys belongs to the partition.
    #[must_use]
    pub const fn modulus(self) -> u32 {
        self.modulus
    }

    /// Returns whether a key of type bigint belongs to this partition.
    #[inline]
    #[must_use]
    pub fn has_number(self, key: i64) -> bool {
        self.has_hash(hash_of_number(key))
    }

    /// Returns whether a key of type uuid belongs to this partition.
    #[inline]
    #[must_use]
    pub fn has_uuid(self, key: [u8; 16]) -> bool {
        self.has_hash(hash_of_uuid(key))
    }

    #[inline]
    fn has_hash(self, hash: u64) -> bool {
        // PostgreSQL combines the hashes of all key columns, beginning with 0. With one column, this adds a constant.
        let combined = hash.wrapping_add(0x49a0_f4dd_15e5_a8e3);
        combined % u64::from(self.modulus) == u64::from(self.remainder)
    }
}

/// The seed of partitioning by hash.
const SEED: u64 = 0x7a5b_2236_7996_dcfd;

/// The state of lookup3.
type State = [u32; 3];

/// Returns the state before the first byte of a key.
const fn initial_state(length: u32) -> State {
    let start = 0x9e37_79b9_u32.wrapping_add(length).wrapping_add(3_923_095);
    let [seed_above, seed_below] = [(SEED >> 32) as u32, SEED as u32];
    mix([
        start.wrapping_add(seed_above),
        start.wrapping_add(seed_below),
        start,
    ])
}

/// Returns `hashint8extended(key, SEED)`. Keys of one value have one hash, whatever integer type they are of.
#[inline]
#[must_use]
pub fn hash_of_number(key: i64) -> u64 {
    const SEEDED: State = initial_state(4);
    let [low, high] = [key as u32, (key >> 32) as u32];
    let [a, b, c] = SEEDED;
    let word = low ^ if key >= 0 { high } else { !high };
    finish([a.wrapping_add(word), b, c])
}

/// Returns `uuid_hash_extended(key, SEED)`. Words are in the machine's byte order, as in the server.
#[inline]
#[must_use]
pub fn hash_of_uuid(key: [u8; 16]) -> u64 {
    const SEEDED: State = initial_state(16);
    let word = |at: usize| u32::from_ne_bytes([key[at], key[at + 1], key[at + 2], key[at + 3]]);
    let [a, b, c] = SEEDED;
    let [a, b, c] = mix([
        a.wrapping_add(word(0)),
        b.wrapping_add(word(4)),
        c.wrapping_add(word(8)),
    ]);
    finish([a.wrapping_add(word(12)), b, c])
}

/// Mixes the three words, reversibly.
#[inline]
const fn mix([mut a, mut b, mut c]: State) -> State {
    macro_rules! step {
        ($x:ident, $y:ident, $z:ident, $bits:literal) => {
            $x = $x.wrapping_sub($z) ^ $z.rotate_left($bits);
            $z = $z.wrapping_add($y);
        };
    }
    step!(a, b, c, 4);
    step!(b, c, a, 6);
    step!(c, a, b, 8);
    step!(a, b, c, 16);
    step!(b, c, a, 19);
    step!(c, a, b, 4);
    [a, b, c]
}

/// Mixes the three words for the last time, and returns two of them.
#[inline]
const fn finish([mut a, mut b, mut c]: State) -> u64 {
    macro_rules! step {
        ($x:ident, $y:ident, $bits:literal) => {
            $x = ($x ^ $y).wrapping_sub($y.rotate_left($bits));
        };
    }
    step!(c, b, 14);
    step!(a, c, 11);
    step!(b, a, 25);
    step!(c, b, 16);
    step!(a, c, 4);
    step!(b, a, 14);
    step!(c, b, 24);
    (b as u64) << 32 | c as u64
}
