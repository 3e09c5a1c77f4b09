//! Ids as short text: digits of a radix, the first one never zero. UUIDs in the same encodings are in [`super::wide`].
//!
//! JavaScript's numbers end at 2^53; text of any of these encodings keeps every digit. Decoding is strict: an accepted
//! text is an id, and in an encoding for machines, one id has one text.

use crate::codec::check;
use thiserror::Error;

/// Reason why an id has no text, or a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each variant's message says what it is")]
pub enum EncodingError {
    #[error("unrecognized encoding: \"{0}\"")]
    UnknownName(String),
    #[error("cannot encode negative id {0}")]
    Negative(i64),
    #[error("the text has no digits")]
    Empty,
    #[error("\"{digit}\" is not a {encoding} digit")]
    NotADigit { digit: char, encoding: &'static str },
    #[error("\"{digit}\" is not a {encoding} digit, but \"{other}\" is")]
    WrongCase {
        digit: char,
        other: char,
        encoding: &'static str,
    },
    #[error("the leading digit \"{0}\" has the value zero")]
    LeadingZero(char),
    #[error("the text has {0} bytes, and at most {MAX_TEXT_BYTES} are allowed")]
    TooLong(usize),
    #[error("the value is out of range for type bigint")]
    OutOfRange,
    #[error("the check character \"{0}\" does not belong to the digits")]
    Check(char),
    #[error("the text has {found} digits, and {expected} were expected")]
    Length { found: usize, expected: usize },
    #[error("the value is out of range for type uuid")]
    TooWide,
    #[error("the last digit \"{0}\" has bits that no UUID has")]
    UnusedBits(char),
}

/// A way to write ids.
#[derive(Debug)]
pub struct Encoding {
    /// The name, in lower case.
    pub name: &'static str,
    /// The digits by their value.
    pub(super) digits: &'static [u8],
    /// The digits again, repeated so that any 6 bits are an index.
    pub(super) table: [u8; 64],
    /// The value of each byte; [`NOT_A_DIGIT`] or [`IGNORED`] where it has none.
    pub(super) values: [u8; 256],
    /// Meant for reading by eye: either case, zeros in front.
    lenient: bool,
    /// A check character follows the digits.
    pub(super) checked: bool,
    /// Texts of all ids have one length, with zeros in front: they sort as the ids do.
    padded: bool,
    /// The digits of a UUID, without the check character.
    pub(super) wide_digits: usize,
    /// The bits of a UUID's last digit that do not belong to it: 0 in an encoding of numbers, whose digits are divided
    /// from the right. The specification of an encoding of bytes divides them from the left.
    pub(super) unused_bits: u32,
}

/// The value of a byte that is not a digit.
pub(super) const NOT_A_DIGIT: u8 = 255;
/// The value of a byte that is skipped.
pub(super) const IGNORED: u8 = 254;

/// The longest text: hex, 63 bits.
pub const MAX_LENGTH: usize = 16;
/// The longest text of a UUID: hex.
pub const MAX_WIDE: usize = 32;
/// The digits of 128 bits in base 32.
pub const BASE32_DIGITS: usize = 26;

/// The longest text that is read, in bytes: encodings for people allow zeros in front and hyphens anywhere.
const MAX_TEXT_BYTES: usize = 1_048_576;

/// Checks the length of a text before anything else reads it, as it can have a gigabyte.
pub(super) fn check_text_length(text: &[u8]) -> Result<(), EncodingError> {
    match text.len() {
        ..=MAX_TEXT_BYTES => Ok(()),
        bytes => Err(EncodingError::TooLong(bytes)),
    }
}

pub(super) const fn encoding(name: &'static str, digits: &'static [u8], lenient: bool) -> Encoding {
    let mut values = [NOT_A_DIGIT; 256];
    let mut table = [b'?'; 64];
    let mut value = 0;
    while value < digits.len() {
        let digit = digits[value];
        table[value] = digit;
        values[digit as usize] = value as u8;
        if lenient {
            values[digit.to_ascii_lowercase() as usize] = value as u8;
            values[digit.to_ascii_uppercase() as usize] = value as u8;
        }
        value += 1;
    }
    Encoding {
        name,
        digits,
        table,
        values,
        lenient,
        checked: false,
        padded: false,
        wide_digits: match digits.len() {
            16 => MAX_WIDE,
            32 => BASE32_DIGITS,
            _ => 22,
        },
        unused_bits: 0,
    }
}

/// Douglas Crockford's digits, in the order of ASCII.
pub(super) const CROCKFORD: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Returns an encoding with Crockford's reading rules: O is 0, I and L are 1, and hyphens only help the eye.
const fn crockford(name: &'static str, checked: bool) -> Encoding {
    let mut it = encoding(name, CROCKFORD, true);
    it.checked = checked;
    it.values[b'O' as usize] = 0;
    it.values[b'o' as usize] = 0;
    it.values[b'I' as usize] = 1;
    it.values[b'i' as usize] = 1;
    it.values[b'L' as usize] = 1;
    it.values[b'l' as usize] = 1;
    it.values[b'-' as usize] = IGNORED;
    it
}

/// Returns the encoding of TSIDs: Crockford's digits, 13 of them, without hyphens.
const fn tsid() -> Encoding {
    let mut it = crockford("tsid", false);
    it.padded = true;
    it.values[b'-' as usize] = NOT_A_DIGIT;
    it
}

/// Returns an encoding whose specification is about bytes.
const fn of_bytes(mut encoding: Encoding) -> Encoding {
    let bits = encoding.wide_digits as u32 * encoding.digits.len().ilog2();
    encoding.unused_bits = bits - u128::BITS;
    encoding
}

/// Every encoding.
pub static ENCODINGS: [Encoding; 9] = [
    // Flickr's short links and bwmarrin/snowflake: lower case first.
    encoding(
        "base58",
        b"123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ",
        false,
    ),
    // Bitcoin's: upper case first, so texts of one length sort as their ids.
    encoding(
        "base58btc",
        b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
        false,
    ),
    // In the order of ASCII, as above.
    encoding(
        "base62",
        b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        false,
    ),
    // RFC 4648 section 5, as digits and without padding: Instagram's short codes.
    of_bytes(encoding(
        "base64url",
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        false,
    )),
    // Douglas Crockford, "Base 32", without check symbols.
    crockford("crockford", false),
    // Crockford's again, with its check symbol.
    crockford("crockford-check", true),
    // Zooko's human-oriented base 32, lower case only; as digits, as bwmarrin/snowflake has it.
    of_bytes(encoding(
        "zbase32",
        b"ybndrfg8ejkmcpqxot1uwisza345h769",
        false,
    )),
    encoding("hex", b"0123456789abcdef", true),
    // f4b6a3/tsid-creator and hypersistence-tsid, `toString`.
    tsid(),
];

/// The digits of every text that has zeros in front: 63 bits, 5 in a digit.
const PADDED_DIGITS: usize = 13;

/// Returns the encoding of that name.
#[inline]
pub fn by_name(name: &[u8]) -> Option<&'static Encoding> {
    ENCODINGS
        .iter()
        .find(|encoding| encoding.name.as_bytes() == name)
}

