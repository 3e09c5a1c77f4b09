//! Drawing from sequences: segments in shared memory, taken from the sequence's page.
//!
//! Taking adds to what the page has, under its lock, as `nextval` does. So both may be used on one sequence.
//! The next segment is put into shared memory under the same lock: one at a time, and an error gives the
//! lock back.

use super::errors::report;
use super::segment_slots::{Slot, slot_for};
use super::sequence::{self, Lock, Row, Sequence};
use super::shared::shared;
use super::{clock, ends, rights, settings, sources, watch};
use mint_core::segment::{LONGEST, Owner, Turn};
use mint_core::{Draw, Place, Values};
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::collections::BTreeMap;
use std::ptr;

/// What a session knows of a sequence.
struct Known {
    sequence: pg_sys::Oid,
    /// Who was found to have the privilege to draw; nobody when that must be asked again.
    user: pg_sys::Oid,
    /// Where its segments are, under which number.
    place: Option<(&'static Slot, Owner)>,
    /// The ticket that this session drew last.
    last: Option<i64>,
}

static mut NOBODY: Known = Known {
    sequence: pg_sys::InvalidOid,
    user: pg_sys::InvalidOid,
    place: None,
    last: None,
};

/// Every sequence that the session has drawn from. Boxed, so that they stay where they are.
static mut KNOWN: BTreeMap<u32, Box<Known>> = BTreeMap::new();

/// The one of the call before, which most often is the next one's as well.
static mut RECENT: *mut Known = &raw mut NOBODY;

/// The next value of a sequence.
#[inline]
pub fn next(sequence: pg_sys::Oid) -> i64 {
    // SAFETY: a backend is one thread, and RECENT points to what is never freed.
    let known = unsafe { &*RECENT };
    if known.sequence == sequence
        && known.user == rights::user()
        && let Some((slot, owner)) = known.place
        && let Draw::Got { first, fetch, .. } = slot.segment.draw(owner, 1)
    {
        if fetch {
            prefetch(sequence);
        }
        return first;
    }
    draw(sequence, 1, false).first
}

/// The next value, and the session remembers it as its last ticket.
#[inline]
pub fn next_ticket(sequence: pg_sys::Oid) -> i64 {
    let value = next(sequence);
    // SAFETY: as above. `next` has left the sequence in RECENT.
    unsafe { (*RECENT).last = Some(value) };
    value
}

/// The next `count` values in a row.
pub fn next_range(sequence: pg_sys::Oid, count: u64) -> Values {
    draw(sequence, count, true)
}

/// As [`next_range`], and the session remembers the first as its last ticket.
pub fn next_tickets(sequence: pg_sys::Oid, count: u64) -> Values {
    let values = draw(sequence, count, true);
    // SAFETY: as above. `draw` has left the sequence in RECENT.
    unsafe { (*RECENT).last = Some(values.first) };
    values
}

/// The ticket that this session drew last from a sequence.
pub fn last_ticket(sequence: pg_sys::Oid) -> Option<i64> {
    // SAFETY: a backend is one thread.
    let known = unsafe { &*ptr::addr_of!(KNOWN) };
    known.get(&sequence.to_u32())?.last
}

/// Forgets the last tickets, as DISCARD does.
pub fn forget_tickets() {
    // SAFETY: a backend is one thread.
    for known in unsafe { &mut *ptr::addr_of_mut!(KNOWN) }.values_mut() {
        known.last = None;
    }
}

/// Called when a relation or what privileges depend on has changed; without an oid, when any may have.
pub fn forget(relation: pg_sys::Oid) {
    // SAFETY: a backend is one thread, and this is called between its steps, not within one.
    let known = unsafe { &mut *ptr::addr_of_mut!(KNOWN) };
    let forget = |known: &mut Known| {
        known.user = pg_sys::InvalidOid;
        known.place = None;
    };
    if relation == pg_sys::InvalidOid {
        known.values_mut().for_each(|known| forget(known));
    } else if let Some(known) = known.get_mut(&relation.to_u32()) {
        forget(known);
    }
}

/// Draws `count` values in a row, for a range or not.
#[cold]
fn draw(sequence: pg_sys::Oid, count: u64, for_range: bool) -> Values {
    loop {
        let (slot, owner) = place(sequence);
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
            Draw::Short { left } if count > 1 => match from_afar(sequence, count) {
                None => return take(sequence, count),
                // What is left is too short for values in a row, and is lost.
                Some(()) if left > 0 => drop(slot.segment.draw(owner, left)),
                Some(()) => turn(slot, owner, sequence),
            },
            Draw::Short { .. } => turn(slot, owner, sequence),
        }
        pgrx::check_for_interrupts!();
    }
}

