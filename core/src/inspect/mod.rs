//! What an id can be: every format that fits, the most likely one first.
//!
//! A format that an id breaks no rule of is a *reading*. Readings begin with the same weight and lose it by what speaks
//! against them: a time that no id of today has, or a node that the caller has not. So readings that nothing can tell apart
//! have the same likelihood, and stand in the order of `READERS`, the more common format first.
//!
//! A new format is a file with its reader, and a line in `READERS`. A new built-in layout is read without either.

mod ksuid;
mod number;
mod objectid;
mod reading;
mod text;
mod uuid;
mod xid;

use reading::NONE;
pub use reading::{Context, Input, Part, Reading};

/// Returns the readings of one format.
type Reader = fn(&Input<'_>, &Context<'_>) -> Vec<Reading>;

/// Every format. The order is that of readings that are equally likely.
const READERS: [Reader; 10] = [
    uuid::uuid,
    uuid::ulid,
    uuid::typeid,
    objectid::objectid,
    ksuid::ksuid,
    xid::xid,
    number::unix,
    number::snowflake,
    number::integer,
    text::encoded,
];

/// The longest text that is read, in bytes: a TypeID has up to 90.
const LONGEST: usize = 128;

/// Returns every reading of an id, the most likely one first.
#[must_use]
pub fn inspect(id: &Input<'_>, context: &Context<'_>) -> Vec<Reading> {
    let id = &id.trimmed();
    if id.text().is_some_and(|text| text.len() > LONGEST) {
        return Vec::new();
    }
    let mut readings: Vec<Reading> = READERS.iter().flat_map(|read| read(id, context)).collect();
    let sum: f64 = NONE
        + readings
            .iter()
            .map(|reading| reading.likelihood)
            .sum::<f64>();
    readings.sort_by(|a, b| b.likelihood.total_cmp(&a.likelihood));
    for reading in &mut readings {
        reading.likelihood /= sum;
    }
    readings
}
