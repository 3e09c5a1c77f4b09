//! What a session knows of the sequences that it draws from: where their segments are, and that it may.
//!
//! `setval` sends no word. So the first draw of each statement of the client looks at the page, and drops the segments
//! when a session has set the sequence to another value; what a running statement draws may still come from before.

use crate::counter::exhausted::IN_RECOVERY;
use crate::counter::segment::slots;
use crate::counter::segment::slots::Place;
use crate::pg::backend::discard::on_discard;
use crate::pg::backend::last_used::LastUsed;
use crate::pg::backend::local::Local;
use crate::pg::backend::{recovery, statement};
use crate::pg::catalog::{invalidation, privilege, sql};
use crate::pg::error::report;
use crate::pg::sequence::{Lock, Sequence};
use crate::pg::slot_table::Key;
use pgrx::{PgSqlErrorCode as Code, pg_sys};

/// What a session knows of a sequence.
pub struct Known {
    pub sequence: pg_sys::Oid,
    /// The role that was found to have the privilege to draw; none when that must be asked again.
    pub user: Local<pg_sys::Oid>,
    /// Where its segments are.
    pub place: Local<Option<Place>>,
    /// The file of the page that they were taken from.
    file: Local<pg_sys::Oid>,
    /// The statement in which the page was looked at.
    statement: Local<u64>,
    /// The ticket that this session drew last.
    last: Local<Option<i64>>,
}

impl Known {
    const fn new(sequence: pg_sys::Oid) -> Self {
        Self {
            sequence,
            user: Local::new(pg_sys::InvalidOid),
            place: Local::new(None),
            file: Local::new(pg_sys::InvalidOid),
            statement: Local::new(0),
            last: Local::new(None),
        }
    }
}

static NOTHING: Known = Known::new(pg_sys::InvalidOid);

/// Every sequence that the session has drawn from. The one at hand is of the statement under way.
static KNOWN: LastUsed<Known> = LastUsed::new(&NOTHING);

/// Counts the statements of the client.
static STATEMENT: Local<u64> = Local::new(0);

/// Counts what was forgotten.
static FORGOTTEN: Local<u64> = Local::new(0);

/// What is known of the sequence of the call before.
#[inline]
pub fn recent() -> &'static Known {
    KNOWN.recent()
}

/// Remembers the ticket that was drawn from it last.
#[inline]
pub fn remember_ticket(value: i64) {
    KNOWN.recent().last.set(Some(value));
}

/// Registers what is to be forgotten, and when. Called once, when the library is loaded.
pub fn init() {
    statement::on_begin(begin_statement);
    on_discard(forget_tickets);
    invalidation::on_relation(forget);
    invalidation::on_role(|| forget(pg_sys::InvalidOid));
}

/// Called when the client's next statement begins.
fn begin_statement() {
    STATEMENT.set(STATEMENT.get() + 1);
    KNOWN.forget_recent();
}

/// The ticket that this session drew last from a sequence.
pub fn last_ticket(sequence: pg_sys::Oid) -> Option<i64> {
    KNOWN.get(sequence.to_u32())?.last.get()
}

/// Forgets the last tickets, as DISCARD does.
fn forget_tickets() {
    KNOWN.each(|known| known.last.set(None));
}

/// Called when a relation or what privileges depend on has changed; without an oid, when any may have.
pub fn forget(relation: pg_sys::Oid) {
    FORGOTTEN.set(FORGOTTEN.get() + 1);
    let forget = |known: &Known| {
        known.user.set(pg_sys::InvalidOid);
        known.place.set(None);
    };
    if relation == pg_sys::InvalidOid {
        KNOWN.each(forget);
    } else if let Some(known) = KNOWN.get(relation.to_u32()) {
        forget(known);
    }
}

/// Where a sequence's segments are, if the user may draw.
pub fn place(sequence: pg_sys::Oid) -> Place {
    if let Some(place) = known_place(sequence) {
        return place;
    }
    let forgotten = FORGOTTEN.get();
    let open = open(sequence);
    let place = attach(sequence, &open);
    // What has changed since the user was found to have the privilege may be that.
    if FORGOTTEN.get() == forgotten {
        // `attach` has left the sequence at hand.
        KNOWN.recent().user.set(privilege::user());
    }
    place
}

/// Where this session has found them, if nothing has changed since.
fn known_place(sequence: pg_sys::Oid) -> Option<Place> {
    let known = KNOWN.get(sequence.to_u32())?;
    let is_known = || known.user.get() == privilege::user() && known.place.get().is_some();
    if !is_known() {
        return None;
    }
    if known.statement.get() != STATEMENT.get() {
        look(sequence);
    }
    // The look may have brought word of changes.
    if !is_known() {
        return None;
    }
    KNOWN.set_recent(known);
    known.place.get()
}

/// Looks at the page, for the first draw of a statement: whether a session has set the sequence to another value. Not
/// while a session alters it, as that is not committed yet.
fn look(oid: pg_sys::Oid) {
    let Some(sequence) = Sequence::open_at_once(oid) else {
        return;
    };
    attach(oid, &sequence);
}

/// Opens a sequence to draw from it, if the user may.
pub fn open(oid: pg_sys::Oid) -> Sequence {
    recovery::refuse(&IN_RECOVERY);
    open_for(oid, pg_sys::ACL_USAGE | pg_sys::ACL_UPDATE)
}

/// Opens a sequence to write it, if the user has any of these privileges.
pub fn open_for(oid: pg_sys::Oid, privileges: u32) -> Sequence {
    invalidation::begin();
    let Some(sequence) = Sequence::open(oid, Lock::Write) else {
        sql::missing(oid)
    };
    let kind = pg_sys::ObjectType::OBJECT_SEQUENCE;
    privilege::demand(oid, &sequence.name(), privileges, kind);
    sequence
}

/// Finds or makes the segments of an open sequence, and remembers them. They are trusted only beside the page. Says
/// nothing of the privilege to draw.
pub fn attach(oid: pg_sys::Oid, sequence: &Sequence) -> Place {
    let (_, file) = sequence.identity();
    let known = KNOWN.get(oid.to_u32());
    let standing = known.and_then(|known| {
        let mine = |place: &Place| known.file.get() == file && place.is_mine();
        known.place.get().filter(mine)
    });
    let is_first = known.is_none_or(|known| known.statement.get() != STATEMENT.get());
    let mut place = standing.unwrap_or_else(|| slot_for(sequence));
    if is_first || standing.is_none() {
        let is_stale = !sequence.is_at(|_, logged| place.slot.is_as_left(logged)) && {
            let (rules, cache) = sequence.definition();
            sequence.is_at(|row, logged| place.slot.is_stale(row, logged, &rules, cache))
        };
        if is_stale {
            place = place.renewed();
        }
    }
    let known = known.unwrap_or_else(|| KNOWN.put(oid.to_u32(), Known::new(oid)));
    known.place.set(Some(place));
    known.file.set(file);
    known.statement.set(STATEMENT.get());
    KNOWN.set_recent(known);
    place
}

fn slot_for(sequence: &Sequence) -> Place {
    slots::slot_for(Key::new(sequence.identity())).unwrap_or_else(|| {
        report(
            Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
            "no room for the segments of a sequence",
        )
        .hint("Raise pg_mint.max_segments and restart the server.")
        .raise()
    })
}
