//! Ids as text: published texts, and that nothing is lost.

use crate::known::{ids, number, row, rows};
use mint_core::EncodingError;
use mint_core::codec::text;
use mint_core::codec::text::{ENCODINGS, MAX_LENGTH};
use mint_core::codec::typeid;
use mint_core::codec::typeid::TypeIdError;
use proptest::prelude::*;

fn text(name: &str, id: i64) -> String {
    let mut room = [0; MAX_LENGTH];
    let encoding = text::by_name(name.as_bytes()).unwrap();
    String::from_utf8(encoding.encode(id, &mut room).unwrap().to_vec()).unwrap()
}

fn id(name: &str, text: &str) -> Result<i64, EncodingError> {
    text::by_name(name.as_bytes())
        .unwrap()
        .decode(text.as_bytes())
}

#[test]
fn bwmarrins_base58_is_ours() {
    let row = row("encode", "base58", "4jgmnx8Js8A");
    let (number, shown) = (
        number(&row["input"]["id"]),
        row["expected"].as_str().unwrap(),
    );
    assert_eq!(text("base58", number), shown);
    assert_eq!(id("base58", shown), Ok(number));
}

#[test]
fn instagrams_short_code_is_base64url() {
    let row = row("instagram", "decode", "BsOGulcndj-");
    let code = row["input"]["shortcode"].as_str().unwrap();
    assert_eq!(id("base64url", code), Ok(number(&row["input"]["id"])));
    assert_eq!(text("base64url", number(&row["input"]["id"])), code);
}

/// The sequences of both README files, and the time that one of them prints.
#[test]
fn tsids_are_those_of_both_references() {
    let published = rows("tsid");
    for row in published.iter().filter(|row| row["kind"] == "text") {
        let (number, shown) = (
            number(&row["input"]["id"]),
            row["expected"].as_str().unwrap(),
        );
        assert_eq!(text("tsid", number), shown);
        assert_eq!(id("tsid", shown), Ok(number));
        assert_eq!(id("tsid", &shown.to_lowercase()), Ok(number));
    }
    let layout: mint_core::Layout = "tsid".parse().unwrap();
    let at = |row: &serde_json::Value| {
        let at: jiff::Timestamp = row["expected"].as_str().unwrap().parse().unwrap();
        Ok(at.as_microsecond())
    };
    for row in published.iter().filter(|row| row["kind"] == "sequence") {
        let texts = row["input"]["texts"].as_array().unwrap();
        let first = id("tsid", texts[0].as_str().unwrap()).unwrap();
        for (number, shown) in (first..).zip(texts) {
            assert_eq!(text("tsid", number), shown.as_str().unwrap());
            assert_eq!(layout.time_of(number), at(row));
        }
        assert_eq!(texts.len(), 8);
    }

    let row = row("tsid", "time", "0123456789ABC");
    let number = id("tsid", row["input"]["text"].as_str().unwrap()).unwrap();
    assert_eq!(layout.time_of(number), at(&row));
    for (wrong, error) in [("123456789ABC", (12, 13)), ("00123456789ABC", (14, 13))] {
        let (found, expected) = error;
        assert_eq!(
            id("tsid", wrong),
            Err(EncodingError::Length { found, expected })
        );
    }
    assert_eq!(id("tsid", "0123456789ABi"), id("tsid", "0123456789AB1"));
    assert_eq!(id("tsid", "0123456789ABu"), Err(not_a_digit('u', "tsid")));
    assert_eq!(id("tsid", "012345-6789AB"), Err(not_a_digit('-', "tsid")));
    // An id of 64 bits is refused: the reference has such ids from 2089 on.
    assert_eq!(id("tsid", "FZZZZZZZZZZZZ"), Err(EncodingError::OutOfRange));
}

