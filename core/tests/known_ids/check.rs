//! Check characters: Crockford's example, and that no single slip of a hand or an ear passes.

use crate::known::{random, row};
use mint_core::EncodingError::{self, Check, Empty, NotADigit};
use mint_core::codec::check;
use mint_core::codec::text::{self, Encoding, MAX_LENGTH};
use mint_core::codec::wide::MAX_WIDE;

/// The characters of the encoding: digits, and what a check character can be besides.
const SYMBOLS: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U";

fn encoding() -> &'static Encoding {
    text::by_name(b"crockford-check").unwrap()
}

fn write(id: i64) -> Vec<u8> {
    encoding()
        .encode(id, &mut [0; MAX_LENGTH])
        .unwrap()
        .to_vec()
}

fn read(text: &str) -> Result<i64, EncodingError> {
    encoding().decode(text.as_bytes())
}

/// Ids of every length, and many long ones.
fn ids(count: usize) -> impl Iterator<Item = i64> {
    let ids = random().zip((1..64).cycle());
    ids.map(|(word, shift)| (word >> shift).cast_signed())
        .take(count)
}

/// The characters that are read as this one: O as 0, I and L as 1, and the other case.
fn are_same(a: u8, b: u8) -> bool {
    check::value(a).is_some() && check::value(a) == check::value(b)
}

#[test]
fn the_check_character_is_the_remainder_of_37() {
    let row = row("crockford", "check", "");
    assert_eq!(write(1234), row["expected"].as_str().unwrap().as_bytes());
    for (value, symbol) in (0..37).zip(SYMBOLS.bytes()) {
        assert_eq!(check::symbol(value), symbol);
        assert_eq!(check::symbol(value + 37 * 1_000_003), symbol);
        assert_eq!(check::value(symbol), Some(value as u8));
    }
}

fn assert_refused(id: i64, typed: &[u8]) {
    let read = encoding().decode(typed);
    assert!(
        read.is_err(),
        "{id}: {} is {read:?}",
        String::from_utf8_lossy(typed)
    );
}

/// Exhaustively: each place of each text with each other byte.
#[test]
fn any_single_wrong_character_is_an_error() {
    for id in ids(3_000) {
        let text = write(id);
        for place in 0..text.len() {
            // A hyphen is no character: see below.
            for wrong in (0..=255).filter(|&byte| byte != b'-' && !are_same(byte, text[place])) {
                let mut typed = text.clone();
                typed[place] = wrong;
                assert_refused(id, &typed);
            }
        }
    }
}

#[test]
fn any_swap_of_neighbors_is_an_error() {
    for id in ids(100_000) {
        let text = write(id);
        for place in 1..text.len() {
            if text[place - 1] != text[place] {
                let mut typed = text.clone();
                typed.swap(place - 1, place);
                assert_refused(id, &typed);
            }
        }
    }
}

/// The same of UUIDs, whose texts have one length: there, a character that is lost or doubled is an error too.
#[test]
fn any_slip_in_a_uuid_is_an_error() {
    for (a, b) in random().zip(random().skip(1)).take(200) {
        let id = u128::from(a) << 64 | u128::from(b);
        let mut room = [0; MAX_WIDE];
        let text = encoding().encode_wide(id, &mut room).to_vec();
        assert_eq!(encoding().decode_wide(&text), Ok(id));
        for place in 0..text.len() {
            for wrong in (0..=255).filter(|&byte| !are_same(byte, text[place])) {
                let mut typed = text.clone();
                typed[place] = wrong;
                assert!(encoding().decode_wide(&typed).is_err(), "{id}");
            }
            let mut typed = text.clone();
            typed.remove(place);
            assert!(encoding().decode_wide(&typed).is_err(), "{id}");
            typed.insert(place, text[place]);
            typed.insert(place, text[place]);
            assert!(encoding().decode_wide(&typed).is_err(), "{id}");
            if place > 0 && text[place - 1] != text[place] {
                let mut typed = text.clone();
                typed.swap(place - 1, place);
                assert!(encoding().decode_wide(&typed).is_err(), "{id}");
            }
        }
    }
}

/// Hyphens are read over wherever they are, zeros in front too, and either case.
#[test]
fn texts_are_read_as_people_write_them() {
    for id in ids(1_000) {
        let text = String::from_utf8(write(id)).unwrap();
        let hyphens: String = text.chars().flat_map(|sign| ['-', sign]).collect();
        for typed in [
            text.to_lowercase(),
            format!("{hyphens}-"),
            format!("00{text}"),
        ] {
            assert_eq!(read(&typed), Ok(id), "{typed}");
        }
        let (digits, _) = text.split_at(text.len() - 1);
        assert_eq!(
            text::by_name(b"crockford")
                .unwrap()
                .decode(digits.as_bytes()),
            Ok(id)
        );
    }
}

#[test]
fn texts_without_digits_or_with_other_signs_are_refused() {
    for (text, error) in [
        ("", Empty),
        ("-", Empty),
        ("0", Empty),
        ("U", Empty),
        ("16JE", Check('E')),
        (
            "16J!",
            NotADigit {
                digit: '!',
                encoding: "crockford-check",
            },
        ),
        (
            "T1DG73U ",
            NotADigit {
                digit: ' ',
                encoding: "crockford-check",
            },
        ),
        (
            "1*6J",
            NotADigit {
                digit: '*',
                encoding: "crockford-check",
            },
        ),
    ] {
        assert_eq!(read(text), Err(error), "{text}");
    }
}