/// Looks whether the greatest bigint would be among the next values, before they are drawn. Others may draw in between:
/// then what was drawn to show this is lost.
fn refuse_unfit(slot: &Slot, sequence: pg_sys::Oid, count: u64) {
    let look = slot.segment.look();
    let (Some(first), Some(last)) = (look.position, look.ceiling) else {
        return;
    };
    if first.max(last) == i64::MAX {
        let open = open(sequence);
        let increment = open.definition().0.increment;
        let values = Values {
            first,
            increment,
            count,
        };
        if !ends::fits_range(&values) {
            ends::refuse_range(&open);
        }
    }
}

/// Turns to the next segment, which is taken now if nobody has.
fn turn(slot: &'static Slot, owner: Owner, sequence: pg_sys::Oid) {
    match slot.segment.turn(owner, sequence::flush) {
        Turn::Done => {}
        Turn::NotMine => forget(sequence),
        Turn::Lacking => {
            slot.segment.note_wait();
            let open = open(sequence);
            refill(sequence, open, true);
        }
    }
}

/// Whether a sequence's values come from another server, in segments of `count` at least.
fn from_afar(sequence: pg_sys::Oid, count: u64) -> Option<()> {
    let (rules, _) = open(sequence).definition();
    let source = sources::may_be_name(&rules).then(|| sources::of(sequence));
    let step = source.flatten()?.step;
    if count > step {
        report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            format!("count must be at most {step}, the step of the sequence"),
            Some("Its values come from another server, a segment at a time.".to_owned()),
            None,
        );
    }
    Some(())
}

/// Where a sequence's segments are, if the user may draw.
fn place(sequence: pg_sys::Oid) -> (&'static Slot, Owner) {
    // SAFETY: a backend is one thread.
    let known = unsafe { &mut *ptr::addr_of_mut!(KNOWN) };
    if let Some(known) = known.get_mut(&sequence.to_u32())
        && known.user == rights::user()
        && let Some(place) = known.place
    {
        // SAFETY: as above.
        unsafe { RECENT = &raw mut **known };
        return place;
    }
    let open = open(sequence);
    attach(sequence, &open)
}

/// Raises an error while the server is in recovery.
pub fn refuse_in_recovery() {
    // SAFETY: a call without preconditions.
    if unsafe { pg_sys::RecoveryInProgress() } {
        report(
            Code::ERRCODE_READ_ONLY_SQL_TRANSACTION,
            "cannot draw from a sequence during recovery".to_owned(),
            Some("The primary may be issuing the same values.".to_owned()),
            Some("Draw on the primary, or promote this server.".to_owned()),
        );
    }
}

/// Opens a sequence to draw from it, if the user may.
fn open(oid: pg_sys::Oid) -> Sequence {
    watch::begin();
    refuse_in_recovery();
    let Some(sequence) = Sequence::open(oid, Lock::Write) else {
        report(
            Code::ERRCODE_UNDEFINED_TABLE,
            format!("relation with OID {oid} does not exist"),
            None,
            None,
        )
    };
    let privileges = pg_sys::ACL_USAGE | pg_sys::ACL_UPDATE;
    let kind = pg_sys::ObjectType::OBJECT_SEQUENCE;
    rights::demand(oid, &sequence.name(), privileges, kind);
    sequence
}

