//! Drawing from sequences: all sessions draw from segments in shared memory.

use crate::counter::exhausted;
use crate::counter::segment::refill::{prefetch, refill, take};
use crate::counter::segment::session::{find_segments, forget, open, recent, set_last_ticket};
use crate::counter::segment::slots::{Segments, Slot};
use crate::counter::segment::source;
use crate::pg::catalog::privilege;
use crate::pg::error::report;
use crate::pg::sequence;
use mint_core::counter::segment::Switch;
use mint_core::{Draw, Values};
use pgrx::{PgSqlErrorCode as Code, pg_sys};

/// Returns the next value of a sequence.
#[inline]
pub fn next(sequence: pg_sys::Oid) -> i64 {
    let known = recent();
    if known.sequence == sequence
        && known.user.get() == privilege::user()
        && let Some(Segments { slot, owner }) = known.segments.get()
        && let Draw::Got { first, fetch, .. } = slot.segment.draw(owner, 1)
    {
        if fetch {
            prefetch(sequence);
        }
        return first;
    }
    draw(sequence, 1, false).first
}

/// Returns the next value, and records it as the last ticket of this session.
#[inline]
pub fn next_ticket(sequence: pg_sys::Oid) -> i64 {
    let value = next(sequence);
    set_last_ticket(value);
    value
}

/// Returns the next `count` values in a row.
pub fn next_range(sequence: pg_sys::Oid, count: u64) -> Values {
    draw(sequence, count, true)
}

/// As [`next_range`]; records the first value as the last ticket of this session.
pub fn next_tickets(sequence: pg_sys::Oid, count: u64) -> Values {
    let values = draw(sequence, count, true);
    set_last_ticket(values.first);
    values
}

/// Draws `count` values in a row, for a range or not.
#[cold]
fn draw(sequence: pg_sys::Oid, count: u64, for_range: bool) -> Values {
    loop {
        let segments = find_segments(sequence);
        let Segments { slot, owner } = segments;
        if for_range {
            refuse_unfit(slot, sequence, count);
        }
        match slot.segment.draw(owner, count) {
            Draw::Got {
                first,
                increment,
                fetch,
            } => {
                if fetch {
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
                    return take(sequence, count);
                };
                check_count(count, step);
                if left > 0 {
                    // The rest of the segment is too short, and is lost.
                    let _ = slot.segment.draw(owner, left);
                } else {
                    switch_segment(segments, sequence);
                }
            }
            Draw::Short { .. } => switch_segment(segments, sequence),
        }
        pgrx::check_for_interrupts!();
    }
}

/// Raises an error if the greatest bigint would be among the next values, which no range can hold. Other sessions may
/// draw in between: then the values that are drawn are lost.
fn refuse_unfit(slot: &Slot, sequence: pg_sys::Oid, count: u64) {
    let look = slot.segment.state();
    let (Some(first), Some(last)) = (look.position, look.ceiling) else {
        return;
    };
    if first.max(last) == i64::MAX {
        let open = open(sequence);
        let (rules, _) = open.definition();
        // The increment of a remote sequence is no step of its values.
        let increment = if source::may_be_name(&rules) {
            1
        } else {
            rules.increment
        };
        let values = Values {
            first,
            increment,
            count,
        };
        if !exhausted::fits_range(&values) {
            exhausted::refuse_range(&open);
        }
    }
}

/// Turns to the next segment, which is taken now if no other session has done so.
fn switch_segment(Segments { slot, owner }: Segments, sequence: pg_sys::Oid) {
    match slot.segment.switch(owner, sequence::flush) {
        Switch::Done => {}
        Switch::NotMine => forget(sequence),
        Switch::Unfilled => {
            slot.segment.note_wait();
            let open = open(sequence);
            refill(sequence, open, true);
        }
    }
}

/// Returns the step of a sequence whose values come from another server.
fn remote_step(sequence: pg_sys::Oid) -> Option<u64> {
    let (rules, _) = open(sequence).definition();
    let source = source::may_be_name(&rules).then(|| source::of(sequence));
    Some(source.flatten()?.step())
}

/// Raises an error for more values in a row than a segment of another server has.
fn check_count(count: u64, step: u64) {
    if count > step {
        report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            format!("count must be at most {step}, the step of the sequence"),
        )
        .detail("Its values come from another server, a segment at a time.")
        .raise();
    }
}
