//! PostgreSQL's reports of core's errors: of ids, of layouts, and of minting.

use crate::pg::backend::recovery::Refusal;
use crate::pg::error::{Report, ToReport, log, report, sentence};
use crate::snowflake::node::lender;
use mint_core::clock::{duration_text, timestamp_text};
use mint_core::snowflake::mint_error::lane_name;
use mint_core::{BUILTINS, IdError, Layout, LayoutError, Micros, MintError};
use pgrx::PgSqlErrorCode as Code;

impl ToReport for IdError {
    fn code(&self) -> Code {
        match self {
            Self::Node { .. } | Self::Sequence { .. } | Self::NotAnId { .. } => {
                Code::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE
            }
            Self::Timestamp { .. } | Self::NotATick { .. } => Code::ERRCODE_DATETIME_FIELD_OVERFLOW,
            Self::TimeNotOnTop(_) => Code::ERRCODE_INVALID_PARAMETER_VALUE,
        }
    }

    fn explain(&self, report: Report) -> Report {
        match self {
            Self::Node { max: 0, .. } => report.detail("The layout has no node; its shard is 0."),
            Self::Node { max, .. } => {
                report.detail(format!("Shards of this layout are 0 to {max}."))
            }
            Self::Sequence { max, .. } => {
                report.detail(format!("Sequences of this layout are 0 to {max}."))
            }
            Self::Timestamp { first, last, .. } => {
                report.detail(format!("Times of this layout are {first} to {last}."))
            }
            Self::NotATick { .. } => {
                report.detail("Cut to the start of a tick, ids of different times could be equal.")
            }
            Self::NotAnId { .. } => report
                .detail("It is negative, or has bits or a time that the layout cannot have.")
                .hint("Give the layout that minted the id."),
            Self::TimeNotOnTop(_) => report
                .detail("Its ids do not sort by time, so a span of time is not a range of ids."),
        }
    }
}

/// The error of minting on a standby.
pub const IN_RECOVERY: Refusal = Refusal {
    message: "cannot mint ids during recovery",
    detail: "The primary may be minting the same ids.",
    hint: "Mint on the primary, or promote this server.",
};

/// Begins the error of a text that is not a layout.
#[cold]
#[track_caller]
pub fn bad_layout_text(text: &str, error: &LayoutError) -> Report {
    let hint = match error {
        LayoutError::UnknownName(_) => {
            let names: Vec<&str> = BUILTINS.iter().map(|builtin| builtin.name).collect();
            format!(
                "Built-in layouts are {}. Others are written as fields from the top bit down, \
                 or as a built-in one with changes, like twitter node:8 seq:14.",
                names.join(", ")
            )
        }
        LayoutError::BadEpoch(_) => {
            "Write it like epoch:2011-08-24T21:07:01.721Z or epoch:2016-05-20T00:00:00+08:00."
                .to_owned()
        }
        _ => "A layout is written like \
              time:41 node:13 seq:10 unit:1ms epoch:2011-08-24T21:07:01.721Z."
            .to_owned(),
    };
    let message = format!("invalid input syntax for type snowflake_layout: \"{text}\"");
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

/// Raises the error of minting from the lane of (layout, node). The registry raises that of a lease that has ended.
#[cold]
#[track_caller]
pub fn refuse(error: &MintError, layout: &Layout, node: u64, max_ahead: Micros) -> ! {
    let code = match error {
        MintError::Exhausted => Code::ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
        _ => Code::ERRCODE_SYSTEM_ERROR,
    };
    let report = report(code, error.message(layout, node));
    explain(report, error, layout, node, max_ahead).raise()
}

fn explain(
    report: Report,
    error: &MintError,
    layout: &Layout,
    node: u64,
    max_ahead: Micros,
) -> Report {
    let too_far = |need: &Micros| {
        let (lane, need) = (lane_name(layout, node), duration_text(*need));
        format!("The next id of {lane} is {need} away, and pg_mint.max_wait is shorter.")
    };
    match error {
        MintError::Exhausted => {
            let last = layout.tick_start(layout.max_tick());
            let last = last.map_or_else(|| "infinity".to_owned(), timestamp_text);
            report
                .detail(format!("Its last tick starts at {last}."))
                .hint("Choose a layout with a later epoch or more bits of time.")
        }
        MintError::BeforeEpoch => report
            .detail(format!("The epoch is {}.", timestamp_text(layout.epoch())))
            .hint("Check the clock of the server."),
        MintError::ClockBehind { need, .. } => {
            let or_released = match lender::is_there() {
                true => ", or the node was given back just now",
                false => "",
            };
            let (max_ahead, need) = (duration_text(max_ahead), duration_text(*need));
            report
                .detail(format!(
                    "The clock stepped back{or_released}. \
                     Ids may run ahead of it by pg_mint.max_ahead ({max_ahead}); \
                     the next id is {need} away, and pg_mint.max_wait is shorter."
                ))
                .hint("Put the clock of the server right, wait, or raise pg_mint.max_wait.")
        }
        MintError::BelowFloor { behind: ..=0, .. } => report
            .detail("Ids of the tick under way may have been issued before the server was started.")
            .hint("Wait, raise pg_mint.max_wait, or choose a layout with a shorter unit."),
        MintError::BelowFloor { need, .. } => report
            .detail(format!(
                "Ids up to the ceiling may have been issued before the server was started. {}",
                too_far(need)
            ))
            .hint(
                "Put the clock of the server right. \
                 If it is right and the ceiling is not, see mint.reset_ceiling().",
            ),
        MintError::BeforeLease { need, .. } => report
            .detail(too_far(need))
            .hint("Wait, or check the clock of the server."),
        MintError::LeaseEnded { until } => lender::ended(*until),
        MintError::ClockJumped { .. } => report
            .detail(
                "Ids minted now would hold back all later ones, were the clock put right again.",
            )
            .hint(
                "If the clock is right, a superuser confirms it with SELECT mint.accept_clock(). \
                 If not, put it right.",
            ),
    }
}

/// Logs a step of the clock.
pub fn log_step(by: Micros) {
    let direction = if by < 0 { "back" } else { "forward" };
    let message = format!(
        "the clock stepped {direction} by {}",
        duration_text(by.saturating_abs())
    );
    log(message);
}
