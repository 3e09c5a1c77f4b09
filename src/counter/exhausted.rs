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
    .detail_if((count > 1).then(|| format!("Fewer than {count} values in a row are left.")))
    .raise()
}
