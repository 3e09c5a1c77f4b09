//! Published ULIDs: the specification, pgx_ulid and oklog's library.

use crate::known::row;
use mint_core::EncodingError::{Length, NotADigit, TooWide};
use mint_core::codec::ulid;
use mint_core::uuid::version;
use mint_core::{EncodingError, Micros, Uuid};
use proptest::prelude::*;

fn text(id: &Uuid) -> String {
    String::from_utf8(ulid::to_text(id).to_vec()).unwrap()
}

fn id(text: &str) -> Result<Uuid, EncodingError> {
    ulid::parse(text.as_bytes())
}

fn timestamp(text: &str) -> Micros {
    text.parse::<jiff::Timestamp>().unwrap().as_microsecond()
}

/// Text, UUID and time of a row are one ULID.
fn check_known(kind: &str) {
    let row = row("ulid", kind, "");
    let shown = row["input"]["ulid"].as_str().unwrap();
    let read = id(shown).unwrap();
    assert_eq!(text(&read), shown);
    assert_eq!(id(&shown.to_lowercase()), Ok(read));
    if let Some(uuid) = row["expected"]["uuid"].as_str() {
        assert_eq!(read.to_string(), uuid);
    }
    if let Some(at) = row["expected"]["ts"].as_str() {
        assert_eq!(ulid::time(&read), timestamp(at));
    }
    if let Some(ms) = row["expected"]["ms"].as_i64() {
        assert_eq!(ulid::time(&read), ms * 1_000);
    }
}

#[test]
fn the_specifications_example() {
    check_known("decode");
}

#[test]
fn the_largest_ulid() {
    check_known("largest");
}

#[test]
fn pgx_ulids_example() {
    check_known("pgx_ulid");
}

#[test]
fn oklogs_example() {
    check_known("oklog");
}

/// Any ULID above `7ZZ...` is refused, as the specification demands.
#[test]
fn an_overflow_is_refused() {
    let row = row("ulid", "overflow", "");
    assert_eq!(id(row["input"]["ulid"].as_str().unwrap()), Err(TooWide));
    assert_eq!(id("ZZZZZZZZZZZZZZZZZZZZZZZZZZ"), Err(TooWide));
}

/// The specification's example of one millisecond: the next ULID is the number plus one.
#[test]
fn the_next_of_a_millisecond() {
    let row = row("ulid", "monotonic", "");
    let first = id(row["input"]["ulid"].as_str().unwrap()).unwrap();
    let next = Uuid::from_u128(first.as_u128() + 1);
    assert_eq!(text(&next), row["expected"].as_str().unwrap());
}

#[test]
fn the_first_of_a_millisecond() {
    let row = row("ulid", "pgx_ulid-min", "");
    let first = ulid::min(timestamp(row["input"]["ts"].as_str().unwrap())).unwrap();
    assert_eq!(text(&first), row["expected"].as_str().unwrap());
}

/// Letters that Crockford leaves out, and Crockford's hyphens, are no part of a ULID.
#[test]
fn other_characters_are_refused() {
    for sign in ['I', 'L', 'O', 'U', 'i', 'l', 'o', 'u', '-', ' ', 'é'] {
        let text = format!("01ARZ3NDEKTSV4RRFFQ69G5FA{sign}");
        let encoding = "ULID";
        assert_eq!(
            id(&text),
            Err(NotADigit {
                digit: sign,
                encoding
            })
        );
    }
    for (text, found) in [
        ("", 0),
        ("01ARZ3NDEKTSV4RRFFQ69G5FA", 25),
        ("01ARZ3NDEKTSV4RRFFQ69G5FAV0", 27),
    ] {
        assert_eq!(
            id(text),
            Err(Length {
                found,
                expected: 26
            })
        );
    }
}

proptest! {
    #[test]
    fn every_uuid_has_a_ulid_and_texts_sort_as_uuids(a: u128, b: u128) {
        let (a, b) = (Uuid::from_u128(a), Uuid::from_u128(b));
        prop_assert_eq!(id(&text(&a)), Ok(a));
        prop_assert_eq!(text(&a).cmp(&text(&b)), a.cmp(&b));
    }

    /// The bounds of a timestamp are those of the time, and take in every version 7 of the time.
    #[test]
    fn bounds_are_bounds(at in -1_i64..=(1 << 48) * 1_000 + 1) {
        let (min, max) = (ulid::min(at), ulid::max(at));
        prop_assert_eq!(min.is_some(), at <= ((1 << 48) - 1) * 1_000);
        prop_assert_eq!(max.is_some(), at >= 0);
        if let Some(min) = min {
            prop_assert!(ulid::time(&min) >= at);
            prop_assert!(min.is_nil() || ulid::time(&Uuid::from_u128(min.as_u128() - 1)) < at);
            prop_assert!(Some(min) <= version::v7_min(at));
        }
        if let Some(max) = max {
            prop_assert!(ulid::time(&max) <= at);
            prop_assert!(max.is_max() || ulid::time(&Uuid::from_u128(max.as_u128() + 1)) > at);
            prop_assert!(Some(max) >= version::v7_max(at));
        }
        prop_assert_eq!(ulid::min_after(at), ulid::min(at + 1));
        prop_assert_eq!(ulid::max_before(at), ulid::max(at - 1));
    }
}
