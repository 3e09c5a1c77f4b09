//! Taking values from a sequence's page, for its segments or past them, and setting it.
//!
//! Values are taken under the page's lock, as `nextval` takes them, so both can be used on one sequence. The next
//! segment is put into shared memory under the same lock: one at a time, and an error releases the lock.

use crate::counter::exhausted::{self, IN_RECOVERY};
use crate::counter::segment::session::{attach, open, open_for};
use crate::counter::segment::slots::{Segments, SegmentsSlot, sequence_state};
use crate::counter::segment::{slots, source};
use crate::counter::slot_table::SlotKey;
use crate::pg::backend::recovery;
use crate::pg::catalog::sql;
use crate::pg::error;
use crate::pg::error::report;
use crate::pg::machine::clock;
use crate::pg::sequence;
use crate::pg::sequence::{Lock, Position, Sequence, SequenceRow};
use mint_core::counter::sequence::steps;
use mint_core::{Rules, SequenceState, Values};
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::cell::Cell;

/// The result of taking values from the page of a sequence.
struct Taken {
    values: Option<Values>,
    /// The segments of the sequence, and its state now.
    segments: Segments,
    state: SequenceState,
    /// The position in the log that makes this durable once flushed.
    position: Position,
}

/// Takes the values that `decide` chooses from the page, and calls `then` once they are logged, both under the page's lock.
/// Drops the segments first if a session has set the sequence to another value.
fn take_from_page<T>(
    sequence: &mut Sequence,
    segments: Segments,
    (rules, cache): (&Rules, u64),
    decide: impl FnOnce(Segments, SequenceState) -> Option<Values>,
    then: impl FnOnce(Segments, Values, Position) -> T,
) -> Taken {
    let (segments, taken) = (Cell::new(segments), Cell::new(None));
    let (row, position) = sequence.update_then(
        |found, logged| {
            if segments.get().slot.is_stale(found, logged, rules, cache) {
                segments.set(segments.get().drop_and_renew());
            }
            taken.set(decide(segments.get(), sequence_state(found)));
            taken.get().map(|values: Values| SequenceRow {
                last_value: values.last(),
                log_count: 0,
                is_called: true,
            })
        },
        |position| {
            if let Some(values) = taken.get() {
                let note = |slot: &SegmentsSlot| slot.note_page(values.last(), position);
                segments.get().with_owner(note);
                then(segments.get(), values, position);
            }
        },
    );
    Taken {
        values: taken.get(),
        segments: segments.get(),
        state: sequence_state(row),
        position,
    }
}

/// Returns the values once they are durable. If there are none, raises the error of a sequence without `count` left.
fn durable(sequence: &Sequence, rules: &Rules, taken: &Taken, count: u64) -> Values {
    warn_if_nearly_exhausted(sequence, rules, taken);
    let Some(values) = taken.values else {
        exhausted::refuse(sequence, rules, count)
    };
    sequence::flush(taken.position);
    values
}

/// Takes the next segment, unless another session locks the sequence: then the next session takes it.
#[cold]
pub fn prefetch(sequence: pg_sys::Oid) {
    if let Some(open) = Sequence::open_at_once(sequence, Lock::Write) {
        refill(sequence, open, false);
    }
}

/// Takes the next segment from the page, unless another session has done so. If `needed`, raises an error when there is
/// none, and does not hasten the flush of the log, which the caller does itself.
pub fn refill(oid: pg_sys::Oid, mut sequence: Sequence, needed: bool) {
    let (rules, cache) = sequence.definition();
    let segments = attach(oid, &sequence);
    if source::find(oid, &rules).is_some() {
        drop(sequence);
        return source::fetch(oid, segments, needed);
    }
    let steps = steps(cache, rules.total());
    let now = clock::now();
    let (mut is_tried, step) = (false, Cell::new(0));
    let taken = take_from_page(
        &mut sequence,
        segments,
        (&rules, cache),
        |segments, state| {
            if !segments.slot.segment.lacks_next() {
                return None;
            }
            step.set(segments.next_step(now, steps)?);
            is_tried = true;
            rules.take(state, 1, step.get())
        },
        |segments, values, position| segments.fill(values, step.get(), position, now),
    );
    match taken.values {
        Some(_) => {
            warn_if_nearly_exhausted(&sequence, &rules, &taken);
            if !needed {
                sequence::flush_soon(taken.position);
            }
        }
        None if needed && is_tried => {
            // Nothing else has noted it since the start of the server.
            warn_if_nearly_exhausted(&sequence, &rules, &taken);
            exhausted::refuse(&sequence, &rules, 1)
        }
        None => {}
    }
}

