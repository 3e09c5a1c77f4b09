//! Ids that hide their content: FF1 over the bits of the id.
//!
//! FF1 is the format-preserving encryption of NIST SP 800-38G (2016), here with radix 2: the numeral string is
//! the id's bits, the most significant one first. A message is at least 20 bits, revision 1's minimum of a million
//! values. So other languages read and write public ids with any library that has FF1.
//!
//! FF1 permutes 0 to 2^bits - 1. Zero is not an id: an id that becomes zero is encrypted once more (cycle walking:
//! Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002).
//!
//! At radix 2 all of a round's input but the tweak fits in one block of AES, and a sum modulo 2^m is an addition.

use aes::cipher::common::BlockSizeUser;
use aes::cipher::consts::U16;
use aes::cipher::{
    Array, BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, InOut, KeyInit,
};
use aes::{Aes128Enc, Aes192Enc, Aes256Enc};
use std::fmt;
use thiserror::Error;

/// Why an id cannot be concealed or revealed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each variant's message says what it is")]
pub enum ConcealError {
    #[error("key must be 16, 24, or 32 bytes long")]
    Key(usize),
    #[error("bits must be between {MIN_BITS} and {MAX_BITS}")]
    Bits,
    #[error("tweak must be at most {MAX_TWEAK} bytes long")]
    Tweak(usize),
    #[error("id {id} is out of range")]
    Id { id: i64, max: i64 },
}

/// SP 800-38G, revision 1: with fewer than a million values, an attacker can try all of them.
pub const MIN_BITS: i32 = 20;
/// All positive bigints.
pub const MAX_BITS: i32 = 63;
/// Bytes of a tweak, at most.
pub const MAX_TWEAK: usize = 64;

const ROUNDS: u8 = 10;

/// A key with its schedule computed.
#[derive(Clone)]
pub struct Concealer(Cipher);

#[derive(Clone)]
enum Cipher {
    Aes128(Aes128Enc),
    Aes192(Aes192Enc),
    Aes256(Aes256Enc),
}

/// Shows no key.
impl fmt::Debug for Concealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Concealer").finish_non_exhaustive()
    }
}

impl Concealer {
    /// Prepares a key of 16 bytes (AES-128), 24 (AES-192) or 32 (AES-256).
    ///
    /// # Errors
    /// When the key has any other length.
    pub fn new(key: &[u8]) -> Result<Self, ConcealError> {
        let length = |_| ConcealError::Key(key.len());
        Ok(Self(match key.len() {
            16 => Cipher::Aes128(Aes128Enc::new_from_slice(key).map_err(length)?),
            24 => Cipher::Aes192(Aes192Enc::new_from_slice(key).map_err(length)?),
            32 => Cipher::Aes256(Aes256Enc::new_from_slice(key).map_err(length)?),
            bytes => return Err(ConcealError::Key(bytes)),
        }))
    }

    /// Encrypts an id. It and the result are from 1 to 2^bits - 1.
    ///
    /// # Errors
    /// When `bits` is not from 20 to 63, the tweak is longer than 64 bytes, or the id out of that range.
    #[inline]
    pub fn conceal(&self, id: i64, bits: i32, tweak: &[u8]) -> Result<i64, ConcealError> {
        let halves = Halves::checked(id, bits, tweak)?;
        Ok(self.walk(id, halves, tweak, false))
    }

    /// Decrypts an id: undoes [`Concealer::conceal`] with the same key, bits and tweak. With any other, the result is
    /// another id, not an error.
    ///
    /// # Errors
    /// As [`Concealer::conceal`].
    #[inline]
    pub fn reveal(&self, id: i64, bits: i32, tweak: &[u8]) -> Result<i64, ConcealError> {
        let halves = Halves::checked(id, bits, tweak)?;
        Ok(self.walk(id, halves, tweak, true))
    }

    /// Permutes until the result is not zero: at most twice, as only one word becomes zero.
    #[inline]
    fn walk(&self, id: i64, halves: Halves, tweak: &[u8], reverse: bool) -> i64 {
        let mut word = id.cast_unsigned();
        loop {
            let rounds = Rounds {
                halves,
                tweak,
                reverse,
                word: &mut word,
            };
            match &self.0 {
                Cipher::Aes128(aes) => aes.encrypt_with_backend(rounds),
                Cipher::Aes192(aes) => aes.encrypt_with_backend(rounds),
                Cipher::Aes256(aes) => aes.encrypt_with_backend(rounds),
            }
            if word != 0 {
                return word.cast_signed();
            }
        }
    }
}

