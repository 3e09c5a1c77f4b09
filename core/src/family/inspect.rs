//! The formats that an id can have, the most likely one first.
//!
//! A format whose rules an id keeps is a *reading*. All readings begin with the same weight, and lose it by facts that
//! speak against them: a time that no id of today has, or a node that the caller does not have. Almost any number keeps
//! the rules of many layouts, so a reading of a number also has the weight by which the number is less unusual in that
//! format than in none (`usual`). Readings of the same weight are in the order of [`FAMILIES`].

use crate::family::reading::NONE_OF_THESE;
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
    let weights = readings.iter().map(Reading::weight);
    let sum = NONE_OF_THESE + weights.sum::<f64>();
    for reading in &mut readings {
        reading.likelihood = reading.weight() / sum;
    }
    readings.sort_by(|a, b| b.likelihood.total_cmp(&a.likelihood));
    readings
}
