//! Segments: any sequence, drawn faster.

use crate::counter::common::{check_count, check_range, create, create_quoted, range_row};
use crate::counter::segment::{draw, refill, rows, source};
use crate::pg::catalog::sql;
use crate::pg::datum::regclass::Regclass;
use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::{interval, timestamp};
use crate::pg::error::{report, required};
use crate::pg::worker::visitor;
use pgrx::PgSqlErrorCode as Code;
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;

/// Returns the next value of a sequence, drawn from a segment that all sessions of the server share.
///
/// - **Unique** among all values that `segment_next`, `nextval` and the like draw from the sequence, until it is
///   set back or begins again.
/// - **Ordered**: ascending within a segment (descending, if the sequence is); a later segment is above.
///   Values that `nextval` draws meanwhile are above those of the segments taken before.
/// - **Overflow**: an error at the sequence's end (2200H), or again from its beginning if it has CYCLE.
/// - **Clock steps back**: no matter.
/// - **Crash and restart**, **failover**: continues above all that was issued; up to two segments are skipped.
/// - **Standby**: refused during recovery (25006).
/// - **Read-only transaction**, **Parallel query**: draws.
#[pg_extern(sql = false)]
fn segment_next(sequence: Regclass) -> i64 {
    draw::next(sequence.0)
}

/// Returns the next `count` values of a sequence in a row: the first, the last, and the step from one to the next,
/// which is the sequence's increment; otherwise like `segment_next`.
#[pg_extern(sql = false)]
fn segment_next_range(
    sequence: Regclass,
    count: i64,
) -> TableIterator<'static, (name!(first, i64), name!(last, i64), name!(step, i64))> {
    range_row(draw::next_range(sequence.0, check_count(count)))
}

/// Returns the value that this session drew last, or the first of a range, as `currval()`. Values that parallel workers
/// drew do not count; DISCARD forgets the last one. A role without the privilege to read the sequence is refused.
#[pg_extern(sql = false)]
fn segment_last(sequence: Regclass) -> i64 {
    draw::last(sequence.0, "segment_last")
}

/// Returns the value that any session drew last from the segments of a sequence; NULL before the first. Without segments on
/// this server, as after a restart and on a standby, it is the sequence's own last value: no value above it was issued.
/// A role without the privilege to read the sequence is refused.
#[pg_extern(sql = false)]
fn segment_current(sequence: Regclass) -> Option<i64> {
    draw::current(sequence.0)
}

/// Sets a sequence to a value, which counts as issued if it `is_called`, and returns it, like a `setval` that also
/// drops the segments. After `setval` itself, the first draw of the next statement drops them.
#[pg_extern(sql = false)]
fn segment_set(sequence: Regclass, value: i64, is_called: bool) -> i64 {
    refill::set(sequence.0, value, is_called);
    value
}

/// The longest step.
const MAX_STEP: i64 = 1_000_000;

/// Creates a sequence that is drawn from in steps, and returns it. The step is its CACHE: 1 stands for a step that
/// adapts to the load. It starts at `start`, or at 1.
///
/// With `source`, a foreign server, its segments are taken from the sequence of the same name there, or from
/// `source_sequence`: many servers draw from one. During an outage of the source it continues until two segments are
/// used up. `nextval` cannot draw from it.
#[pg_extern(sql = false)]
fn segment_create(
    name: Option<DecodedText>,
    step: Option<i64>,
    start: Option<i64>,
    source: Option<DecodedText>,
    source_sequence: Option<DecodedText>,
) -> Regclass {
    let DecodedText(name) = required(name, "name");
    let step = step.unwrap_or(1);
    let quoted = sql::quoted(&name);
    match source {
        None if source_sequence.is_some() => refuse("source_sequence requires source", None),
        None => create_exactly(&quoted, step, start.unwrap_or(1)),
        Some(_) if start.is_some() => refuse(
            "start must not be specified with source",
            Some("Change the sequence on the foreign server."),
        ),
        Some(DecodedText(server)) => {
            check_step(step);
            source::check(&server);
            let there = source_sequence.map_or_else(|| name.clone(), |there| there.0);
            let sequence = create(&name, source::NAME_ONLY);
            source::record(sequence.0, &server, &there, step);
            sequence
        }
    }
}

#[cold]
#[track_caller]
fn refuse(message: &str, hint: Option<&str>) -> ! {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, message)
        .hint_if(hint.map(str::to_owned))
        .raise()
}

/// Raises an error unless a sequence can be drawn from in such steps.
pub fn check_step(step: i64) {
    check_range("step", step, 1..=MAX_STEP);
}

/// Creates such a sequence, of a quoted name.
pub fn create_exactly(quoted: &str, step: i64, start: i64) -> Regclass {
    check_step(step);
    let min = start.min(1);
    create_quoted(
        quoted,
        &format!("MINVALUE {min} START {start} CACHE {step}"),
    )
}

/// Takes the next segment of another server, which calls this: up to `count` values, from the page. `taken` is the end
/// of the values that it took before; none at first. A sequence that stands before that was set back: refused.
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn segment_request(
    sequence: Option<Regclass>,
    count: Option<i64>,
    taken: Option<i64>,
) -> TableIterator<
    'static,
    (
        name!(first, i64),
        name!(last, i64),
        name!(step, i64),
        name!(cycle, bool),
    ),
> {
    let sequence = required(sequence, "sequence");
    let count = check_count(required(count, "count"));
    let (values, cycle) = refill::take_for_server(sequence.0, count, taken);
    visitor::leave_when_stopping();
    TableIterator::once((values.first, values.last(), values.increment, cycle))
}

/// Returns the sequences of this database that were drawn from since the server started, or have taken values from another
/// server before, behind the view of the same name.
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn segments() -> TableIterator<
    'static,
    (
        name!(sequence, Regclass),
        name!(position, Option<i64>),
        name!(segment_end, Option<i64>),
        name!(next_ready, bool),
        name!(step, i64),
        name!(drawn, i64),
        name!(refills, i64),
        name!(waits, i64),
        name!(waited, Interval),
        name!(last_refill, Option<TimestampWithTimeZone>),
        name!(trouble, Option<DecodedText>),
    ),
> {
    TableIterator::new(
        rows::list(source::ends(rows::may_see))
            .into_iter()
            .map(|row| {
                let look = row.segments;
                (
                    Regclass(row.sequence.into()),
                    look.position,
                    look.ceiling,
                    look.ready,
                    look.step.cast_signed(),
                    look.drawn.cast_signed(),
                    look.refills.cast_signed(),
                    look.waits.cast_signed(),
                    interval(look.waited),
                    timestamp(row.used),
                    row.failure.map(DecodedText),
                )
            }),
    )
}
