//! Taking values from a sequence's page, for its segments or past them, and setting it.
//!
//! Values are taken under the page's lock, as `nextval` takes them. So both can be used on one sequence.
//! The next segment is put into shared memory under the same lock: one at a time, and an error releases the
//! lock.

use crate::counter::exhausted::IN_RECOVERY;
use crate::counter::segment::session::{attach, open, open_for};
use crate::counter::segment::slots::{SegmentsSlot, sequence_state};
use crate::counter::segment::{give_back, slots, source};
use crate::counter::slot_table::SlotKey;
use crate::counter::{exhausted, settings};
use crate::pg::backend::recovery;
use crate::pg::catalog::sql;
use crate::pg::error;
use crate::pg::error::report;
use crate::pg::machine::clock;
use crate::pg::sequence;
use crate::pg::sequence::{Sequence, SequenceRow};
use crate::statistics;
use mint_core::counter::segment::LONGEST;
use mint_core::{Rules, SequenceState, Values};
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::cell::Cell;
use std::ops::RangeInclusive;

fn row(values: Values) -> SequenceRow {
    SequenceRow {
        last_value: values.last(),
        log_count: 0,
        is_called: true,
    }
}

/// Takes the next segment, unless another session locks the sequence: then the next session takes it.
#[cold]
pub fn prefetch(sequence: pg_sys::Oid) {
    if let Some(open) = Sequence::open_at_once(sequence) {
        refill(sequence, open, false);
    }
}

/// Returns how many values a segment has, and how many it can have at most. A sequence of few values must not lose many
/// of them at a crash: a step does not grow where an integer has all of them.
fn steps(rules: &Rules, cache: u64) -> (u64, u64) {
    const FEW: u64 = 1 << 32;
    let total = rules.total();
    let most = if total > FEW {
        settings::segment_max_step()
    } else {
        1
    };
    let own = if cache > 1 {
        cache
    } else {
        settings::segment_step().min((total / 1_000).max(1))
    };
    (own.min(LONGEST), most)
}

/// Takes the next segment from the page, unless another session has done so. `needed`: raises an error when there is
/// none, and does not hasten the flush of the log, as the caller flushes it at once.
pub fn refill(oid: pg_sys::Oid, mut sequence: Sequence, needed: bool) {
    let (rules, cache) = sequence.definition();
    let segments = attach(oid, &sequence);
    if source::may_be_name(&rules) && source::of(oid).is_some() {
        drop(sequence);
        return source::fetch(oid, segments.slot, needed);
    }
    let (own, most) = steps(&rules, cache);
    let now = clock::now();
    let (taken, is_tried) = (Cell::new(None), Cell::new(false));
    let added = Cell::new(0);
    let segments = Cell::new(segments);
    let (found, position) = sequence.update_then(
        |found, logged| {
            let slot = segments.get().slot;
            if slot.is_stale(found, logged, &rules, cache) {
                segments.set(segments.get().renewed());
            }
            if !slot.segment.lacks_next() {
                return None;
            }
            is_tried.set(true);
            let step = slot.segment.next_step(now, own, most);
            let values = rules.take(sequence_state(found), 1, step)?;
            slot.segment.note_step(step);
            taken.set(Some(values));
            Some(row(values))
        },
        |position| {
            if let Some(values) = taken.get() {
                segments.get().slot.note_page(values.last(), position);
                if segments.get().fill(values, position, now) {
                    added.set(values.count);
                }
            }
        },
    );
    match taken.get() {
        Some(_) => {
            give_back::keep();
            statistics::note_refill(added.get());
            let slot = segments.get().slot;
            warn_if_nearly_exhausted(&sequence, &rules, sequence_state(found), slot);
        }
        None if needed && is_tried.get() => exhausted::refuse(&sequence, &rules, 1),
        None => {}
    }
    if !needed && taken.get().is_some() {
        sequence::flush_soon(position);
    }
}

/// Takes values in a row from the page itself, as the segments have fewer.
pub fn take(oid: pg_sys::Oid, count: u64) -> Values {
    let mut sequence = open(oid);
    let (rules, cache) = sequence.definition();
    let segments = Cell::new(attach(oid, &sequence));
    let taken = Cell::new(None);
    let (found, position) = sequence.update_then(
        |found, logged| {
            if segments.get().slot.is_stale(found, logged, &rules, cache) {
                segments.set(segments.get().renewed());
            }
            let values = rules.take(sequence_state(found), count, count)?;
            taken.set(Some(values));
            Some(row(values))
        },
        |position| {
            if let Some(values) = taken.get() {
                segments.get().slot.note_page(values.last(), position);
            }
        },
    );
    let Some(values) = taken.get() else {
        exhausted::refuse(&sequence, &rules, count)
    };
    sequence::flush(position);
    let slot = segments.get().slot;
    warn_if_nearly_exhausted(&sequence, &rules, sequence_state(found), slot);
    values
}