#[test]
fn the_first_and_last_ids_have_these_texts() {
    for (name, zero, last) in [
        ("base58", "1", "npL6MjP8Qfc"),
        ("base58btc", "1", "NQm6nKp8qFC"),
        ("base62", "0", "AzL8n0Y58m7"),
        ("base64url", "A", "H__________"),
        ("crockford", "0", "7ZZZZZZZZZZZZ"),
        ("crockford-check", "00", "7ZZZZZZZZZZZZ5"),
        ("zbase32", "y", "8999999999999"),
        ("hex", "0", "7fffffffffffffff"),
        ("tsid", "0000000000000", "7ZZZZZZZZZZZZ"),
    ] {
        assert_eq!((name, text(name, 0).as_str()), (name, zero));
        assert_eq!((name, text(name, i64::MAX).as_str()), (name, last));
    }
}

/// Exhaustively: all texts of one and two bytes are the first ids, each one once, but for the
/// encodings that people type. `check.rs` has those with a check character.
#[test]
fn all_short_texts_are_one_id_each() {
    let unchecked = ENCODINGS
        .iter()
        .filter(|encoding| !["crockford-check", "tsid"].contains(&encoding.name));
    for (encoding, radix) in unchecked.zip([58, 58, 62, 64, 32, 32, 16]) {
        let one = (0..=127).map(|byte| vec![byte]);
        let two = (0..=127).flat_map(|a| (0..=127).map(move |b| vec![a, b]));
        let texts = one.chain(two);
        let mut ids: Vec<i64> = texts
            .filter_map(|text| encoding.decode(&text).ok())
            .collect();
        ids.sort_unstable();
        if ["crockford", "hex"].contains(&encoding.name) {
            ids.dedup();
        }
        assert!(ids.into_iter().eq(0..radix * radix), "{}", encoding.name);
    }
}

#[test]
fn crockford_and_hex_are_read_as_people_write_them() {
    assert_eq!(id("crockford", "7zzz-zzzz-zzzzz"), Ok(i64::MAX));
    assert_eq!(id("crockford", "0oO1iIlL"), id("crockford", "00011111"));
    assert_eq!(id("crockford", "0001"), Ok(1));
    assert_eq!(id("hex", "00000000000000fF"), Ok(255));
    assert_eq!(id("crockford", "-"), Err(EncodingError::Empty));
    assert_eq!(id("crockford", "1U"), Err(not_a_digit('U', "crockford")));
}

/// A letter in the other case is the same digit, another, or none: that depends on the encoding.
#[test]
fn only_some_encodings_can_tell_a_flipped_case() {
    let none = |name: &'static str| {
        let mut none = String::new();
        let mut same = true;
        for letter in b'A'..=b'z' {
            // Behind a digit that is not zero, so that none is a zero in front.
            let (one, other) = (letter, letter ^ 0x20);
            let front = if name == "zbase32" { "b" } else { "2" };
            let of = |letter: u8| id(name, &format!("{front}{}", char::from(letter)));
            if !letter.is_ascii_alphabetic() {
                continue;
            }
            if let Ok(it) = of(one) {
                match of(other) {
                    Ok(flipped) => same &= flipped == it,
                    Err(error) => {
                        assert_eq!(error, wrong_case(char::from(other), char::from(one), name));
                        none.push(char::from(one));
                    }
                }
            }
        }
        (none, same)
    };
    assert_eq!(none("base58"), ("Lio".to_owned(), false));
    assert_eq!(none("base58btc"), ("Lio".to_owned(), false));
    assert_eq!(none("base62"), (String::new(), false));
    assert_eq!(none("base64url"), (String::new(), false));
    assert_eq!(
        none("zbase32"),
        ("abcdefghijkmnopqrstuwxyz".to_owned(), true)
    );
    assert_eq!(none("crockford"), (String::new(), true));
    assert_eq!(none("hex"), (String::new(), true));
}

fn not_a_digit(digit: char, encoding: &'static str) -> EncodingError {
    EncodingError::NotADigit { digit, encoding }
}

fn wrong_case(digit: char, other: char, encoding: &'static str) -> EncodingError {
    EncodingError::WrongCase {
        digit,
        other,
        encoding,
    }
}

