//! Ids as short text.

use crate::codec::error::{bad_encoding, bad_id, bad_id_text};
use crate::pg::datum::text::{NewText, Text};
use mint_core::Encoding;
use mint_core::codec::text::{MAX_LENGTH, by_name};
use pgrx::prelude::*;

#[inline]
fn encoding_of(name: Text<'_>) -> &'static Encoding {
    by_name(name.0).unwrap_or_else(|| bad_encoding(name.0).raise())
}

/// Returns an id as text in base58, base58btc, base62, base64url, crockford, zbase32 or hex.
#[pg_extern(immutable, strict, parallel_safe, cost = 1)]
fn id_to_text(id: i64, encoding: default!(Text<'_>, "'base58'")) -> NewText {
    let mut room = [0; MAX_LENGTH];
    match encoding_of(encoding).encode(id, &mut room) {
        Ok(text) => NewText::new(text),
        Err(error) => bad_id(&error).raise(),
    }
}

/// Returns the id of a text that `id_to_text` returned; any other text is an error.
#[pg_extern(immutable, strict, parallel_safe, cost = 1)]
fn id_from_text(id: Text<'_>, encoding: default!(Text<'_>, "'base58'")) -> i64 {
    let encoding = encoding_of(encoding);
    encoding
        .decode(id.0)
        .unwrap_or_else(|error| bad_id_text(encoding, id.0, &error).raise())
}

extension_sql_file!(
    "../../sql/codec/text.sql",
    name = "codec_text",
    requires = [id_to_text, id_from_text]
);
