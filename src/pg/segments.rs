//! Drawing from sequences: segments in shared memory, taken from the sequence's page.
//!
//! Taking adds to what the page has, under its lock, as `nextval` does. So both may be used on one sequence.
//! The next segment is put into shared memory under the same lock: one at a time, and an error gives the
//! lock back.
//!
//! `setval` tells nobody. So the first draw of each statement of the client looks at the page, and drops the segments
//! when somebody has set the sequence to another value; what a running statement draws may still come from before.

use super::errors::report;
use super::local::Local;
use super::segment_slots::{self, Place};
use super::sequence::{self, Lock, Row, Sequence};
use super::slots::Key;
use super::{clock, ends, rights, settings, sources, watch};
use mint_core::segment::{LONGEST, Turn};
use mint_core::{Draw, Place as Standing, Rules, Values};
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ptr;

/// What a session knows of a sequence.
struct Known {
    sequence: pg_sys::Oid,
    /// Who was found to have the privilege to draw; nobody when that must be asked again.
    user: pg_sys::Oid,
    /// Where its segments are.
    place: Option<Place>,
    /// The file of the page that they were taken from.
    file: pg_sys::Oid,
    /// The statement in which the page was looked at.
    statement: u64,
    /// The ticket that this session drew last.
    last: Option<i64>,
}

static mut NOBODY: Known = Known {
    sequence: pg_sys::InvalidOid,
    user: pg_sys::InvalidOid,
    place: None,
    file: pg_sys::InvalidOid,
    statement: 0,
    last: None,
};

/// Every sequence that the session has drawn from. Boxed, so that they stay where they are.
static mut KNOWN: BTreeMap<u32, Box<Known>> = BTreeMap::new();

/// The one of the call before, which most often is the next one's as well. Of the same statement.
static mut RECENT: *mut Known = &raw mut NOBODY;

/// Counts the statements of the client.
static STATEMENT: Local<u64> = Local::new(0);

/// Called when the client's next statement begins.
pub fn begin_statement() {
    STATEMENT.set(STATEMENT.get() + 1);
    // SAFETY: a backend is one thread.
    unsafe { RECENT = &raw mut NOBODY };
}

/// The next value of a sequence.
#[inline]
pub fn next(sequence: pg_sys::Oid) -> i64 {
    // SAFETY: a backend is one thread, and RECENT points to what is never freed.
    let known = unsafe { &*RECENT };
    if known.sequence == sequence
        && known.user == rights::user()
        && let Some(Place { slot, owner }) = known.place
        && let Draw::Got { first, fetch, .. } = slot.segment.draw(owner, 1)
    {
        if fetch {
            prefetch(sequence);
        }
        return first;
    }
    draw(sequence, 1).first
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
    draw(sequence, count)
}

/// As [`next_range`], and the session remembers the first as its last ticket.
pub fn next_tickets(sequence: pg_sys::Oid, count: u64) -> Values {
    let values = draw(sequence, count);
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

#[cold]
fn draw(sequence: pg_sys::Oid, count: u64) -> Values {
    loop {
        let place = place(sequence);
        let Place { slot, owner } = place;
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
                Some(()) => turn(place, sequence),
            },
            Draw::Short { .. } => turn(place, sequence),
        }
        pgrx::check_for_interrupts!();
    }
}

