//! Segments: any sequence, drawn faster.

use crate::counter::segment::{draw, refill, slots, source};
use crate::pg::catalog::sql;
use crate::pg::datum::regclass::Regclass;
use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::timestamp;
use crate::pg::error::{report, required};
use mint_core::Values;
use pgrx::PgSqlErrorCode as Code;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;
use std::ops::RangeInclusive;

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
#[pg_extern(volatile, strict, parallel_safe, cost = 1)]
fn segment_next(sequence: Regclass) -> i64 {
    draw::next(sequence.0)
}

/// Returns the next `count` values of a sequence in a row: the range from the least to the greatest. Of a sequence
/// with increment n, every nth number of the range is a value, from the first on. A range cannot hold the greatest
/// bigint: then it is an error (22003), and nothing is drawn. Else as `segment_next`.
#[pg_extern(volatile, strict, parallel_safe, cost = 1)]
fn segment_next_range(sequence: Regclass, count: i64) -> pgrx::datum::Range<i64> {
    range(draw::next_range(sequence.0, check_count(count)))
}

/// Sets a sequence to a value, which counts as issued, and returns it: `setval` that drops the segments at once. After
/// `setval` itself, the first draw of the next statement drops them.
#[pg_extern(volatile, strict, parallel_unsafe, cost = 100)]
fn segment_set(sequence: Regclass, value: i64) -> i64 {
    refill::set(sequence.0, value);
    value
}

/// Checks a count of values in a row: one call must not use up what others need.
#[track_caller]
pub fn check_count(count: i64) -> u64 {
    check_range("count", count, 1..=i64::from(i32::MAX));
    count.unsigned_abs()
}

/// Raises an error unless an argument is in a range.
#[track_caller]
pub fn check_range(name: &str, value: i64, range: RangeInclusive<i64>) {
    if !range.contains(&value) {
        report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            format!("{name} must be from {} to {}", range.start(), range.end()),
        )
        .raise();
    }
}

/// Returns the range from the least of some values to the greatest.
pub fn range(values: Values) -> pgrx::datum::Range<i64> {
    let (first, last) = (values.first, values.last());
    (first.min(last)..=first.max(last)).into()
}

/// The longest step.
const LONGEST: i64 = 1_000_000;

/// Creates a sequence that is drawn from in steps, and returns it. The step is its CACHE.
///
/// With `source`, a foreign server, its segments are taken from the sequence of the same name there, or from
/// `source_sequence`: many servers draw from one. During an outage of the source it continues until two segments are
/// used up. `nextval` cannot draw from it.
#[pg_extern(volatile, parallel_unsafe, cost = 1000)]
fn segment_create(
    name: Option<DecodedText>,
    step: default!(Option<i64>, 2000),
    start: default!(Option<i64>, 1),
    source: default!(Option<DecodedText>, "NULL"),
    source_sequence: default!(Option<DecodedText>, "NULL"),
) -> Regclass {
    let DecodedText(name) = required(name, "name");
    let (step, start) = (required(step, "step"), required(start, "start"));
    let quoted = sql::quoted(&name);
    match source {
        None => create_exactly(&quoted, step, start),
        Some(DecodedText(server)) => {
            check_step(step);
            source::check(&server);
            let there = source_sequence.map_or_else(|| name.clone(), |there| there.0);
            let sequence = create(&name, &source::clauses(&server, &there, step));
            source::record(sequence.0, &server, &there, step);
            sequence
        }
    }
}

fn check_step(step: i64) {
    if !(2..=LONGEST).contains(&step) {
        report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            format!("step must be from 2 to {LONGEST}"),
        )
        .hint("To draw one value at a time, use nextval().")
        .raise();
    }
}

/// Creates such a sequence, of a quoted name.
pub fn create_exactly(quoted: &str, step: i64, start: i64) -> Regclass {
    check_step(step);
    let min = start.min(1);
    create_in_place(
        quoted,
        &format!("MINVALUE {min} START {start} CACHE {step}"),
    )
}

/// Creates a sequence of this name, and returns it.
pub fn create(name: &str, clauses: &str) -> Regclass {
    create_in_place(&sql::quoted(name), clauses)
}

/// Creates a sequence of a quoted name, in the schema where the caller creates relations.
fn create_in_place(quoted: &str, clauses: &str) -> Regclass {
    let name = sql::with_schema(quoted);
    sql::run(&format!("CREATE SEQUENCE {name} {clauses}"));
    Regclass(sql::resolve(&name))
}

/// Drops a sequence, which only its owner can.
#[pg_extern(volatile, strict, parallel_unsafe, cost = 1000)]
fn segment_drop(sequence: Regclass) {
    drop_sequence(sequence);
}

/// Drops a sequence, as the server does.
pub fn drop_sequence(sequence: Regclass) {
    sql::drop("SEQUENCE", sequence.0);
}

/// Returns the sequences of this database that were drawn from since the server started, behind the view of the
/// same name.
#[pg_extern(schema = "mint", volatile, strict, parallel_safe, cost = 100)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn segments() -> TableIterator<
    'static,
    (
        name!(sequence, Regclass),
        name!(position, Option<i64>),
        name!(segment_end, Option<i64>),
        name!(next_ready, bool),
        name!(step, i64),
        name!(refills, i64),
        name!(waits, i64),
        name!(last_refill, Option<TimestampWithTimeZone>),
    ),
> {
    TableIterator::new(slots::list().into_iter().map(|row| {
        let look = row.look;
        (
            Regclass(row.sequence),
            look.position,
            look.ceiling,
            look.ready,
            look.step.cast_signed(),
            look.refills.cast_signed(),
            look.waits.cast_signed(),
            timestamp(row.used),
        )
    }))
}

extension_sql_file!(
    "../../../sql/counter/segments.sql",
    name = "counter_segments",
    requires = [
        segments, segment_next, segment_next_range, segment_set, segment_create, segment_drop
    ]
);
