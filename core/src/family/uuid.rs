//! The formats of 128 bits: UUIDs of every version, ULIDs and TypeIDs.

use crate::codec::{typeid as typeid_text, ulid as ulid_text};
use crate::family::reading::{Context, Input, Reading};
use crate::uuid::version;
use ::uuid::Uuid;

/// Reads a UUID in any of its usual forms.
pub fn uuid(id: &Input<'_>, context: &Context<'_>) -> Vec<Reading> {
    let id = match *id {
        Input::Uuid(id) => Some(id),
        Input::Text(text) => Uuid::try_parse_ascii(text).ok(),
        _ => None,
    };
    id.map(|id| of_uuid(&id, context)).into_iter().collect()
}

/// Reads a UUID by its version.
pub fn of_uuid(id: &Uuid, context: &Context<'_>) -> Reading {
    let mut reading = Reading::new("uuid", id.hyphenated().to_string());
    if id.is_nil() || id.is_max() {
        return reading.constant(id.is_nil());
    }
    reading = match version::version(id) {
        Some(version @ 1..=8) => reading.version(version.to_string()),
        _ => return reading.part("variant", version::variant(id)).odd(),
    };
    if let Some(at) = version::time(id) {
        reading = reading.time(at, context.is_plausible(at));
    }
    if let Some(node) = version::node(id) {
        let pairs = node.map(|byte| format!("{byte:02x}"));
        reading = reading.node(Some(pairs.join(":")));
    }
    if let Some(sequence) = version::clock_sequence(id) {
        reading = reading.sequence(sequence.into());
    }
    if let Some((domain, local_id)) = version::local(id) {
        reading = reading
            .part("domain", i64::from(domain))
            .part("local_id", i64::from(local_id));
    }
    reading
}

/// Reads a ULID: a text by its 26 digits, a UUID by its bits.
pub fn ulid(id: &Input<'_>, context: &Context<'_>) -> Vec<Reading> {
    let id = match *id {
        Input::Uuid(id) => Some(id),
        Input::Text(text) => {
            let as_uuid = || Uuid::try_parse_ascii(text).ok();
            ulid_text::parse(text).ok().or_else(as_uuid)
        }
        _ => None,
    };
    id.map(|id| of_ulid(&id, context)).into_iter().collect()
}

fn of_ulid(id: &Uuid, context: &Context<'_>) -> Reading {
    let at = ulid_text::time(id);
    let random = id.as_u128() & ((1 << 80) - 1);
    let reading = Reading::new("ulid", ascii(&ulid_text::to_text(id)));
    let reading = if id.is_nil() || id.is_max() {
        reading.constant(id.is_nil())
    } else {
        reading.time(at, context.is_plausible(at))
    };
    reading
        .part("uuid", id.hyphenated().to_string())
        .part("random", format!("{random:020x}"))
}

/// Reads a TypeID, with or without a prefix.
pub fn typeid(id: &Input<'_>, context: &Context<'_>) -> Vec<Reading> {
    let read = id.text().and_then(|text| typeid_text::parse(text).ok());
    let readings = read.map(|(prefix, id)| {
        let inner = of_uuid(&id, context);
        let text = typeid_text::to_text(prefix.as_bytes(), &id).unwrap_or_default();
        Reading {
            format: "typeid",
            canonical: text,
            ..inner
        }
        .part("prefix", prefix)
        .part("uuid", id.hyphenated().to_string())
    });
    readings.into_iter().collect()
}

/// Returns digits as text.
pub fn ascii(digits: &[u8]) -> String {
    digits.iter().copied().map(char::from).collect()
}
