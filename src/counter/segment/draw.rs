//! Drawing from sequences: all sessions draw from segments in shared memory.

use crate::counter::segment::refill::{prefetch, refill, take};
use crate::counter::segment::session::{
    find_segments, forget, last_of, open, open_for, open_with, recent, set_last,
};
use crate::counter::segment::slots::{Segments, SegmentsSlot};
use crate::counter::segment::{slots, source};
use crate::counter::slot_table::SlotKey;
use crate::pg::backend::recovery;
use crate::pg::catalog::privilege;
use crate::pg::error::report;
use crate::pg::sequence;
use crate::pg::sequence::Lock;
use crate::statistics::{self, Count, Wait};
use mint_core::counter::segment::Switch;
use mint_core::{Draw, Values};
use pgrx::{PgSqlErrorCode as Code, pg_sys};

/// Returns the next value of a sequence, and records it as the last one of this session.
#[inline]
pub fn next(sequence: pg_sys::Oid) -> i64 {
    let known = recent();
    if known.sequence == sequence
        && known.user.get() == privilege::current_user()
        && let Some(Segments { slot, owner }) = known.segments.get()
        && let Draw::Got { first, fetch, .. } = slot.segment.draw(owner, 1)
    {
        if fetch && slot.wants_next() {
            prefetch(sequence);
        }
        set_last(first);
        return first;
    }
    next_range(sequence, 1).first
}

/// Returns the next `count` values in a row, and records the first of them as the last one of this session.
#[cold]
pub fn next_range(sequence: pg_sys::Oid, count: u64) -> Values {
    let values = draw(sequence, count);
    set_last(values.first);
    values
}

/// Returns the value that this session drew last, if the role may read the sequence.
pub fn last(oid: pg_sys::Oid, function: &str) -> i64 {
    let sequence = open_for(oid, pg_sys::ACL_USAGE | pg_sys::ACL_SELECT);
    last_of(oid).unwrap_or_else(|| {
        let name = sequence.name();
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("{function} of sequence \"{name}\" is not yet defined in this session"),
        )
        .raise()
    })
}

/// Returns the value that any session drew last from the segments of a sequence, if the role may read it; none before
/// the first. Without segments, as after a restart and during recovery, the last value that was taken.
pub fn current(oid: pg_sys::Oid) -> Option<i64> {
    let privileges = pg_sys::ACL_USAGE | pg_sys::ACL_SELECT;
    let sequence = open_with(oid, Lock::Read, privileges);
    let (rules, cache) = sequence.definition();
    let is_stale = |slot: &SegmentsSlot| {
        sequence.is_at(|row, logged| slot.is_stale(row, logged, &rules, cache))
    };
    // The segments are in the memory of the primary.
    let drawn = if recovery::is_in_progress() {
        None
    } else {
        slots::state(SlotKey::new(sequence.identity()), is_stale).and_then(|state| state.last)
    };
    drawn.or_else(|| {
        let row = sequence.row();
        if source::find(oid, &rules).is_some() {
            return source::end_of(row);
        }
        row.is_called.then_some(row.last_value)
    })
}

/// Draws `count` values in a row.
fn draw(sequence: pg_sys::Oid, count: u64) -> Values {
    loop {
        let segments = find_segments(sequence);
        let Segments { slot, owner } = segments;
        match slot.segment.draw(owner, count) {
            Draw::Got {
                first,
                increment,
                fetch,
            } => {
                if fetch && slot.wants_next() {
                    prefetch(sequence);
                }
                return Values {
                    first,
                    increment,
                    count,
                };
            }
            Draw::NotMine => forget(sequence),
            Draw::Short { left } if count > 1 => {
                let Some(step) = remote_step(sequence) else {
                    let values = take(sequence, count);
                    statistics::add(Count::ValuesTaken, count);
                    return values;
                };
                check_count(count, step);
                if left > 0 {
                    // The rest of the segment is too short, and is lost.
                    if let Draw::Got { .. } = slot.segment.draw(owner, left) {
                        statistics::add(Count::ValuesDropped, left);
                    }
                } else {
                    switch_segment(segments, sequence);
                }
            }
            Draw::Short { .. } => switch_segment(segments, sequence),
        }
        pgrx::check_for_interrupts!();
    }
}

/// Switches to the next segment, which is taken now if no other session has done so.
fn switch_segment(segments: Segments, sequence: pg_sys::Oid) {
    let Segments { slot, owner } = segments;
    match slot.segment.switch(owner, sequence::flush) {
        Switch::Done => {}
        Switch::NotMine => forget(sequence),
        Switch::Unfilled => {
            segments.with_owner(|slot| slot.segment.note_wait());
            let waiting = Wait::Segment.begin(true);
            let open = open(sequence);
            refill(sequence, open, true);
            segments.with_owner(|slot| slot.segment.note_waited(waiting.span()));
        }
    }
}

/// Returns the step of a sequence whose values come from another server.
fn remote_step(sequence: pg_sys::Oid) -> Option<u64> {
    let (rules, _) = open(sequence).definition();
    Some(source::find(sequence, &rules)?.steps().0)
}

/// Raises an error for more values in a row than a segment of another server has.
fn check_count(count: u64, step: u64) {
    if count > step {
        report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            format!("count must be at most {step}"),
        )
        .detail(format!(
            "Values of the sequence come from a foreign server in segments of {step}."
        ))
        .raise();
    }
}
