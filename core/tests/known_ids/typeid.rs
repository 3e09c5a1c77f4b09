//! The vectors of the TypeID specification 0.3, each a test of its own.

use crate::known::row;
use mint_core::EncodingError::{Length, NotADigit, TooWide, WrongCase};
use mint_core::Uuid;
use mint_core::codec::typeid;
use mint_core::codec::typeid::TypeIdError::{
    Encoding, LongPrefix, PrefixCharacter, PrefixEnd, Separator,
};
use mint_core::codec::typeid::{TypeIdError, parse, to_text};
use proptest::prelude::*;

/// The text gives the prefix and the UUID, and both give the text.
fn valid(kind: &str) {
    let row = row("typeid", kind, "");
    let text = row["input"]["typeid"].as_str().unwrap();
    let prefix = row["expected"]["prefix"].as_str().unwrap();
    let id: Uuid = row["expected"]["uuid"].as_str().unwrap().parse().unwrap();
    assert_eq!(parse(text.as_bytes()), Ok((prefix, id)));
    assert_eq!(to_text(prefix.as_bytes(), &id).as_deref(), Ok(text));
}

/// The text is refused, for this reason.
fn invalid(kind: &str, error: TypeIdError) {
    let row = row("typeid", kind, "");
    let text = row["input"]["typeid"].as_str().unwrap();
    assert_eq!(row["expected"], "ERROR");
    assert_eq!(parse(text.as_bytes()), Err(error), "{text}");
}

const fn digit(digit: char) -> TypeIdError {
    Encoding(NotADigit {
        digit,
        encoding: "TypeID",
    })
}

const fn case(digit: char, other: char) -> TypeIdError {
    Encoding(WrongCase {
        digit,
        other,
        encoding: "TypeID",
    })
}

const fn length(found: usize) -> TypeIdError {
    let expected = 26;
    Encoding(Length { found, expected })
}

vectors! {
    valid_nil: valid("nil");
    valid_one: valid("one");
    valid_ten: valid("ten");
    valid_sixteen: valid("sixteen");
    valid_thirty_two: valid("thirty-two");
    valid_max_valid: valid("max-valid");
    valid_alphabet: valid("valid-alphabet");
    valid_uuidv7: valid("valid-uuidv7");
    valid_prefix_underscore: valid("prefix-underscore");
    invalid_prefix_uppercase: invalid("prefix-uppercase", PrefixCharacter);
    invalid_prefix_numeric: invalid("prefix-numeric", PrefixCharacter);
    invalid_prefix_period: invalid("prefix-period", PrefixCharacter);
    invalid_prefix_non_ascii: invalid("prefix-non-ascii", PrefixCharacter);
    invalid_prefix_spaces: invalid("prefix-spaces", PrefixCharacter);
    invalid_prefix_64_chars: invalid("prefix-64-chars", LongPrefix(64));
    invalid_separator_empty_prefix: invalid("separator-empty-prefix", Separator);
    invalid_separator_empty: invalid("separator-empty", Separator);
    invalid_suffix_short: invalid("suffix-short", length(25));
    invalid_suffix_long: invalid("suffix-long", length(27));
    invalid_suffix_spaces: invalid("suffix-spaces", digit(' '));
    invalid_suffix_uppercase: invalid("suffix-uppercase", case('A', 'a'));
    invalid_suffix_hyphens: invalid("suffix-hyphens", digit('-'));
    invalid_suffix_wrong_alphabet: invalid("suffix-wrong-alphabet", digit('o'));
    invalid_suffix_ambiguous_crockford: invalid("suffix-ambiguous-crockford", digit('i'));
    invalid_suffix_hyphens_crockford: invalid("suffix-hyphens-crockford", digit('-'));
    invalid_suffix_overflow: invalid("suffix-overflow", Encoding(TooWide));
    invalid_prefix_underscore_start: invalid("prefix-underscore-start", PrefixEnd);
    invalid_prefix_underscore_end: invalid("prefix-underscore-end", PrefixEnd);
}

#[test]
fn every_vector_of_the_specification_has_its_test() {
    assert_eq!(crate::known::rows("typeid").len(), 9 + 19);
}

#[test]
fn a_prefix_has_at_most_63_characters() {
    let longest = [b'a'; typeid::MAX_PREFIX];
    let text = to_text(&longest, &Uuid::nil()).unwrap();
    assert_eq!(text.len(), 63 + 1 + 26);
    assert_eq!(parse(text.as_bytes()).unwrap().0.as_bytes(), longest);
    assert_eq!(to_text(&[b'a'; 64], &Uuid::nil()), Err(LongPrefix(64)));
    assert_eq!(to_text(b"User", &Uuid::nil()), Err(PrefixCharacter));
}

proptest! {
    #[test]
    fn every_typeid_comes_back(prefix in "([a-z]([a-z_]{0,61}[a-z])?)?", id: u128) {
        let id = Uuid::from_u128(id);
        let text = to_text(prefix.as_bytes(), &id).unwrap();
        prop_assert_eq!(parse(text.as_bytes()), Ok((prefix.as_str(), id)));
    }

    /// A text is accepted in one form only.
    #[test]
    fn accepted_texts_are_the_ones_given_out(text in "[a-z_]{0,3}_?[0-7][0-9a-z]{25}") {
        if let Ok((prefix, id)) = parse(text.as_bytes()) {
            prop_assert_eq!(to_text(prefix.as_bytes(), &id), Ok(text.clone()));
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(text: Vec<u8>) {
        let _ = parse(&text);
    }
}
