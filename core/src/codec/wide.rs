//! UUIDs as text. In each encoding, all UUIDs have texts of the same length.
//!
//! So texts sort as the UUIDs do where the digits are in the order of ASCII: base58btc, base62, crockford and hex, in
//! the collation "C". The encodings that are specified for bytes, base64url and zbase32, divide the 128 bits from the
//! left, as libraries do; the others write the digits of a number, and crockford writes that of a ULID.

use crate::codec::check;
pub use crate::codec::text::{BASE32_DIGITS, MAX_WIDE};
use crate::codec::text::{
    Encoding, EncodingError, IGNORED, NOT_A_DIGIT, check_text_length, verify,
};

/// Digits that are computed in 64 bits at a time: 64^10 is 2^60.
const CHUNK: u32 = 10;

impl Encoding {
    /// Returns the number of digits of a UUID, without the check character.
    #[must_use]
    #[inline]
    pub fn wide_digits(&self) -> usize {
        self.wide_digits
    }

    /// Returns whether texts of UUIDs sort as the UUIDs do, in the collation "C".
    #[must_use]
    pub fn wide_keeps_order(&self) -> bool {
        !self.checked && self.digits.is_sorted()
    }

    /// Writes a UUID as text at the start of `room`, and returns it.
    #[inline]
    pub fn encode_wide<'a>(&self, id: u128, room: &'a mut [u8; MAX_WIDE]) -> &'a [u8] {
        let length = self.wide_digits;
        let digits = &mut room[..length];
        match self.digits.len() {
            58 => self.write_wide::<58>(id, digits),
            62 => self.write_wide::<62>(id, digits),
            64 => self.write_wide::<64>(id, digits),
            32 if self.unused_bits == 0 => digits.copy_from_slice(&self.base32(id)),
            32 => self.write_wide::<32>(id, digits),
            _ => self.write_wide::<16>(id, digits),
        }
        if self.checked {
            room[length] = check::symbol(id);
        }
        &room[..length + usize::from(self.checked)]
    }

    /// Returns the digits of a number in base 32: each is looked up by 5 bits of its own, without a division.
    #[inline]
    pub(super) fn base32(&self, id: u128) -> [u8; BASE32_DIGITS] {
        std::array::from_fn(|place| {
            let below = 5 * (BASE32_DIGITS - 1 - place);
            self.table[(id >> below) as usize & 31]
        })
    }

    #[inline]
    fn write_wide<const RADIX: u64>(&self, mut id: u128, digits: &mut [u8]) {
        let unused = self.unused_bits;
        let mut end = digits.len();
        if unused > 0 {
            end -= 1;
            digits[end] = self.digits[((id as u64) << unused & (RADIX - 1)) as usize];
            id >>= RADIX.trailing_zeros() - unused;
        }
        let radix = u128::from(const { RADIX.pow(CHUNK) });
        for chunk in digits[..end].rchunks_mut(CHUNK as usize) {
            let mut part = (id % radix) as u64;
            id /= radix;
            for digit in chunk.iter_mut().rev() {
                *digit = self.table[(part % RADIX) as usize % 64];
                part /= RADIX;
            }
        }
    }

    /// Returns the UUID of a text.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn decode_wide(&self, text: &[u8]) -> Result<u128, EncodingError> {
        check_text_length(text)?;
        if self.checked {
            let (digits, symbol) = self.split_check(text)?;
            let id = self.read_wide(digits)?;
            return verify(symbol, id).map(|()| id);
        }
        self.read_wide(text)
    }

    fn read_wide(&self, text: &[u8]) -> Result<u128, EncodingError> {
        let value_of = |byte: u8| self.values[usize::from(byte)];
        let (mut found, mut last) = (0_usize, b'0');
        for &byte in text {
            match value_of(byte) {
                NOT_A_DIGIT => return Err(self.bad_digit(text)),
                IGNORED => {}
                _ => (found, last) = (found + 1, byte),
            }
        }
        let expected = self.wide_digits;
        if found != expected {
            return Err(EncodingError::Length { found, expected });
        }
        let (radix, unused) = (self.digits.len() as u128, self.unused_bits);
        let values = text.iter().map(|&byte| value_of(byte));
        let mut id = 0_u128;
        for (place, value) in values.filter(|&value| value != IGNORED).enumerate() {
            let (radix, value) = match unused {
                1.. if place + 1 == expected => {
                    if value & ((1 << unused) - 1) != 0 {
                        return Err(EncodingError::UnusedBits(char::from(last)));
                    }
                    (radix >> unused, value >> unused)
                }
                _ => (radix, value),
            };
            id = id
                .checked_mul(radix)
                .and_then(|id| id.checked_add(value.into()))
                .ok_or(EncodingError::TooWide)?;
        }
        Ok(id)
    }
}