/// The halves of a word in FF1: `u` upper bits and `v` lower ones. `v` is 32 at most, and `u` equal or one less.
#[derive(Debug, Clone, Copy)]
struct Halves {
    u: u32,
    v: u32,
}

impl Halves {
    #[inline]
    fn checked(id: i64, bits: i32, tweak: &[u8]) -> Result<Self, ConcealError> {
        if !(MIN_BITS..=MAX_BITS).contains(&bits) {
            return Err(ConcealError::Bits);
        }
        if tweak.len() > MAX_TWEAK {
            return Err(ConcealError::Tweak(tweak.len()));
        }
        let max = i64::MAX >> (MAX_BITS - bits);
        if !(1..=max).contains(&id) {
            return Err(ConcealError::Id { id, max });
        }
        Ok(Self::new(bits.cast_unsigned()))
    }

    #[inline]
    fn new(bits: u32) -> Self {
        let u = bits / 2;
        Self { u, v: bits - u }
    }

    /// Returns `b` of the standard: the bytes that a half takes.
    #[inline]
    fn bytes(self) -> u32 {
        self.v.div_ceil(8)
    }

    /// Returns `P` of the standard: version 1, method 2, addition 1, radix 2, ten rounds, `u`, `n`, the tweak's length.
    #[inline]
    fn parameters(self, tweak: &[u8]) -> u128 {
        let [n, t] = [self.u + self.v, tweak.len() as u32];
        0x0102_0100_0002_0a00_u128 << 64
            | u128::from(self.u) << 64
            | u128::from(n) << 32
            | u128::from(t)
    }
}

/// All rounds over a word in one call of the cipher's backend, which checks once for the processor's AES.
struct Rounds<'a> {
    halves: Halves,
    tweak: &'a [u8],
    reverse: bool,
    word: &'a mut u64,
}

impl BlockSizeUser for Rounds<'_> {
    type BlockSize = U16;
}

impl BlockCipherEncClosure for Rounds<'_> {
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, aes: &B) {
        let encrypt = |block: u128| {
            let input = Array(block.to_be_bytes());
            let mut output = Array([0; 16]);
            aes.encrypt_block(InOut::from((&input, &mut output)));
            u128::from_be_bytes(output.0)
        };
        let Halves { u, v } = self.halves;
        let round_shift = 8 * self.halves.bytes();
        // `PRF` of the standard is the last block of CBC over P and Q. The prefix before the round and the half is the
        // same in all rounds.
        let mut cbc_prefix = encrypt(self.halves.parameters(self.tweak));
        let (blocks, rest) = self.tweak.as_chunks();
        for block in blocks {
            cbc_prefix = encrypt(cbc_prefix ^ u128::from_be_bytes(*block));
        }
        let mut last = [0; 16];
        last[..rest.len()].copy_from_slice(rest);
        cbc_prefix ^= u128::from_be_bytes(last);
        if rest.len() as u32 * 8 + round_shift + 8 > u128::BITS {
            cbc_prefix = encrypt(cbc_prefix);
        }
        // The first eight bytes of the block are `y`.
        let round_function = |round: u8, half: u64| {
            let block = encrypt(cbc_prefix ^ u128::from(round) << round_shift ^ u128::from(half));
            (block >> 64) as u64
        };
        let [left_mask, right_mask] = [u, v].map(|width| u64::MAX >> (64 - width));
        let mut left = *self.word >> v & left_mask;
        let mut right = *self.word & right_mask;
        for place in 0..ROUNDS {
            if self.reverse {
                let round = ROUNDS - 1 - place;
                if round.is_multiple_of(2) {
                    left = left.wrapping_sub(round_function(round, right)) & left_mask;
                } else {
                    right = right.wrapping_sub(round_function(round, left)) & right_mask;
                }
            } else if place.is_multiple_of(2) {
                left = left.wrapping_add(round_function(place, right)) & left_mask;
            } else {
                right = right.wrapping_add(round_function(place, left)) & right_mask;
            }
        }
        *self.word = left << v | right;
    }
}

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Every domain small enough to try it whole, smaller ones than SQL can ask for included.
    #[test]
    fn small_domains_are_permuted() {
        let concealer = Concealer::new(b"0123456789abcdef").unwrap();
        for bits in 2..=13 {
            let halves = Halves::new(bits);
            let ids = 1..1_i64 << bits;
            let mut seen = vec![false; 1 << bits];
            for id in ids.clone() {
                let public = concealer.walk(id, halves, b"", false);
                assert!(ids.contains(&public));
                assert!(!std::mem::replace(&mut seen[public as usize], true));
                let own = concealer.walk(public, halves, b"", true);
                assert_eq!(own, id, "{bits} bits");
            }
        }
    }
}
