//! What is said when a sequence comes to its end.

use super::errors::{self, report};
use super::sequence::Sequence;
use mint_core::{Place, Rules};
use pgrx::PgSqlErrorCode as Code;

/// Raises the error of a sequence that has no `count` values in a row left.
#[cold]
pub fn refuse(sequence: &Sequence, rules: &Rules, count: u64) -> ! {
    let (end, bound) = if rules.increment > 0 {
        ("maximum", rules.max)
    } else {
        ("minimum", rules.min)
    };
    report(
        Code::ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
        format!(
            "reached {end} value of sequence \"{}\" ({bound})",
            sequence.name()
        ),
        (count > 1).then(|| format!("It has no {count} values in a row left.")),
        None,
    )
}

/// The part of a sequence in use, in percent, from which on each further one is told.
const NEARLY_ALL: u64 = 90;

/// Warns once with each percent of the last tenth.
pub fn warn(sequence: &Sequence, rules: &Rules, before: Place, after: Place) {
    let total = u128::from(rules.total());
    let used = |place| {
        let used = total - u128::from(rules.left(place)).min(total);
        (used * 100 / total.max(1)) as u64
    };
    if !rules.cycle && used(after) >= NEARLY_ALL && used(after) > used(before) {
        errors::warn(
            "a sequence is near its end",
            format!(
                "Of the values of sequence \"{}\", {} % have been taken; {} are left.",
                sequence.name(),
                used(after),
                rules.left(after)
            ),
            "Use a sequence of type bigint, and a column of that type.",
        );
    }
}
