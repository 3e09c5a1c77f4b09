//! Texts of nanoid (github.com/ai/nanoid): random characters of an alphabet, with no time and no other mark.

use crate::family::reading::{Context, Input, Reading};
use thiserror::Error;

/// The alphabet of ids that are URL-safe: 64 characters.
pub const ALPHABET: &str = "_-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// The usual number of characters.
pub const SIZE: usize = 21;
/// The largest number of characters.
pub const MAX_SIZE: i32 = 255;
/// The largest alphabet: a byte chooses a character.
pub const MAX_ALPHABET: usize = 256;

/// Reason why there is no such id.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each variant's message says what it is")]
pub enum NanoIdError {
    #[error("size must be between 1 and {MAX_SIZE}")]
    Size(i32),
    #[error("alphabet must have between 2 and {MAX_ALPHABET} characters")]
    Alphabet(usize),
    #[error("alphabet has a character more than once")]
    Twice(char),
}

/// Returns a new id of random bytes. A byte is cut to the bits that the largest index has, and skipped if no character has
/// that index, so all characters are equally likely; more than half of the bytes are used.
///
/// # Errors
/// When the size or the alphabet is not allowed.
pub fn generate<const N: usize>(
    size: i32,
    alphabet: &str,
    random: impl FnMut() -> [u8; N],
) -> Result<String, NanoIdError> {
    let length = (1..=MAX_SIZE)
        .contains(&size)
        .then_some(size.cast_unsigned());
    let length = length.ok_or(NanoIdError::Size(size))? as usize;
    let characters: Vec<char> = alphabet.chars().collect();
    check(&characters)?;
    let mask = characters.len().next_power_of_two() - 1;
    let chosen = std::iter::repeat_with(random)
        .flatten()
        .filter_map(|byte| characters.get(usize::from(byte) & mask));
    Ok(chosen.take(length).collect())
}

fn check(characters: &[char]) -> Result<(), NanoIdError> {
    if !(2..=MAX_ALPHABET).contains(&characters.len()) {
        return Err(NanoIdError::Alphabet(characters.len()));
    }
    let mut sorted = characters.to_vec();
    sorted.sort_unstable();
    let twice = sorted.windows(2).find(|pair| pair[0] == pair[1]);
    twice.map_or(Ok(()), |pair| Err(NanoIdError::Twice(pair[0])))
}

/// Reads a text of the usual size and alphabet. It requires letters of both cases, to exclude slugs and hexadecimal
/// digits, which rejects one nanoid of 30 thousand.
pub fn nanoid(id: &Input<'_>, _: &Context<'_>) -> Vec<Reading> {
    Reading::if_text("nanoid", id, |text| {
        text.len() == SIZE
            && text.iter().all(|byte| ALPHABET.as_bytes().contains(byte))
            && text.iter().any(u8::is_ascii_lowercase)
            && text.iter().any(u8::is_ascii_uppercase)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{ALPHABET, NanoIdError, generate, nanoid};
    use crate::family::inspect::{Context, Input, inspect};

    const CONTEXT: Context<'_> = Context { now: 0, nodes: &[] };

    /// From the tests of nanoid in Rust, and in JavaScript while it cut bytes by a mask: it reads a chunk from its end.
    #[test]
    fn ids_are_those_of_the_reference_implementations() {
        assert_eq!(generate(4, "abc", || [2, 255, 0, 1]).as_deref(), Ok("cabc"));
        let chunk = || [0, 7, 7, 7, 7, 7, 3, 255, 2];
        assert_eq!(generate(4, "abcde", chunk).as_deref(), Ok("adca"));
    }

    #[test]
    fn every_character_is_equally_likely() {
        let mut state = 1_u64;
        // SplitMix64.
        let mut random = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let word = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            (word ^ word >> 31).to_be_bytes()
        };
        let wide: String = ('\u{100}'..).take(256).collect();
        for alphabet in ["ab", "0123456789", &ALPHABET[2..35], ALPHABET, &wide] {
            let kinds = alphabet.chars().count();
            let mut counts = vec![0_u32; kinds];
            for _ in 0..4_000 {
                for found in generate(255, alphabet, &mut random).unwrap().chars() {
                    counts[alphabet.chars().position(|one| one == found).unwrap()] += 1;
                }
            }
            // Chi-squared has a mean of its degrees of freedom and a variance of twice that: 5 standard deviations.
            let (expected, freedom) = (4_000.0 * 255.0 / kinds as f64, kinds as f64 - 1.0);
            let squares = counts
                .iter()
                .map(|&count| (f64::from(count) - expected).powi(2));
            let chi = squares.sum::<f64>() / expected;
            assert!(
                chi < freedom + 5.0 * (2.0 * freedom).sqrt(),
                "{alphabet}: {chi}"
            );
        }
    }

    #[test]
    fn sizes_and_alphabets_have_bounds() {
        let of = |size, alphabet: &str| generate(size, alphabet, || [7]);
        let most: String = ('\u{100}'..).take(256).collect();
        assert_eq!(of(1, "ab"), Ok("b".to_owned()));
        assert_eq!(of(255, &most).map(|id| id.chars().count()), Ok(255));
        for size in [0, -1, 256, i32::MIN, i32::MAX] {
            assert_eq!(of(size, "ab"), Err(NanoIdError::Size(size)));
        }
        assert_eq!(of(1, ""), Err(NanoIdError::Alphabet(0)));
        assert_eq!(of(1, "é"), Err(NanoIdError::Alphabet(1)));
        assert_eq!(of(1, &(most + "a")), Err(NanoIdError::Alphabet(257)));
        assert_eq!(of(1, "aéboé"), Err(NanoIdError::Twice('é')));
    }

    #[test]
    fn a_text_is_a_nanoid_if_it_is_nothing_else() {
        let id = b"V1StGXR8_Z5jdHi6B-myT";
        let readings = inspect(&Input::Text(id), &CONTEXT);
        assert_eq!(readings.len(), 1);
        assert_eq!(readings[0].format, "nanoid");
        assert!((readings[0].likelihood - 0.5).abs() < 0.01);
        for other in [
            "a-slug-of-21-letters-", "V1StGXR8_Z5jdHi6B-my", "V1StGXR8_Z5jdHi6B+myT",
        ] {
            assert_eq!(nanoid(&Input::Text(other.as_bytes()), &CONTEXT), []);
        }
    }
}
