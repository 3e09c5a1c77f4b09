//! PostgreSQL's reports of core's errors: of ids, of layouts, and of minting.

use crate::pg::backend::recovery::Refusal;
use crate::pg::error::{Report, ToReport, log, report, sentence, syntax_message};
use crate::snowflake::node::grantor;
use crate::statistics::{self, Count};
use mint_core::clock::{duration_text, timestamp_text};
use mint_core::snowflake::mint_error::lane_name;
use mint_core::{
    BUILTINS, HashPartitionError, IdError, Layout, LayoutError, Micros, MintError, SpanError,
};
use pgrx::PgSqlErrorCode as Code;

impl ToReport for IdError {
    fn code(&self) -> Code {
        match self {
            Self::Shard { .. }
            | Self::Part { .. }
            | Self::Sequence { .. }
            | Self::NotAnId { .. } => Code::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
            Self::Timestamp { .. } => Code::ERRCODE_DATETIME_FIELD_OVERFLOW,
            Self::PartCount { .. } | Self::TimeNotOnTop(_) => Code::ERRCODE_INVALID_PARAMETER_VALUE,
        }
    }

    fn explain(&self, report: Report) -> Report {
        match self {
            Self::Shard { max: 0, .. } => {
                report.detail("The layout has no shard field, so its only shard is 0.")
            }
            Self::Shard { max, .. } => report.detail(format!(
                "Shards of this layout must be between 0 and {max}."
            )),
            Self::PartCount {
                count, wanted: 1, ..
            } => report.detail(format!("Expected 1 part, got {count}.")),
            Self::PartCount { count, wanted, .. } => {
                report.detail(format!("Expected {wanted} parts, got {count}."))
            }
            Self::Part { place, max, .. } => report.detail(format!(
                "Part {place} of a shard of this layout must be between 0 and {max}."
            )),
            Self::Sequence { max, .. } => report.detail(format!(
                "Sequences of this layout must be between 0 and {max}."
            )),
            Self::Timestamp { first, last, .. } => report.detail(format!(
                "Timestamps of this layout must be between {first} and {last}."
            )),
            Self::NotAnId { id: ..0, .. } => report.hint("Exclude negative ids by WHERE id >= 0."),
            Self::NotAnId { .. } => report
                .detail("The id has bits or a timestamp that the layout cannot have.")
                .hint("Use the layout that the id was generated with."),
            Self::TimeNotOnTop(_) => report.detail(
                "Ids of this layout do not sort by time, so a span of time is not a range of ids.",
            ),
        }
    }
}

impl ToReport for SpanError {
    fn code(&self) -> Code {
        match self {
            Self::Layout(error) => error.code(),
            Self::TooLong { .. } => Code::ERRCODE_DATETIME_FIELD_OVERFLOW,
            _ => Code::ERRCODE_INVALID_PARAMETER_VALUE,
        }
    }

    fn explain(&self, report: Report) -> Report {
        match self {
            Self::Months => report
                .detail("A month has no fixed number of days, so it has no fixed number of ids.")
                .hint("Use days or hours, such as interval '30 days'."),
            Self::NotPositive => report.hint("Use an interval such as '1 day'."),
            Self::PartOfATick { unit, .. } => {
                report.detail(format!("The unit of the layout is {unit}."))
            }
            Self::TooLong { longest, .. } => {
                report.detail(format!("The time field of the layout covers {longest}."))
            }
            Self::Layout(error) => error.explain(report),
        }
    }
}

impl ToReport for HashPartitionError {
    fn code(&self) -> Code {
        Code::ERRCODE_INVALID_PARAMETER_VALUE
    }

    fn explain(&self, report: Report) -> Report {
        match self {
            Self::Modulus => report,
            Self::Remainder { modulus, .. } => report.detail(format!(
                "Remainders of this modulus must be between 0 and {}.",
                modulus - 1
            )),
        }
    }
}

/// The error of minting on a standby.
pub const IN_RECOVERY: Refusal = Refusal {
    message: "cannot generate ids during recovery",
    detail: "The primary server might be generating the same ids.",
    hint: "Generate ids on the primary server, or promote this server.",
};

/// Begins the error of a text that is not a layout.
#[cold]
#[track_caller]
pub fn bad_layout_text(text: &[u8], error: &LayoutError) -> Report {
    let hint = match error {
        LayoutError::UnknownName(_) => {
            let names: Vec<&str> = BUILTINS.iter().map(|builtin| builtin.name).collect();
            format!(
                "Use a built-in layout ({}), a built-in layout with changes such as twitter shard:8 seq:14, \
                 or fields from the top bit down.",
                names.join(", ")
            )
        }
        LayoutError::BadEpoch(_) => {
            "Use an epoch such as epoch:2011-08-24T21:07:01.721Z or epoch:2016-05-20T00:00:00+08:00, \
             or milliseconds since 1970 such as epoch:1314220021721."
                .to_owned()
        }
        LayoutError::AmbiguousEpoch(_) => {
            "Use milliseconds such as epoch:1288834974657, which are 1000 times the seconds, \
             or a timestamp such as epoch:2010-11-04T01:42:54.657Z."
                .to_owned()
        }
        LayoutError::TooManyParts(_) => {
            "Use two parts such as shard:5+5: write further parts as one that has the bits of both."
                .to_owned()
        }
        _ => "Use fields such as \
              time:41 shard:13 seq:10 unit:1ms epoch:2011-08-24T21:07:01.721Z."
            .to_owned(),
    };
    let message = syntax_message("snowflake_layout", text);
    report(Code::ERRCODE_INVALID_TEXT_REPRESENTATION, message)
        .detail(sentence(&error.to_string()))
        .hint(hint)
}

