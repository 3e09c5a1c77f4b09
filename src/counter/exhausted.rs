//! The error of a sequence that has no numbers left, and the refusal on a standby.

use crate::pg::backend::recovery::Refusal;
use crate::pg::error::report;
use crate::pg::sequence::Sequence;
use mint_core::Rules;
use pgrx::PgSqlErrorCode as Code;

/// The error of a draw on a standby.
pub const IN_RECOVERY: Refusal = Refusal {
    message: "cannot draw from a sequence during recovery",
    detail: "The primary server might be issuing the same values.",
    hint: "Draw values on the primary server, or promote this server.",
};

/// Returns what the end of a sequence is called, its value, and what to do about it: nothing where type bigint ends.
pub fn end(rules: &Rules) -> (&'static str, i64, Option<&'static str>) {
    const MORE: &str = "Use ALTER SEQUENCE with a greater MAXVALUE, or with AS bigint where its type is the limit.";
    // The end of tickets of 32 bits: the column of their ids is most likely an integer.
    const WIDER: &str = "Use a column of type bigint, and then increase MAXVALUE of the sequence; or new tickets of 64 bits.";
    const LESS: &str =
        "Use ALTER SEQUENCE with a lesser MINVALUE, or with AS bigint where its type is the limit.";
    match (rules.increment > 0, rules.max, rules.min) {
        (true, max, _) if max == i64::from(i32::MAX) => ("maximum", max, Some(WIDER)),
        (true, max, _) => ("maximum", max, (max < i64::MAX).then_some(MORE)),
        (false, _, min) => ("minimum", min, (min > i64::MIN).then_some(LESS)),
    }
}

/// Raises the error of a sequence that has no `count` values in a row left.
#[cold]
#[track_caller]
pub fn refuse(sequence: &Sequence, rules: &Rules, count: u64) -> ! {
    let (end, bound, hint) = end(rules);
    let name = sequence.name();
    let code = Code::ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED;
    // The error of one value is that of nextval.
    let one = format!("reached {end} value of sequence \"{name}\" ({bound})");
    let many = format!("sequence \"{name}\" has fewer than {count} values left in a row");
    let refusal = match count {
        1 => report(code, one),
        _ => report(code, many).detail(format!("The {end} value of the sequence is {bound}.")),
    };
    refusal.hint_if(hint.map(str::to_owned)).raise()
}
