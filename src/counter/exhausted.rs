//! Errors of a sequence that has no numbers left, the warning before that, and the refusal on a standby.

use crate::pg::backend::recovery::Refusal;
use crate::pg::error;
use crate::pg::error::report;
use crate::pg::sequence::Sequence;
use mint_core::{Rules, SequenceState};
use pgrx::PgSqlErrorCode as Code;

/// The error of a draw on a standby.
pub const IN_RECOVERY: Refusal = Refusal {
    message: "cannot draw from a sequence during recovery",
    detail: "The primary may be issuing the same values.",
    hint: "Draw on the primary, or promote this server.",
};

/// Raises the error of a sequence that has no `count` values in a row left.
#[cold]
#[track_caller]
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
    )
    .detail_if((count > 1).then(|| format!("It has no {count} values in a row left.")))
    .raise()
}

/// The percentage of a sequence in use from which on each further percent is warned of.
const NEARLY_ALL: u64 = 90;

/// Warns once at each percent of the last tenth.
pub fn warn(sequence: &Sequence, rules: &Rules, before: SequenceState, after: SequenceState) {
    let total = u128::from(rules.total());
    let used = |place| {
        let used = total - u128::from(rules.left(place)).min(total);
        (used * 100 / total.max(1)) as u64
    };
    if !rules.cycle && used(after) >= NEARLY_ALL && used(after) > used(before) {
        error::warn(
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
