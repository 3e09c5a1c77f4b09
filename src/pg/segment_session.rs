//! What a session knows of the sequences that it draws from: where their segments are, and that it may.
//!
//! `setval` tells nobody. So the first draw of each statement of the client looks at the page, and drops the segments
//! when somebody has set the sequence to another value; what a running statement draws may still come from before.

use super::errors::report;
use super::local::Local;
use super::segment_slots::{self, Place};
use super::sequence::{Lock, Sequence};
use super::slots::Key;
use super::{rights, watch};
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::collections::BTreeMap;
use std::ptr;

/// What a session knows of a sequence.
pub struct Known {
    pub sequence: pg_sys::Oid,
    /// Who was found to have the privilege to draw; nobody when that must be asked again.
    pub user: pg_sys::Oid,
    /// Where its segments are.
    pub place: Option<Place>,
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

/// Counts what was forgotten.
static FORGOTTEN: Local<u64> = Local::new(0);

/// What is known of the sequence of the call before.
#[inline]
pub fn recent() -> &'static Known {
    // SAFETY: a backend is one thread, and RECENT points to what is never freed.
    unsafe { &*RECENT }
}

/// Remembers the ticket that was drawn from it last.
#[inline]
pub fn remember_ticket(value: i64) {
    // SAFETY: as above.
    unsafe { (*RECENT).last = Some(value) };
}

/// Called when the client's next statement begins.
pub fn begin_statement() {
    STATEMENT.set(STATEMENT.get() + 1);
    // SAFETY: a backend is one thread.
    unsafe { RECENT = &raw mut NOBODY };
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
    FORGOTTEN.set(FORGOTTEN.get() + 1);
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
        // SAFETY: a backend is one thread, and `attach` has left the sequence in RECENT.
        unsafe { (*RECENT).user = rights::user() };
    }
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
pub fn open(oid: pg_sys::Oid) -> Sequence {
    refuse_in_recovery();
    open_for(oid, pg_sys::ACL_USAGE | pg_sys::ACL_UPDATE)
}

/// Opens a sequence to write it, if the user has any of these privileges.
pub fn open_for(oid: pg_sys::Oid, privileges: u32) -> Sequence {
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
pub fn attach(oid: pg_sys::Oid, sequence: &Sequence) -> Place {
    let (_, file) = sequence.identity();
    // Copied, as what is asked of the server can bring word of changes.
    // SAFETY: a backend is one thread.
    let known = unsafe { &*ptr::addr_of!(KNOWN) }.get(&oid.to_u32());
    let (standing, statement) = known.map_or((None, 0), |known| {
        let mine = |place: &Place| known.file == file && place.is_mine();
        (known.place.filter(mine), known.statement)
    });
    let mut place = standing.unwrap_or_else(|| slot_for(sequence));
    if statement != STATEMENT.get() || standing.is_none() {
        let is_stale = !sequence.is_at(|_, logged| place.slot.is_as_left(logged)) && {
            let (rules, cache) = sequence.definition();
            sequence.is_at(|row, logged| place.slot.is_stale(row, logged, &rules, cache))
        };
        if is_stale {
            place = place.renewed();
        }
    }
    // SAFETY: as above; nothing of KNOWN is lent while it changes.
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