#[test]
fn texts_that_are_no_ids_are_refused() {
    use EncodingError::*;
    for (name, text, error) in [
        ("base58", "", Empty),
        ("base58", "4jgmnx8Js8AA", OutOfRange),
        ("base58", "npL6MjP8Qfd", OutOfRange),
        ("base62", "AzL8n0Y58m8", OutOfRange),
        // A product that still fits 64 bits, and a sum that does not.
        ("base62", "LygHa16AHYF", OutOfRange),
        ("base62", "LygHa16AHYG", OutOfRange),
        ("base62", "zzzzzzzzzzzzzzzzzzzzzzzz", OutOfRange),
        ("zbase32", "9999999999999", OutOfRange),
        ("hex", "8000000000000000", OutOfRange),
        ("hex", "00000000000000000000008000000000000000", OutOfRange),
        ("crockford", "8000000000000", OutOfRange),
        ("base58", "0", not_a_digit('0', "base58")),
        ("base58", "4jgmI", wrong_case('I', 'i', "base58")),
        ("base58", "4jgml", wrong_case('l', 'L', "base58")),
        ("base58", "14", LeadingZero('1')),
        ("base58", "11", LeadingZero('1')),
        ("base62", "01", LeadingZero('0')),
        ("base62", " 1", not_a_digit(' ', "base62")),
        ("base62", "1\n", not_a_digit('\n', "base62")),
        ("base62", "-1", not_a_digit('-', "base62")),
        ("base62", "1é", not_a_digit('é', "base62")),
        ("zbase32", "YB", wrong_case('Y', 'y', "zbase32")),
        ("zbase32", "b0", not_a_digit('0', "zbase32")),
        ("hex", "0x1", not_a_digit('x', "hex")),
        ("hex", "zzzzzzzzzzzzzzzzzzzzzzzz", not_a_digit('z', "hex")),
    ] {
        assert_eq!(id(name, text), Err(error), "{name} {text}");
    }
    assert_eq!(
        id("zbase32", "YB").unwrap_err().to_string(),
        "\"Y\" is not a zbase32 digit, but \"y\" is"
    );
    let hex = text::by_name(b"hex").unwrap();
    assert_eq!(hex.decode(b"1\xff"), Err(not_a_digit('\u{fffd}', "hex")));
    assert_eq!(hex.encode(-1, &mut [0; MAX_LENGTH]), Err(Negative(-1)));
    assert!(text::by_name(b"Base58").is_none() && text::by_name(b"").is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_encoding_gives_back_every_id(id in ids()) {
        for encoding in &ENCODINGS {
            let mut room = [0; MAX_LENGTH];
            let text = encoding.encode(id, &mut room).unwrap();
            prop_assert_eq!(encoding.decode(text), Ok(id));
        }
    }

    /// In an encoding for machines, an id has one accepted text.
    #[test]
    fn accepted_texts_are_the_ones_given_out(text in "[0-9A-Za-z_-]{0,13}") {
        for encoding in &ENCODINGS {
            if let Ok(id) = encoding.decode(text.as_bytes()) {
                let mut room = [0; MAX_LENGTH];
                let given = encoding.encode(id, &mut room).unwrap();
                match encoding.name {
                    "crockford" | "crockford-check" | "hex" | "tsid" => prop_assert_eq!(encoding.decode(given), Ok(id)),
                    _ => prop_assert_eq!(given, text.as_bytes()),
                }
            }
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(text: Vec<u8>) {
        for encoding in &ENCODINGS {
            let _ = encoding.decode(&text);
        }
    }
}

/// A text can have a gigabyte: its length is checked before anything else reads it.
#[test]
fn a_text_that_is_too_long_is_not_read() {
    let longest = "0".repeat(1_048_575) + "7";
    assert_eq!(id("hex", &longest), Ok(7));
    let long = "é".repeat(524_289);
    for encoding in &ENCODINGS {
        let error = EncodingError::TooLong(1_048_578);
        assert_eq!(encoding.decode(long.as_bytes()), Err(error.clone()));
        assert_eq!(encoding.decode_wide(long.as_bytes()), Err(error));
    }
    let error = TypeIdError::Encoding(EncodingError::TooLong(1_048_578));
    assert_eq!(typeid::check_prefix(long.as_bytes()), Err(error.clone()));
    assert_eq!(typeid::parse(long.as_bytes()), Err(error));
}