/// Turns to the next segment, which is taken now if nobody has.
fn turn(Place { slot, owner }: Place, sequence: pg_sys::Oid) {
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
fn place(sequence: pg_sys::Oid) -> Place {
    if let Some(place) = known_place(sequence) {
        return place;
    }
    let open = open(sequence);
    let place = attach(sequence, &open);
    // SAFETY: a backend is one thread, and `attach` has left the sequence in RECENT.
    unsafe { (*RECENT).user = rights::user() };
    place
}

/// Where this session has found them, if nothing has changed since.
fn known_place(sequence: pg_sys::Oid) -> Option<Place> {
    // SAFETY: a backend is one thread.
    let known = || unsafe { (*ptr::addr_of_mut!(KNOWN)).get_mut(&sequence.to_u32()) };
    let is_known = |known: &&mut Box<Known>| known.user == rights::user() && known.place.is_some();
    let looked_at = known().filter(is_known)?.statement;
    if looked_at != STATEMENT.get() {
        look(sequence);
    }
    // The look may have brought word of changes.
    let known = known().filter(is_known)?;
    // SAFETY: as above.
    unsafe { RECENT = &raw mut **known };
    known.place
}

/// Looks at the page, for the first draw of a statement: whether somebody has set the sequence to another value. Not
/// while somebody alters it, as that is not committed yet.
fn look(oid: pg_sys::Oid) {
    let Some(sequence) = Sequence::open_at_once(oid) else {
        return;
    };
    attach(oid, &sequence);
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
    refuse_in_recovery();
    open_for(oid, pg_sys::ACL_USAGE | pg_sys::ACL_UPDATE)
}

/// Opens a sequence to write it, if the user has any of these privileges.
fn open_for(oid: pg_sys::Oid, privileges: u32) -> Sequence {
    watch::begin();
    let Some(sequence) = Sequence::open(oid, Lock::Write) else {
        report(
            Code::ERRCODE_UNDEFINED_TABLE,
            format!("relation with OID {oid} does not exist"),
            None,
            None,
        )
    };
    let kind = pg_sys::ObjectType::OBJECT_SEQUENCE;
    rights::demand(oid, &sequence.name(), privileges, kind);
    sequence
}

/// Finds or makes the segments of an open sequence, and remembers them. They are trusted only beside the page. Says
/// nothing of who may draw.
fn attach(oid: pg_sys::Oid, sequence: &Sequence) -> Place {
    let (_, file) = sequence.identity();
    // SAFETY: a backend is one thread, and nothing of KNOWN is lent while it changes.
    let known = unsafe { &mut *ptr::addr_of_mut!(KNOWN) };
    let known = known.entry(oid.to_u32()).or_insert_with(|| {
        Box::new(Known {
            sequence: oid,
            user: pg_sys::InvalidOid,
            place: None,
            file,
            statement: 0,
            last: None,
        })
    });
    let standing = known
        .place
        .filter(|place| known.file == file && place.is_mine());
    let mut place = standing.unwrap_or_else(|| slot_for(sequence));
    if known.statement != STATEMENT.get() || standing.is_none() {
        let (rules, cache) = sequence.definition();
        if sequence.is_at(|row| place.slot.is_stale(row, &rules, cache)) {
            place = place.renewed();
        }
    }
    known.place = Some(place);
    known.file = file;
    known.statement = STATEMENT.get();
    // SAFETY: as above.
    unsafe { RECENT = &raw mut **known };
    place
}

fn slot_for(sequence: &Sequence) -> Place {
    segment_slots::slot_for(Key::new(sequence.identity())).unwrap_or_else(|| {
        report(
            Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
            "no room for the segments of a sequence".to_owned(),
            None,
            Some("Raise pg_mint.max_segments and restart the server.".to_owned()),
        )
    })
}

fn row(values: Values) -> Row {
    Row {
        last_value: values.last(),
        log_count: 0,
        is_called: true,
    }
}

fn standing(row: Row) -> Standing {
    Standing {
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

/// How many values a segment shall have, and how many it may have at most. A sequence of few values shall not lose many
/// of them with each restart.
fn steps(rules: &Rules, cache: u64) -> (u64, u64) {
    let total = rules.total();
    let own = if cache > 1 {
        cache
    } else {
        settings::segment_step().min((total / 1_000).max(1))
    };
    (
        own.min(LONGEST),
        settings::segment_max_step().min(total / 10_000),
    )
}

/// Takes the next segment from the page, unless another session has done so. `needed`: it is an error when
/// there is none, and its place in the log need not be flushed soon, as the caller will flush it now.
fn refill(oid: pg_sys::Oid, mut sequence: Sequence, needed: bool) {
    let (rules, cache) = sequence.definition();
    let place = attach(oid, &sequence);
    if sources::may_be_name(&rules) && sources::of(oid).is_some() {
        drop(sequence);
        return sources::fetch(oid, place.slot, needed);
    }
    let (own, most) = steps(&rules, cache);
    let now = clock::now();
    let (taken, before) = (Cell::new(None), Cell::new(None));
    let place = Cell::new(place);
    let (found, position) = sequence.update_then(
        |found| {
            let slot = place.get().slot;
            if slot.is_stale(found, &rules, cache) {
                place.set(place.get().renewed());
            }
            if !slot.segment.lacks_next() {
                return None;
            }
            before.set(Some(standing(found)));
            let step = slot.segment.next_step(now, own, most);
            let values = rules.take(standing(found), 1, step)?;
            taken.set(Some(values));
            Some(row(values))
        },
        |position| {
            if let Some(values) = taken.get() {
                place.get().slot.note_page(values.last(), position);
                place.get().fill(values, position, now);
            }
        },
    );
    match (before.get(), taken.get()) {
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
    let (rules, cache) = sequence.definition();
    let place = Cell::new(attach(oid, &sequence));
    let (taken, before) = (Cell::new(None), Cell::new(None));
    let (found, position) = sequence.update_then(
        |found| {
            if place.get().slot.is_stale(found, &rules, cache) {
                place.set(place.get().renewed());
            }
            before.set(Some(standing(found)));
            taken.set(rules.take(standing(found), count, count));
            taken.get().map(row)
        },
        |position| {
            if let Some(values) = taken.get() {
                place.get().slot.note_page(values.last(), position);
            }
        },
    );
    match (before.get(), taken.get()) {
        (Some(before), Some(values)) => {
            sequence::flush(position);
            ends::warn(&sequence, &rules, before, standing(found));
            values
        }
        _ => ends::refuse(&sequence, &rules, count),
    }
}

/// Sets a sequence to a value, as issued, and drops the segments that were taken from it: who draws next, in a running
/// statement too, gets what follows the value.
pub fn set(oid: pg_sys::Oid, value: i64) {
    refuse_in_recovery();
    let mut sequence = open_for(oid, pg_sys::ACL_UPDATE);
    let (rules, _) = sequence.definition();
    if sources::may_be_name(&rules) && sources::of(oid).is_some() {
        report(
            Code::ERRCODE_WRONG_OBJECT_TYPE,
            format!("cannot set sequence \"{}\"", sequence.name()),
            Some("Its values come from another server.".to_owned()),
            Some("Set the sequence there.".to_owned()),
        );
    }
    if !(rules.min..=rules.max).contains(&value) {
        report(
            Code::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
            format!(
                "value {value} is out of bounds for sequence \"{}\" ({}..{})",
                sequence.name(),
                rules.min,
                rules.max
            ),
            None,
            None,
        );
    }
    let key = Key::new(sequence.identity());
    let next = Row {
        last_value: value,
        log_count: 0,
        is_called: true,
    };
    let (_, position) = sequence.update_then(|_| Some(next), |_| segment_slots::drop_segments(key));
    sequence::flush(position);
}
