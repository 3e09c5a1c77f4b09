//! TypeIDs: UUIDs as text with their type in front.

use crate::codec::error::{bad_prefix, bad_text};
use crate::pg::datum::text::{NewText, Text};
use crate::pg::datum::uuid::UuidValue;
use mint_core::Uuid;
use mint_core::codec::typeid;
use pgrx::prelude::*;

fn parse(text: Text<'_>) -> (&str, Uuid) {
    typeid::parse(text.0).unwrap_or_else(|error| {
        bad_text("TypeID", text.0, error, |text| typeid::parse(text).err()).raise()
    })
}

/// Returns the TypeID of a prefix, which can be empty, and a UUID of any version.
#[pg_extern(sql = false)]
fn typeid_of(prefix: Text<'_>, id: UuidValue) -> NewText {
    match typeid::to_text(prefix.0, &id.into()) {
        Ok(text) => NewText::new(text.as_bytes()),
        Err(error) => bad_prefix(prefix.0, &error).raise(),
    }
}

/// Returns the UUID of a TypeID.
#[pg_extern(sql = false)]
fn typeid_uuid(id: Text<'_>) -> UuidValue {
    parse(id).1.into()
}

/// Returns the prefix of a TypeID; an empty text if it has none.
#[pg_extern(sql = false)]
fn typeid_prefix(id: Text<'_>) -> NewText {
    NewText::new(parse(id).0.as_bytes())
}

/// Returns whether a text is a TypeID with that prefix: for the CHECK of a domain. No text is an error, but a prefix that
/// no TypeID can have is.
#[pg_extern(sql = false)]
fn typeid_check(id: Text<'_>, prefix: Text<'_>) -> bool {
    match typeid::check_prefix(prefix.0) {
        Ok(prefix) => typeid::parse(id.0).is_ok_and(|(its, _)| its == prefix),
        Err(error) => bad_prefix(prefix.0, &error).raise(),
    }
}
