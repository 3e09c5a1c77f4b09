//! Snowflakes and UUIDs as `id_to_text` and `uuid_to_text` write them, in each encoding, also behind a prefix such as
//! `cus_`; and texts of other formats behind a prefix.

use crate::codec::text::{ENCODINGS, Encoding};
use crate::codec::typeid;
use crate::family::number::{plain, snowflakes, unix};
use crate::family::reading::{Context, Input, Reading};
use crate::family::uuid::of_uuid;
use crate::family::{FAMILIES, Stored};
use ::uuid::Uuid;

/// Reads a text by each encoding. Almost any word is a number, so only those that can be ids of today are read further.
pub fn encoded(id: &Input<'_>, context: &Context<'_>) -> Vec<Reading> {
    let Some(text) = id.text() else {
        return Vec::new();
    };
    let mut readings = by_encodings(text, context);
    // A hyphen inside an id is one of its digits, or of a word.
    let hyphen = text.iter().rposition(|&byte| byte == b'-');
    let is_mark = |&(place, &byte): &(usize, &u8)| byte == b'_' || Some(place) == hyphen;
    let marks = text.iter().enumerate().filter(is_mark);
    for (place, &mark) in marks.skip_while(|(place, _)| *place == 0) {
        let words = text[..place].split(|&byte| byte == b'-');
        let words = words.map(|word| typeid::check_prefix(word).ok().filter(|it| !it.is_empty()));
        let Some(words) = words.collect::<Option<Vec<_>>>() else {
            continue;
        };
        let prefix = words.join("-");
        // A UUID behind a prefix in Crockford's digits is a TypeID.
        let is_of_typeids = mark == b'_' && !prefix.contains('-');
        let is_typeid = |reading: &Reading| {
            is_of_typeids && reading.format == "uuid" && reading.has_part("encoding", "crockford")
        };
        let rest = &text[place + 1..];
        let ids = by_encodings(rest, context).into_iter();
        let ids = ids.filter(|reading| reading.format != "integer" && !is_typeid(reading));
        let ids = ids.chain(with_time(rest, is_of_typeids, context));
        readings.extend(ids.map(|reading| reading.part("prefix", prefix.clone())));
    }
    readings
}

/// Reads a text as a UUID, and by each format that has a time. A ULID in lower case is a TypeID.
fn with_time(
    text: &[u8],
    is_of_typeids: bool,
    context: &Context<'_>,
) -> impl Iterator<Item = Reading> {
    let readings = FAMILIES
        .iter()
        .filter(|family| family.stored != Stored::Number && family.name != "typeid")
        .flat_map(|family| (family.read)(&Input::Text(text), context));
    let is_typeid = is_of_typeids && !text.iter().any(u8::is_ascii_uppercase);
    let is_no_ulid = is_typeid || Uuid::try_parse_ascii(text).is_ok();
    readings.filter(move |reading| match reading.format {
        "ulid" if is_no_ulid => false,
        "uuid" => reading.is_plausible(),
        _ => reading.time.is_some() && reading.is_plausible(),
    })
}

fn by_encodings(text: &[u8], context: &Context<'_>) -> Vec<Reading> {
    let readings = ENCODINGS.iter().flat_map(|encoding| {
        let readings = by_encoding(encoding, text, context);
        readings.map(|reading| reading.part("encoding", encoding.name))
    });
    let weighed = readings.map(|reading| {
        if reading.format != "snowflake" {
            return reading;
        }
        let is_usual = |&&(encoding, layout, _): &&(&str, &str, f64)| {
            reading.has_part("encoding", encoding) && reading.version.as_deref() == Some(layout)
        };
        let bits = USUAL.iter().find(is_usual).map_or(UNUSUAL, |usual| usual.2);
        reading.surprising(bits)
    });
    weighed.collect()
}

/// Layouts whose ids are usually written in an encoding: Instagram's short codes, TSIDs, and those of bwmarrin/snowflake;
/// and their rarity there, in bits. A text that begins like a short code is rather one than a random id of YouTube, of which
/// a sixteenth begin so, and half are no number of 63 bits.
const USUAL: [(&str, &str, f64); 3] = [
    ("base64url", "instagram", -4.0),
    ("tsid", "tsid", 0.0),
    ("base58", "twitter", 0.0),
];
/// The rarity of all other ids in an encoding, in bits.
const UNUSUAL: f64 = 10.0;

fn by_encoding(
    encoding: &Encoding,
    text: &[u8],
    context: &Context<'_>,
) -> impl Iterator<Item = Reading> {
    let number = encoding.decode(text).ok();
    let number = number.filter(|_| !is_rather_decimal(encoding, text, context));
    let mut readings = number.map_or_else(Vec::new, |number| snowflakes(number, context));
    readings.retain(Reading::is_worth_showing);
    if encoding.name == "hex" && text.iter().all(u8::is_ascii_digit) {
        // Ten of sixteen digits are decimal ones.
        let bits = 0.68 * text.len() as f64;
        readings = readings.into_iter().map(|it| it.surprising(bits)).collect();
    }
    if let (true, Some(number)) = (readings.is_empty(), number) {
        readings.push(plain(number).odd());
    }
    // Only formats that write all ids with the same number of digits write zeros in front. One short code of a hundred has
    // letters of only one case, as all slugs do.
    let is_odd = match encoding.name {
        "crockford" => text.starts_with(b"0"),
        "base64url" => {
            !text.iter().any(u8::is_ascii_uppercase) || !text.iter().any(u8::is_ascii_lowercase)
        }
        _ => false,
    };
    if is_odd {
        readings = readings.into_iter().map(Reading::odd).collect();
    }
    let wide = encoding.is_of_uuids().then(|| encoding.decode_wide(text));
    let id = wide.and_then(Result::ok).map(Uuid::from_u128);
    let uuid = id.map(|id| of_uuid(&id, context));
    // A UUID in its usual form is read as one already.
    let uuid = uuid.filter(|reading| encoding.name != "hex" && reading.is_plausible());
    readings.into_iter().chain(uuid)
}

/// Returns whether a text is rather a decimal number: it has decimal digits alone. That hardly happens among 58 digits.
/// Among hexadecimal ones it happens to one id of some hundred, so there it must be a time, too.
fn is_rather_decimal(encoding: &Encoding, text: &[u8], context: &Context<'_>) -> bool {
    if !text.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let times = unix(&Input::Text(text), context);
    // Microseconds are as long as hexadecimal ids are.
    let is_short = |time: &&Reading| matches!(time.version.as_deref(), Some("s" | "ms"));
    encoding.name != "hex" || times.iter().filter(is_short).any(Reading::is_plausible)
}