/// Takes up to `count` values for another server, which has taken values up to `end` before. Returns them, and whether
/// the sequence begins again at its end.
///
/// Raises an error for every server while the sequence stands before the furthest `end` that any of them has told: it
/// was set back, and would issue values again. Always from the page, so that the values of each server follow those
/// that it took before.
pub fn take_for_server(oid: pg_sys::Oid, count: u64, end: Option<i64>) -> (Values, bool) {
    let mut sequence = open(oid);
    let (rules, cache) = sequence.definition();
    source::refuse_change("take values of", oid, &sequence, &rules);
    let segments = Cell::new(attach(oid, &sequence));
    let (taken, behind) = (Cell::new(None), Cell::new(None));
    let (found, position) = sequence.update_then(
        |found, logged| {
            if segments.get().slot.is_stale(found, logged, &rules, cache) {
                segments.set(segments.get().renewed());
            }
            let values = rules.take(sequence_state(found), 1, count)?;
            let end = segments.get().slot.note_end(end, rules.increment);
            if let Some(end) = end
                && !rules.cycle
                && !values.are_beyond(end)
            {
                behind.set(Some((end, values.first)));
                return None;
            }
            taken.set(Some(values));
            Some(row(values))
        },
        |position| {
            if let Some(values) = taken.get() {
                segments.get().slot.note_page(values.last(), position);
            }
        },
    );
    if let Some((end, next)) = behind.get() {
        refuse_behind(&sequence, end, next);
    }
    let Some(values) = taken.get() else {
        exhausted::refuse(&sequence, &rules, 1)
    };
    sequence::flush(position);
    let slot = segments.get().slot;
    warn_if_nearly_exhausted(&sequence, &rules, sequence_state(found), slot);
    (values, rules.cycle)
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

/// Sets a sequence to a value, as issued, and drops its segments: the next draw, also in a running statement, returns
/// the value after it.
pub fn set(oid: pg_sys::Oid, value: i64) {
    recovery::refuse(&IN_RECOVERY);
    let sequence = open_for(oid, pg_sys::ACL_UPDATE);
    let (rules, _) = sequence.definition();
    source::refuse_change("set", oid, &sequence, &rules);
    let key = SlotKey::new(sequence.identity());
    // By the server's own function, so that this session also drops the values that nextval has cached.
    sql::set_sequence(oid, value);
    slots::drop_segments(key);
}

/// The percentage of a sequence that was drawn from which on each further percent is warned of.
const NEARLY_ALL: u32 = 90;

/// Warns once at each percent of the last tenth, and once more when the page has no values left, so that what is in the
/// segments is all that can still be drawn. Called after values were taken from the page, which is at `state` now.
fn warn_if_nearly_exhausted(
    sequence: &Sequence,
    rules: &Rules,
    state: SequenceState,
    slot: &SegmentsSlot,
) {
    let (total, on_page) = (rules.total(), rules.left(state));
    let left = on_page.saturating_add(slot.segment.left()).min(total);
    let percent = u128::from(total - left) * 100 / u128::from(total.max(1));
    let percent = if on_page == 0 { 100 } else { percent as u32 };
    if !rules.cycle && slot.is_further(percent) && percent >= NEARLY_ALL {
        error::warn(
            format!("sequence \"{}\" is nearly exhausted", sequence.name()),
            format!("Of {total} values, {left} can still be drawn."),
            more_values_hint(sequence.limits(), rules),
        );
    }
}

/// Returns the HINT of a sequence that has few values left: none for one that ends where type bigint does.
fn more_values_hint(limits: RangeInclusive<i64>, rules: &Rules) -> Option<&'static str> {
    let (end, limit, furthest, hint) = if rules.increment > 0 {
        let hint = "Increase MAXVALUE of the sequence.";
        (rules.max, *limits.end(), i64::MAX, hint)
    } else {
        let hint = "Decrease MINVALUE of the sequence.";
        (rules.min, *limits.start(), i64::MIN, hint)
    };
    match end {
        _ if end == furthest => None,
        _ if end == limit => Some("Use a sequence of type bigint, and a column of that type."),
        _ => Some(hint),
    }
}
