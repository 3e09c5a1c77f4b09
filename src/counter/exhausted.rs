//! The error of a sequence that has no numbers left, and the refusal on a standby.

use crate::pg::backend::recovery::Refusal;
use crate::pg::error::report;
use crate::pg::sequence::Sequence;
use mint_core::Rules;
use pgrx::PgSqlErrorCode as Code;
use std::ops::RangeInclusive;

/// The error of a draw on a standby.
pub const IN_RECOVERY: Refusal = Refusal {
    message: "cannot draw from a sequence during recovery",
    detail: "The primary server might be issuing the same values.",
    hint: "Draw values on the primary server, or promote this server.",
};

/// Raises the error of a sequence that has no `count` values in a row left.
#[cold]
#[track_caller]
pub fn refuse(sequence: &Sequence, rules: &Rules, count: u64) -> ! {
    let (end, bound) = match rules.increment {
        1.. => ("maximum", rules.max),
        _ => ("minimum", rules.min),
    };
    let name = sequence.name();
    let code = Code::ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED;
    let refusal = if count == 1 {
        // The error is that of nextval.
        report(
            code,
            format!("reached {end} value of sequence \"{name}\" ({bound})"),
        )
    } else {
        report(
            code,
            format!("sequence \"{name}\" has fewer than {count} values left in a row"),
        )
        .detail(format!("The {end} value of the sequence is {bound}."))
    };
    match more_values_hint(sequence.limits(), rules) {
        Some(hint) => refusal.hint(hint).raise(),
        None => refusal.raise(),
    }
}

/// Returns the HINT of a sequence that has few values left; none for one that ends where type bigint does.
pub fn more_values_hint(limits: RangeInclusive<i64>, rules: &Rules) -> Option<&'static str> {
    let (end, limit, furthest, hint) = if rules.increment > 0 {
        let hint = "Increase MAXVALUE of the sequence.";
        (rules.max, *limits.end(), i64::MAX, hint)
    } else {
        let hint = "Decrease MINVALUE of the sequence.";
        (rules.min, *limits.start(), i64::MIN, hint)
    };
    match end {
        _ if end == furthest => None,
        // The end of tickets of 32 bits: the column of their ids is most likely an integer.
        _ if end == i64::from(i32::MAX) && rules.increment > 0 => Some(
            "Use a column of type bigint, and then increase MAXVALUE of the sequence; or new tickets of 64 bits.",
        ),
        _ if end == limit => Some("Use a sequence of type bigint, and a column of that type."),
        _ => Some(hint),
    }
}
