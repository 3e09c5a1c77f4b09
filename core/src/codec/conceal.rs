//! Concealed ids: a keyed permutation of the positive bigints.
//!
//! An alternating Feistel network over the bits of the id, with AES as its round function: what
//! Bellare, Rogaway and Spies describe in "The FFX Mode of Operation for Format-Preserving
//! Encryption" (2010), with 10 rounds as FF1 has (NIST SP 800-38G), xor in place of the sum of digits
//! since the digits are bits, and one block of AES per round, since all of its input fits in one:
//!
//! ```text
//! left  = the upper half of the bits, the smaller one where they are odd;  right = the lower half
//! round 0, 2, ...:  left  ^= F(round, right)        round 1, 3, ...:  right ^= F(round, left)
//! F(round, half) = the first 32 bits of AES(key, "pg_mint" 01 | bits | round | 00 00 | half), cut to the other half
//! ```
//!
//! The network permutes 0 to 2^bits - 1. Zero is no id: what becomes zero goes through once more
//! (cycle walking: Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002).
//!
//! The construction is frozen: public ids are made of it.

use aes::cipher::common::BlockSizeUser;
use aes::cipher::consts::U16;
use aes::cipher::{
    Array, BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, InOut, KeyInit,
};
use aes::{Aes128Enc, Aes256Enc};
use std::fmt;
use thiserror::Error;

/// Reason why an id cannot be concealed or revealed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each variant's message says what it is")]
pub enum ConcealError {
    #[error("key has {0} bytes, and must have 16 or 32")]
    Key(usize),
    #[error("bits must be from {MIN_BITS} to {MAX_BITS}")]
    Bits,
    #[error("id {id} is not between 1 and {max}")]
    Id { id: i64, max: i64 },
}

/// The fewest bits: SP 800-38G asks for a domain of a million, as fewer ids can be tried one by one.
pub const MIN_BITS: i32 = 20;
/// The most bits: all positive bigints.
pub const MAX_BITS: i32 = 63;

const ROUNDS: u8 = 10;

/// A key, ready for use: the schedule of its rounds is computed once.
#[derive(Clone)]
pub struct Concealer(Cipher);

#[derive(Clone)]
enum Cipher {
    Aes128(Aes128Enc),
    Aes256(Aes256Enc),
}

/// Omits the key.
impl fmt::Debug for Concealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Concealer").finish_non_exhaustive()
    }
}

impl Concealer {
    /// Prepares a key of 16 bytes (AES-128) or 32 (AES-256).
    ///
    /// # Errors
    /// When it has any other length.
    pub fn new(key: &[u8]) -> Result<Self, ConcealError> {
        let length = || ConcealError::Key(key.len());
        Ok(Self(match key.len() {
            16 => Cipher::Aes128(Aes128Enc::new_from_slice(key).map_err(|_| length())?),
            32 => Cipher::Aes256(Aes256Enc::new_from_slice(key).map_err(|_| length())?),
            _ => return Err(length()),
        }))
    }

    /// The public id of an id, both from 1 to 2^bits - 1.
    ///
    /// # Errors
    /// When `bits` is not from 20 to 63, or the id out of that range.
    #[inline]
    pub fn conceal(&self, id: i64, bits: i32) -> Result<i64, ConcealError> {
        let halves = Halves::of(id, bits)?;
        Ok(self.walk(id, |word| self.permute(halves, false, word)))
    }

    /// The id of a public id: undoes [`Concealer::conceal`] with the same key and bits. With another
    /// key or other bits the result is another id, not an error.
    ///
    /// # Errors
    /// As [`Concealer::conceal`].
    #[inline]
    pub fn reveal(&self, id: i64, bits: i32) -> Result<i64, ConcealError> {
        let halves = Halves::of(id, bits)?;
        Ok(self.walk(id, |word| self.permute(halves, true, word)))
    }

