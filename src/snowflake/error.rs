//! From the core's errors to PostgreSQL's: of ids, of layouts, and of minting.

use crate::pg::backend::recovery::Refusal;
use crate::pg::error::{OrReport, log, report, sentence};
use crate::snowflake::node::lender;
use mint_core::clock::moment_text;
use mint_core::{BUILTINS, IdError, Layout, LayoutError, Micros, MintError};
use pgrx::PgSqlErrorCode as Code;

impl<T> OrReport<T> for Result<T, IdError> {
    #[inline]
    fn or_report(self) -> T {
        self.unwrap_or_else(|error| bad_id(&error))
    }
}

#[cold]
fn bad_id(error: &IdError) -> ! {
    let (code, detail, hint) = match error {
        IdError::Node { max: 0, .. } => (
            Code::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
            Some("The layout has no node; its shard is 0.".to_owned()),
            None,
        ),
        IdError::Node { max, .. } => (
            Code::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
            Some(format!("Shards of this layout are 0 to {max}.")),
            None,
        ),
        IdError::Sequence { max, .. } => (
            Code::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
            Some(format!("Sequences of this layout are 0 to {max}.")),
            None,
        ),
        IdError::Moment { first, last, .. } => (
            Code::ERRCODE_DATETIME_FIELD_OVERFLOW,
            Some(format!("Times of this layout are {first} to {last}.")),
            None,
        ),
        IdError::NotAnId { .. } => (
            Code::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
            Some("It is negative, or has bits or a time that the layout cannot have.".to_owned()),
            Some("Give the layout that minted the id.".to_owned()),
        ),
        IdError::TimeNotOnTop(_) => (
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            Some(
                "Its ids do not sort by time, so a span of time is not a range of ids.".to_owned(),
            ),
            None,
        ),
    };
    report(code, error.to_string(), detail, hint)
}

/// Why nothing is minted on a standby.
pub const IN_RECOVERY: Refusal = Refusal {
    message: "cannot mint ids during recovery",
    detail: "The primary may be minting the same ids.",
    hint: "Mint on the primary, or promote this server.",
};

/// Refuses the text of a layout.
#[cold]
pub fn bad_layout_text(text: &str, error: &LayoutError) -> ! {
    let names: Vec<&str> = BUILTINS.iter().map(|builtin| builtin.name).collect();
    report(
        Code::ERRCODE_INVALID_TEXT_REPRESENTATION,
        format!("invalid input syntax for type snowflake_layout: \"{text}\""),
        sentence(&error.to_string()),
        Some(match error {
            LayoutError::UnknownName(_) => format!(
                "Built-in layouts are {}. Others are written as fields from the top bit down.",
                names.join(", ")
            ),
            LayoutError::BadEpoch(_) => {
                "Write it like epoch:2011-08-24T21:07:01.721Z or epoch:2016-05-20T00:00:00+08:00.".to_owned()
            }
            _ => "A layout is written like time:41 node:13 seq:10 unit:1ms epoch:2011-08-24T21:07:01.721Z."
                .to_owned(),
        }),
    )
}

/// Refuses the bytes of a layout.
#[cold]
pub fn bad_layout_bytes(error: &LayoutError) -> ! {
    report(
        Code::ERRCODE_INVALID_BINARY_REPRESENTATION,
        "invalid external \"snowflake_layout\" value".to_owned(),
        sentence(&error.to_string()),
        None,
    )
}

/// Refuses to mint from the lane of (layout, node).
#[cold]
pub fn refuse(error: &MintError, layout: &Layout, node: u64, max_ahead: Micros) -> ! {
    let lane = format!("lane (layout {layout}, node {node})");
    match error {
        MintError::Exhausted => report(
            Code::ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
            format!("layout {layout} has reached the end of its time field"),
            Some(format!(
                "Its last tick starts at {}.",
                layout.tick_start(layout.max_tick()).map_or_else(|| "infinity".to_owned(), moment_text)
            )),
            Some("Choose a layout with a later epoch or more bits of time.".to_owned()),
        ),
        MintError::BeforeEpoch => report(
            Code::ERRCODE_SYSTEM_ERROR,
            format!("the clock is before the epoch of layout {layout}"),
            Some(format!("The epoch is {}.", moment_text(layout.epoch()))),
            Some("Check the clock of the server.".to_owned()),
        ),
        MintError::ClockBehind { ahead, need } => report(
            Code::ERRCODE_SYSTEM_ERROR,
            format!("the clock is {} behind the last id of {lane}", span(*ahead)),
            Some(format!(
                "The clock stepped back{}. Ids may run ahead of it by pg_mint.max_ahead ({}); the next id is {} away, and pg_mint.max_wait is shorter.",
                if lender::is_there() { ", or the node was given back just now" } else { "" },
                span(max_ahead),
                span(*need)
            )),
            Some("Put the clock of the server right, wait, or raise pg_mint.max_wait.".to_owned()),
        ),
        MintError::BelowFloor {
            behind: ..=0,
            need,
        } => report(
            Code::ERRCODE_SYSTEM_ERROR,
            format!("the next tick of layout {layout} is {} away", span(*need)),
            Some("Ids of the tick under way may have been issued before the server was started.".to_owned()),
            Some("Wait, raise pg_mint.max_wait, or choose a layout with a shorter unit.".to_owned()),
        ),
        MintError::BelowFloor { behind, need } => report(
            Code::ERRCODE_SYSTEM_ERROR,
            format!("the clock is {} behind the ceiling of this database", span(*behind)),
            Some(format!(
                "Ids up to the ceiling may have been issued before the server was started. The next id of {lane} is {} away, and pg_mint.max_wait is shorter.",
                span(*need)
            )),
            Some("Put the clock of the server right. If it is right and the ceiling is not, see pg_mint_reset_ceiling().".to_owned()),
        ),
        MintError::BeforeLease { from, need } => report(
            Code::ERRCODE_SYSTEM_ERROR,
            format!("the slice of id time that the registry lent this server begins at {}", moment_text(*from)),
            Some(format!(
                "The next id of {lane} is {} away, and pg_mint.max_wait is shorter.",
                span(*need)
            )),
            Some("Wait, or check the clock of the server.".to_owned()),
        ),
        MintError::LeaseEnded { until } => lender::ended(*until),
        MintError::ClockJumped { by } => report(
            Code::ERRCODE_SYSTEM_ERROR,
            format!("the clock jumped {} forward, and {lane} does not follow it unconfirmed", span(*by)),
            Some("Ids minted now would hold back all later ones, were the clock put right again.".to_owned()),
            Some(
                "If the clock is right, a superuser confirms it with SELECT pg_mint_accept_clock(). If not, put it right."
                    .to_owned(),
            ),
        ),
    }
}

/// Writes to the server's log that the clock was stepped.
pub fn log_step(by: Micros) {
    let direction = if by < 0 { "back" } else { "forward" };
    let message = format!(
        "the clock stepped {direction} by {}",
        span(by.saturating_abs())
    );
    log(message);
}

/// A span as people read it.
fn span(micros: Micros) -> String {
    let ms = micros / 1_000;
    if ms >= 10_000 {
        format!("{} s", (ms + 500) / 1_000)
    } else {
        format!("{ms}.{:03} ms", micros % 1_000)
    }
}
