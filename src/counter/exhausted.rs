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

/// Raises the error of a sequence that has no `count` values in a row left.
#[cold]
#[track_caller]
pub fn refuse(sequence: &Sequence, rules: &Rules, count: u64) -> ! {
    let (end, bound, hint) = if rules.increment > 0 {
        (
            "maximum",
            rules.max,
            "Use ALTER SEQUENCE with a greater MAXVALUE, or with AS bigint where its type is the limit.",
        )
    } else {
        (
            "minimum",
            rules.min,
            "Use ALTER SEQUENCE with a lesser MINVALUE, or with AS bigint where its type is the limit.",
        )
    };
    let name = sequence.name();
    let code = Code::ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED;
    if count == 1 {
        // The error is that of nextval.
        report(
            code,
            format!("reached {end} value of sequence \"{name}\" ({bound})"),
        )
        .hint(hint)
        .raise();
    }
    report(
        code,
        format!("sequence \"{name}\" has fewer than {count} values left in a row"),
    )
    .detail(format!("The {end} value of the sequence is {bound}."))
    .hint(hint)
    .raise()
}
