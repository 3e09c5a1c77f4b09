//! What an id can be: every format that fits, the most likely one first.
//!
//! A format that an id breaks no rule of is a *reading*. Readings begin with the same weight and lose it by what speaks
//! against them: a time that no id of today has, or a node that the caller has not. So readings that nothing speaks against
//! have the same likelihood. The id is less unusual in the first of them (`usual`), or else its format is more common, which
//! is the order of [`FAMILIES`].

use crate::family::reading::NONE;
pub use crate::family::reading::{Context, Input, Part, Reading};
use crate::family::{FAMILIES, text};

/// The longest text that is read, in bytes: a TypeID has up to 90.
const LONGEST: usize = 128;

/// Returns every reading of an id, the most likely one first.
#[must_use]
pub fn inspect(id: &Input<'_>, context: &Context<'_>) -> Vec<Reading> {
    let id = &id.trimmed();
    if id.text().is_some_and(|text| text.len() > LONGEST) {
        return Vec::new();
    }
    let families = FAMILIES
        .iter()
        .flat_map(|family| (family.read)(id, context));
    let mut readings: Vec<Reading> = families.chain(text::encoded(id, context)).collect();
    let sum: f64 = NONE
        + readings
            .iter()
            .map(|reading| reading.likelihood)
            .sum::<f64>();
    readings.sort_by(|a, b| {
        let by_likelihood = b.likelihood.total_cmp(&a.likelihood);
        by_likelihood.then(a.surprise.total_cmp(&b.surprise))
    });
    for reading in &mut readings {
        reading.likelihood /= sum;
    }
    readings
}
