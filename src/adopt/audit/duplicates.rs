//! Finding of ids that are in a column twice.

use crate::adopt::audit::Finding;
use crate::adopt::audit::subject::Subject;
use crate::pg::catalog::scan::sample::Value;
use std::collections::HashMap;

/// Checks whether ids that were read are equal. A column without a generator, as a foreign key, has equal values as it should.
pub fn check(subject: &Subject, found: &mut Vec<Finding>) {
    if subject.generated.is_none() {
        return;
    }
    let mut counts: HashMap<&Value, usize> = HashMap::new();
    for value in &subject.ids.values {
        *counts.entry(value).or_default() += 1;
    }
    let repeated: Vec<(&Value, usize)> =
        counts.into_iter().filter(|&(_, count)| count > 1).collect();
    if repeated.is_empty() {
        return;
    }
    let rows = repeated.iter().map(|&(_, count)| count).sum();
    let least = repeated
        .iter()
        .filter_map(|(value, _)| value.number())
        .min();
    let example = least.map_or_else(String::new, |id| format!(", such as {id}"));
    let evidence = format!("{} are in more than one row{example}.", subject.share(rows));
    found.push(Finding::warning("ids that repeat", evidence));
}