    /// Permutes until the result is not zero: twice at most, as only one word becomes zero.
    #[inline]
    fn walk(&self, id: i64, permute: impl Fn(u64) -> u64) -> i64 {
        let mut word = id.cast_unsigned();
        loop {
            word = permute(word);
            if word != 0 {
                return word.cast_signed();
            }
        }
    }

    /// The network's rounds, or the same in reverse order.
    #[inline]
    fn permute(&self, halves: Halves, reverse: bool, mut word: u64) -> u64 {
        let rounds = Rounds {
            halves,
            reverse,
            word: &mut word,
        };
        match &self.0 {
            Cipher::Aes128(aes) => aes.encrypt_with_backend(rounds),
            Cipher::Aes256(aes) => aes.encrypt_with_backend(rounds),
        }
        word
    }
}

/// The halves into which the network cuts an id.
#[derive(Debug, Clone, Copy)]
struct Halves {
    bits: u8,
    /// Width of the lower half; the upper one is as wide or a bit less. At most 32 each.
    right: u32,
    left_mask: u32,
    right_mask: u32,
}

impl Halves {
    #[inline]
    fn of(id: i64, bits: i32) -> Result<Self, ConcealError> {
        if !(MIN_BITS..=MAX_BITS).contains(&bits) {
            return Err(ConcealError::Bits);
        }
        let max = i64::MAX >> (MAX_BITS - bits);
        if !(1..=max).contains(&id) {
            return Err(ConcealError::Id { id, max });
        }
        Ok(Self::new(bits.cast_unsigned()))
    }

    #[inline]
    fn new(bits: u32) -> Self {
        let left = bits / 2;
        let right = bits - left;
        Self {
            bits: bits as u8,
            right,
            left_mask: u32::MAX >> (32 - left),
            right_mask: u32::MAX >> (32 - right),
        }
    }
}

/// All rounds over a word in one call of the cipher's backend, so that CPU features are detected once.
struct Rounds<'a> {
    halves: Halves,
    /// Each round is its own inverse, so the same rounds in reverse order undo them.
    reverse: bool,
    word: &'a mut u64,
}

impl BlockSizeUser for Rounds<'_> {
    type BlockSize = U16;
}

impl BlockCipherEncClosure for Rounds<'_> {
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, aes: &B) {
        let halves = self.halves;
        let mix = |round: u8, half: u32| {
            let [h0, h1, h2, h3] = half.to_be_bytes();
            let [p, g, u, m, i, n, t] = *b"pg_mint";
            let input = Array([
                p, g, u, m, i, n, t, 1, halves.bits, round, 0, 0, h0, h1, h2, h3,
            ]);
            let mut output = Array([0; 16]);
            aes.encrypt_block(InOut::from((&input, &mut output)));
            let Array([a, b, c, d, ..]) = output;
            u32::from_be_bytes([a, b, c, d])
        };
        let mut left = (*self.word >> halves.right) as u32;
        let mut right = *self.word as u32 & halves.right_mask;
        for place in 0..ROUNDS {
            let round = if self.reverse {
                ROUNDS - 1 - place
            } else {
                place
            };
            if round % 2 == 0 {
                left ^= mix(round, right) & halves.left_mask;
            } else {
                right ^= mix(round, left) & halves.right_mask;
            }
        }
        *self.word = u64::from(left) << halves.right | u64::from(right);
    }
}

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Every domain small enough to try it whole, smaller ones than SQL may ask for included.
    #[test]
    fn small_domains_are_permuted() {
        let concealer = Concealer::new(b"0123456789abcdef").unwrap();
        for bits in 2..=13 {
            let halves = Halves::new(bits);
            let ids = 1..1_i64 << bits;
            let mut seen = vec![false; 1 << bits];
            for id in ids.clone() {
                let public = concealer.walk(id, |word| concealer.permute(halves, false, word));
                assert!(ids.contains(&public));
                assert!(!std::mem::replace(&mut seen[public as usize], true));
                let own = concealer.walk(public, |word| concealer.permute(halves, true, word));
                assert_eq!(own, id, "{bits} bits");
            }
        }
    }
}
