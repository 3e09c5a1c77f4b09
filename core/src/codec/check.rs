//! Check characters (Douglas Crockford, "Base 32"): the value modulo 37, as one of the digits or of five characters more.
//!
//! 37 is a prime above 32, the radix, and does not divide 31. So one wrong digit changes the remainder, and so does a swap
//! of two neighbors, which changes the value by a multiple of 31.

/// The check characters by their value.
const SYMBOLS: &[u8; 37] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U";

/// Returns the check character of a value.
#[must_use]
pub fn symbol(value: u128) -> u8 {
    SYMBOLS[(value % 37) as usize]
}

/// Returns the remainder that a check character stands for: in either case, and read as Crockford's digits are.
#[must_use]
pub fn value(symbol: u8) -> Option<u8> {
    let symbol = match symbol.to_ascii_uppercase() {
        b'O' => b'0',
        b'I' | b'L' => b'1',
        other => other,
    };
    let place = SYMBOLS.iter().position(|&known| known == symbol)?;
    u8::try_from(place).ok()
}

/// Returns whether a character is the check character of a value.
#[must_use]
pub fn is_symbol_of(symbol: u8, of: u128) -> bool {
    value(symbol).is_some_and(|remainder| u128::from(remainder) == of % 37)
}