/// Finds or makes the segments of an open sequence, and remembers them.
fn attach(oid: pg_sys::Oid, sequence: &Sequence) -> (&'static Slot, Owner) {
    let (_, file) = sequence.identity();
    // SAFETY: reads a plain oid, set when the session connected.
    let database = unsafe { pg_sys::MyDatabaseId };
    let place = slot_for((database.to_u32(), oid.to_u32(), file.to_u32()));
    // SAFETY: a backend is one thread, and nothing of KNOWN is lent while it changes.
    unsafe {
        let known = &mut *ptr::addr_of_mut!(KNOWN);
        let known = known.entry(oid.to_u32()).or_insert_with(|| {
            Box::new(Known {
                sequence: oid,
                user: pg_sys::InvalidOid,
                place: None,
                last: None,
            })
        });
        known.user = rights::user();
        known.place = Some(place);
        RECENT = &raw mut **known;
    }
    place
}

fn row(values: Values) -> Row {
    Row {
        last_value: values.last(),
        log_count: 0,
        is_called: true,
    }
}

fn standing(row: Row) -> Place {
    Place {
        last: row.last_value,
        called: row.is_called,
    }
}

/// Takes the next segment, without waiting for anybody: who stands at the boundary will try again.
#[cold]
fn prefetch(sequence: pg_sys::Oid) {
    if let Some(open) = Sequence::open_at_once(sequence) {
        refill(sequence, open, false);
    }
}

/// Takes the next segment from the page, unless another session has done so. `needed`: it is an error when
/// there is none, and its place in the log need not be flushed soon, as the caller will flush it now.
fn refill(oid: pg_sys::Oid, mut sequence: Sequence, needed: bool) {
    let (rules, cache) = sequence.definition();
    let (slot, owner) = attach(oid, &sequence);
    if sources::may_be_name(&rules) && sources::of(oid).is_some() {
        drop(sequence);
        return sources::fetch(oid, slot, needed);
    }
    let own = if cache > 1 {
        cache
    } else {
        settings::segment_step()
    };
    // A busy sequence of few values shall not lose many of them with each restart.
    let most = settings::segment_max_step().min(rules.total() / 10_000);
    let now = clock::now();
    let taken = std::cell::Cell::new(None);
    let mut before = None;
    let (found, position) = sequence.update_then(
        |found| {
            if !slot.segment.lacks_next() {
                return None;
            }
            before = Some(standing(found));
            let step = slot.segment.next_step(now, own.min(LONGEST), most);
            let values = rules.take(standing(found), 1, step)?;
            taken.set(Some(values));
            Some(row(values))
        },
        |position| {
            if let Some(values) = taken.get() {
                slot.note_use(now);
                // What cannot be put there, because the slot went to another sequence, is lost.
                shared().locked(|_| slot.segment.fill(owner, values, position, now));
            }
        },
    );
    match (before, taken.get()) {
        (Some(before), Some(_)) => ends::warn(&sequence, &rules, before, standing(found)),
        (Some(_), None) if needed => ends::refuse(&sequence, &rules, 1),
        _ => {}
    }
    if !needed && taken.get().is_some() {
        sequence::hasten(position);
    }
}

/// Takes values in a row past the segments, which have not as many.
fn take(oid: pg_sys::Oid, count: u64) -> Values {
    let mut sequence = open(oid);
    let (rules, _) = sequence.definition();
    let mut taken = None;
    let mut before = None;
    let mut unfit = false;
    let (found, position) = sequence.update(|found| {
        before = Some(standing(found));
        taken = rules.take(standing(found), count, count);
        unfit = taken.is_some_and(|values| !ends::fits_range(&values));
        taken.filter(|_| !unfit).map(row)
    });
    match (before, taken) {
        _ if unfit => ends::refuse_range(&sequence),
        (Some(before), Some(values)) => {
            sequence::flush(position);
            ends::warn(&sequence, &rules, before, standing(found));
            values
        }
        _ => ends::refuse(&sequence, &rules, count),
    }
}