/// Takes values in a row from the page itself, as the segments have too few.
pub fn take(oid: pg_sys::Oid, count: u64) -> Values {
    let mut sequence = open(oid);
    let (rules, cache) = sequence.definition();
    let segments = attach(oid, &sequence);
    let taken = take_from_page(
        &mut sequence,
        segments,
        (&rules, cache),
        |_, state| rules.take(state, count, count),
        |_, _, _| (),
    );
    durable(&sequence, &rules, &taken, count)
}

/// Takes up to `count` values for another server, which has taken values up to `end` before. Returns them, and whether
/// the sequence begins again at its end.
/// Raises an error for every server while the sequence stands before the furthest `end` that any of them has reported:
/// it was set back, and would issue values again. The values always come from the page, so that those of each server
/// follow those that it took before.
pub fn take_for_server(oid: pg_sys::Oid, count: u64, end: Option<i64>) -> (Values, bool) {
    let mut sequence = open(oid);
    let (rules, cache) = sequence.definition();
    source::refuse_change("take values of", oid, &sequence, &rules);
    let segments = attach(oid, &sequence);
    let mut behind = None;
    let taken = take_from_page(
        &mut sequence,
        segments,
        (&rules, cache),
        |segments, state| {
            let values = rules.take(state, 1, count)?;
            let note = |slot: &SegmentsSlot| slot.note_end(end, rules.increment);
            let end = segments.with_owner(note).unwrap_or(end);
            let beyond = end.filter(|&end| !rules.cycle && !values.are_beyond(end));
            behind = beyond.map(|end| (end, values.first));
            behind.is_none().then_some(values)
        },
        |_, _, _| (),
    );
    if let Some((end, next)) = behind {
        refuse_behind(&sequence, end, next);
    }
    (durable(&sequence, &rules, &taken, 1), rules.cycle)
}

#[cold]
fn refuse_behind(sequence: &Sequence, end: i64, next: i64) -> ! {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("sequence \"{}\" {}", sequence.name(), source::SET_BACK),
    )
    .detail(format!(
        "Servers have taken values up to {end}, and the next value would be {next}."
    ))
    .hint(source::SET_BEYOND)
    .raise()
}

/// Sets a sequence to a value, and drops its segments: the next draw, also in a running statement, returns the value
/// itself, or if it `is_called` the one after it.
pub fn set(oid: pg_sys::Oid, value: i64, is_called: bool) {
    recovery::refuse(&IN_RECOVERY);
    let sequence = open_for(oid, pg_sys::ACL_UPDATE);
    let (rules, _) = sequence.definition();
    source::refuse_change("set", oid, &sequence, &rules);
    let key = SlotKey::new(sequence.identity());
    // The server's own function also drops the values that nextval has cached in this session.
    sql::set_sequence(oid, value, is_called);
    slots::drop_segments(key);
}

/// The percentage of drawn values from which on each further percent is warned of.
const NEARLY_ALL: u32 = 90;

/// Warns once at each percent of the last tenth, and once more when the page has no values left, so that only those in
/// the segments can still be drawn.
fn warn_if_nearly_exhausted(sequence: &Sequence, rules: &Rules, taken: &Taken) {
    if rules.cycle {
        return;
    }
    let (total, on_page) = (rules.total(), rules.remaining(taken.state));
    let further = taken.segments.with_owner(|slot| {
        let left = on_page.saturating_add(slot.segment.remaining()).min(total);
        let percent = u128::from(total - left) * 100 / u128::from(total.max(1));
        let percent = if on_page == 0 { 100 } else { percent as u32 };
        slot.is_further(percent).then_some((left, percent))
    });
    if let Some((left, percent)) = further.flatten()
        && percent >= NEARLY_ALL
    {
        error::warn(
            format!("sequence \"{}\" is nearly exhausted", sequence.name()),
            format!("Of {total} values, {left} can still be drawn."),
            exhausted::end(rules).2,
        );
    }
}