/// Begins the error of bytes that are not a layout.
#[cold]
#[track_caller]
pub fn bad_layout_bytes(error: &LayoutError) -> Report {
    report(
        Code::ERRCODE_INVALID_BINARY_REPRESENTATION,
        "invalid external \"snowflake_layout\" value",
    )
    .detail(sentence(&error.to_string()))
}

/// Raises the error of minting from the lane of (layout, shard). The registry raises that of a lease that has ended.
#[cold]
#[track_caller]
pub fn refuse(
    error: &MintError,
    (layout, shard): (&Layout, u64),
    max_ahead: Micros,
    floor: &str,
) -> ! {
    let code = match error {
        MintError::Exhausted => Code::ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
        MintError::BeyondReach { .. } => Code::ERRCODE_INVALID_PARAMETER_VALUE,
        _ => Code::ERRCODE_SYSTEM_ERROR,
    };
    if let Some(count) = refusal(error) {
        statistics::add(count, 1);
    }
    let report = report(code, error.message(layout, shard, floor));
    explain(report, error, layout, shard, max_ahead).raise()
}

/// Returns the count of a refused call; none for the end of a lease, which the registry counts, and for an argument.
fn refusal(error: &MintError) -> Option<Count> {
    match error {
        MintError::Exhausted => Some(Count::LayoutEndRefusals),
        MintError::BeforeLease { .. } => Some(Count::LeaseRefusals),
        MintError::LeaseEnded { .. } | MintError::BeyondReach { .. } => None,
        MintError::BeforeEpoch
        | MintError::ClockBehind { .. }
        | MintError::BelowFloor { .. }
        | MintError::ClockJumped { .. } => Some(Count::ClockRefusals),
    }
}

fn explain(
    report: Report,
    error: &MintError,
    layout: &Layout,
    shard: u64,
    max_ahead: Micros,
) -> Report {
    let too_far = |need: &Micros| {
        let (lane, need) = (lane_name(layout, shard), duration_text(*need));
        format!("The next id of {lane} is {need} away, which is longer than \"pg_mint.max_wait\".")
    };
    match error {
        MintError::Exhausted => {
            let last = layout.tick_start(layout.max_tick());
            let last = last.map_or_else(|| "infinity".to_owned(), timestamp_text);
            report
                .detail(format!("The last tick of the layout starts at {last}."))
                .hint("Use a layout that lasts longer, and change existing ids to it with snowflake_encode().")
        }
        MintError::BeforeEpoch => report
            .detail(format!(
                "The epoch of the layout is {}.",
                timestamp_text(layout.epoch())
            ))
            .hint(
                "Use a layout with an epoch in the past. If the system clock is wrong, correct it.",
            ),
        MintError::ClockBehind { need, .. } => {
            let (max_ahead, need) = (duration_text(max_ahead), duration_text(*need));
            report
                .detail(format!(
                    "The last id is further ahead of the clock than \"pg_mint.max_ahead\" ({max_ahead}) allows. \
                     The next id is {need} away, which is longer than \"pg_mint.max_wait\"."
                ))
                .hint("Wait, or increase \"pg_mint.max_wait\". If the system clock is wrong, correct it.")
        }
        MintError::BelowFloor { behind: ..=0, .. } => report
            .detail("Ids of the current tick might have been issued before the server was started.")
            .hint("Wait, increase \"pg_mint.max_wait\", or use a layout with a shorter unit."),
        MintError::BelowFloor { need, .. } => report
            .detail(format!(
                "Ids up to the ceiling might have been issued before the server was started. {}",
                too_far(need)
            ))
            .hint(
                "Correct the system clock. \
                 If the clock is correct and the ceiling is not, use mint.reset_ceiling(timestamptz).",
            ),
        MintError::BeforeLease { need, .. } => report
            .detail(too_far(need))
            .hint("Wait, or check the system clock."),
        MintError::LeaseEnded { until } => grantor::refuse_ended(*until),
        MintError::BeyondReach { reach, .. } => report
            .detail(reach_detail(*reach))
            .hint("Wait, or correct the system clock."),
        MintError::ClockJumped { .. } => report
            .detail(format!(
                "Minting on {} is suspended. \
                 Ids minted now would hold back all later ids once the clock is corrected.",
                lane_name(layout, shard)
            ))
            .hint(
                "If the clock is correct, use mint.accept_clock() as a superuser. \
                 Otherwise, correct the clock.",
            ),
    }
}

fn reach_detail(reach: Micros) -> String {
    format!(
        "A shard can start at most {} ahead of the clock. The limit is \"pg_mint.max_ahead\", \
         and \"pg_mint.max_jump\" for superusers where no registry leases nodes.",
        duration_text(reach)
    )
}

/// Logs a step of the clock.
pub fn log_step(by: Micros) {
    let direction = if by < 0 { "back" } else { "forward" };
    let message = format!(
        "system clock stepped {direction} by {}",
        duration_text(by.saturating_abs())
    );
    log(message);
}