/// Checks the character that follows the digits of a value.
pub(super) fn verify(symbol: u8, of: u128) -> Result<(), EncodingError> {
    if check::is_symbol_of(symbol, of) {
        Ok(())
    } else {
        Err(EncodingError::Check(char::from(symbol)))
    }
}

impl Encoding {
    /// Writes an id at the end of `room`, and returns its text.
    ///
    /// # Errors
    /// When the id is negative: no system has such ids.
    #[inline]
    pub fn encode<'a>(
        &self,
        id: i64,
        room: &'a mut [u8; MAX_LENGTH],
    ) -> Result<&'a [u8], EncodingError> {
        let id = u64::try_from(id).map_err(|_| EncodingError::Negative(id))?;
        let mut end = MAX_LENGTH;
        if self.checked {
            end -= 1;
            room[end] = check::symbol(id.into());
        }
        let mut start = match self.digits.len() {
            58 => self.write::<58>(id, &mut room[..end]),
            62 => self.write::<62>(id, &mut room[..end]),
            64 => self.write::<64>(id, &mut room[..end]),
            32 => self.write::<32>(id, &mut room[..end]),
            _ => self.write::<16>(id, &mut room[..end]),
        };
        if self.padded {
            let first = end - PADDED_DIGITS;
            room[first..start].fill(self.digits[0]);
            start = first;
        }
        Ok(&room[start..])
    }

    /// Writes the digits, with the radix as a constant, so that the compiler divides by multiplication.
    #[inline]
    fn write<const RADIX: u64>(&self, mut id: u64, room: &mut [u8]) -> usize {
        let mut start = room.len();
        while start > 0 {
            start -= 1;
            room[start] = self.digits[(id % RADIX) as usize];
            id /= RADIX;
            if id == 0 {
                break;
            }
        }
        start
    }

    /// Returns whether UUIDs have texts in the encoding, too.
    #[must_use]
    pub fn is_of_uuids(&self) -> bool {
        !self.padded
    }

    /// Returns the value of one digit.
    #[must_use]
    pub fn digit(&self, digit: u8) -> Option<u8> {
        let value = self.values[usize::from(digit)];
        (value < IGNORED).then_some(value)
    }

    /// Returns the id of a text.
    ///
    /// # Errors
    /// What is wrong with it.
    #[inline]
    pub fn decode(&self, text: &[u8]) -> Result<i64, EncodingError> {
        check_text_length(text)?;
        if self.checked {
            let (digits, symbol) = self.split_check(text)?;
            let id = self.decode_digits(digits)?;
            return verify(symbol, id.unsigned_abs().into()).map(|()| id);
        }
        self.decode_digits(text)
    }

    /// Returns the digits of a text, and the check character behind them.
    pub(super) fn split_check<'a>(&self, text: &'a [u8]) -> Result<(&'a [u8], u8), EncodingError> {
        let is_read = |&byte: &u8| self.values[usize::from(byte)] != IGNORED;
        let place = text.iter().rposition(is_read).ok_or(EncodingError::Empty)?;
        if check::value(text[place]).is_none() {
            // The first character that is neither a digit nor a check character.
            let is_wrong = |&byte: &u8| {
                self.values[usize::from(byte)] == NOT_A_DIGIT && check::value(byte).is_none()
            };
            let wrong = text.iter().position(is_wrong).unwrap_or(place);
            return Err(self.bad_digit(&text[wrong..]));
        }
        Ok((&text[..place], text[place]))
    }

    #[inline]
    fn decode_digits(&self, text: &[u8]) -> Result<i64, EncodingError> {
        let radix = self.digits.len() as u64;
        let (mut id, mut count) = (0_u64, 0_usize);
        for &byte in text {
            let value = self.values[usize::from(byte)];
            if value >= IGNORED {
                if value == IGNORED {
                    continue;
                }
                return Err(self.bad_digit(text));
            }
            if id == 0 && count > 0 && !self.lenient {
                return Err(EncodingError::LeadingZero(char::from(self.digits[0])));
            }
            id = id
                .checked_mul(radix)
                .and_then(|id| id.checked_add(u64::from(value)))
                .filter(|id| id >> 63 == 0)
                .ok_or_else(|| self.too_large(text))?;
            count += 1;
        }
        if count == 0 {
            return Err(EncodingError::Empty);
        }
        if self.padded && count != PADDED_DIGITS {
            return Err(EncodingError::Length {
                found: count,
                expected: PADDED_DIGITS,
            });
        }
        Ok(id.cast_signed())
    }

    /// Returns the error of a text: a wrong digit, if it has one, says more than the range.
    #[cold]
    fn too_large(&self, text: &[u8]) -> EncodingError {
        if text
            .iter()
            .any(|&byte| self.values[usize::from(byte)] == NOT_A_DIGIT)
        {
            return self.bad_digit(text);
        }
        EncodingError::OutOfRange
    }

    /// Returns the error of the first byte that is not a digit.
    #[cold]
    pub(super) fn bad_digit(&self, text: &[u8]) -> EncodingError {
        let is_digit = |byte: u8| self.values[usize::from(byte)] != NOT_A_DIGIT;
        let place = text.iter().position(|&byte| !is_digit(byte)).unwrap_or(0);
        // Bytes that are not text in the server's encoding appear as the replacement character.
        let digit = String::from_utf8_lossy(&text[place..text.len().min(place + 4)])
            .chars()
            .next()
            .unwrap_or(char::REPLACEMENT_CHARACTER);
        let other = if digit.is_ascii_lowercase() {
            digit.to_ascii_uppercase()
        } else {
            digit.to_ascii_lowercase()
        };
        let encoding = self.name;
        if other != digit && u8::try_from(other).is_ok_and(is_digit) {
            EncodingError::WrongCase {
                digit,
                other,
                encoding,
            }
        } else {
            EncodingError::NotADigit { digit, encoding }
        }
    }
}
