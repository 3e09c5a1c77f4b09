//! Ids and UUIDs as short text, and random ids that are only text.

use crate::codec::error::{bad_encoding, bad_id, bad_text};
use crate::pg::datum::text::{DecodedText, NewText, Text};
use crate::pg::datum::uuid::UuidValue;
use crate::pg::error::{OrReport, Report, ToReport};
use crate::pg::machine::random;
use mint_core::codec::text::{MAX_LENGTH, by_name};
use mint_core::codec::wide::MAX_WIDE;
use mint_core::family::library::nanoid::{self, NanoIdError};
use mint_core::{Encoding, Uuid};
use pgrx::prelude::*;

#[inline]
fn encoding_of(name: Text<'_>) -> &'static Encoding {
    by_name(name.0).unwrap_or_else(|| bad_encoding(name.0, |_| true).raise())
}

/// Returns the encoding of a UUID.
#[inline]
fn wide_encoding_of(name: Text<'_>) -> &'static Encoding {
    by_name(name.0)
        .filter(|encoding| encoding.is_of_uuids())
        .unwrap_or_else(|| bad_encoding(name.0, Encoding::is_of_uuids).raise())
}

/// Returns an id as text in base58, base58btc, base62, base64url, crockford, crockford-check, zbase32, hex or tsid.
#[pg_extern(sql = false)]
fn id_to_text(id: i64, encoding: Text<'_>) -> NewText {
    let mut room = [0; MAX_LENGTH];
    match encoding_of(encoding).encode(id, &mut room) {
        Ok(text) => NewText::new(text),
        Err(error) => bad_id(&error).raise(),
    }
}

/// Returns the id of a text that `id_to_text` returned; any other text is an error.
#[pg_extern(sql = false)]
fn id_from_text(id: Text<'_>, encoding: Text<'_>) -> i64 {
    let encoding = encoding_of(encoding);
    encoding.decode(id.0).unwrap_or_else(|error| {
        let name = format!("{} id", encoding.name);
        bad_text(&name, id.0, error, |text| encoding.decode(text).err()).raise()
    })
}

/// Returns a UUID as text in the encodings of `id_to_text` but tsid. All texts of an encoding have one length; those in base58btc,
/// base62, crockford and hex sort as the UUIDs do, in the collation "C".
#[pg_extern(sql = false)]
fn uuid_to_text(id: UuidValue, encoding: Text<'_>) -> NewText {
    let id = Uuid::from(id).as_u128();
    NewText::new(wide_encoding_of(encoding).encode_wide(id, &mut [0; MAX_WIDE]))
}

/// Returns the UUID of a text that `uuid_to_text` returned; any other text is an error.
#[pg_extern(sql = false)]
fn uuid_from_text(id: Text<'_>, encoding: Text<'_>) -> UuidValue {
    let encoding = wide_encoding_of(encoding);
    match encoding.decode_wide(id.0) {
        Ok(id) => Uuid::from_u128(id).into(),
        Err(error) => {
            let name = format!("{} UUID", encoding.name);
            bad_text(&name, id.0, error, |text| encoding.decode_wide(text).err()).raise()
        }
    }
}

/// Makes an id of nanoid: random characters of an alphabet, each of them equally likely, of the CSPRNG of `uuid_v4`.
#[pg_extern(sql = false)]
fn nano_id(size: i32, alphabet: DecodedText) -> DecodedText {
    DecodedText(nanoid::generate(size, &alphabet.0, random::bytes::<32>).or_report())
}

impl ToReport for NanoIdError {
    fn code(&self) -> PgSqlErrorCode {
        PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE
    }

    fn explain(&self, report: Report) -> Report {
        match self {
            Self::Size(size) => report.detail(format!("The size is {size}.")),
            Self::Alphabet(1) => report.detail("It has 1 character."),
            Self::Alphabet(count) => report.detail(format!("It has {count} characters.")),
            Self::Twice(character) => report
                .detail(format!(
                    "The character \"{character}\" would be more likely than others."
                ))
                .hint("Write each character once."),
        }
    }
}
