//! The sequences that this session draws from: where their segments are, and the role that may draw.
//!
//! `setval` sends no invalidation. So the first draw of each statement of the client reads the page, and drops the
//! segments if a session has set the sequence to another value; a running statement can still draw from them.

use crate::counter::exhausted::IN_RECOVERY;
use crate::counter::last_used::LastUsed;
use crate::counter::segment::slots;
use crate::counter::segment::slots::Segments;
use crate::counter::slot_table::SlotKey;
use crate::pg::backend::discard::on_discard;
use crate::pg::backend::local::Local;
use crate::pg::backend::{recovery, statement};
use crate::pg::catalog::{invalidation, privilege, relation, sql};
use crate::pg::error::report;
use crate::pg::sequence::{Lock, Sequence};
use pgrx::{PgSqlErrorCode as Code, pg_sys};

/// A sequence that this session has drawn from.
pub struct DrawnSequence {
    pub sequence: pg_sys::Oid,
    /// The role that has the privilege to draw; invalid when that must be checked again.
    pub user: Local<pg_sys::Oid>,
    /// Its segments.
    pub segments: Local<Option<Segments>>,
    /// The file of the page that the segments were taken from.
    file: Local<pg_sys::Oid>,
    /// The statement in which the page was read.
    statement: Local<u64>,
    /// The value that this session drew last.
    last: Local<Option<i64>>,
}

impl DrawnSequence {
    const fn new(sequence: pg_sys::Oid) -> Self {
        Self {
            sequence,
            user: Local::new(pg_sys::InvalidOid),
            segments: Local::new(None),
            file: Local::new(pg_sys::InvalidOid),
            statement: Local::new(0),
            last: Local::new(None),
        }
    }
}

static NONE: DrawnSequence = DrawnSequence::new(pg_sys::InvalidOid);

/// Every sequence that the session has drawn from. The recent one is of the running statement.
static SEQUENCES: LastUsed<DrawnSequence> = LastUsed::new(&NONE);

/// Counts the statements of the client.
static STATEMENT: Local<u64> = Local::new(0);

/// Counts invalidations.
static INVALIDATIONS: Local<u64> = Local::new(0);

/// Returns the sequence of the call before.
#[inline]
pub fn recent() -> &'static DrawnSequence {
    SEQUENCES.recent()
}

/// Records the value that was drawn last, from the recent sequence.
#[inline]
pub fn set_last(value: i64) {
    SEQUENCES.recent().last.set(Some(value));
}

/// Registers callbacks. Called once, when the library is loaded.
pub fn init() {
    statement::on_begin(begin_statement);
    on_discard(forget_last);
    invalidation::on_relation(forget);
    invalidation::on_role(|| forget(pg_sys::InvalidOid));
}

/// Notes, as a callback, that the client's next statement begins.
fn begin_statement() {
    STATEMENT.set(STATEMENT.get() + 1);
    SEQUENCES.forget_recent();
}

/// Returns the value that this session drew last from a sequence.
pub fn last_of(sequence: pg_sys::Oid) -> Option<i64> {
    SEQUENCES.get(sequence.to_u32())?.last.get()
}

/// Forgets the last values, as a callback of DISCARD.
fn forget_last() {
    SEQUENCES.each(|known| known.last.set(None));
}

/// Forgets a relation, as a callback, when it or privileges on it have changed; an invalid oid stands for all.
pub fn forget(relation: pg_sys::Oid) {
    INVALIDATIONS.set(INVALIDATIONS.get() + 1);
    let forget = |known: &DrawnSequence| {
        known.user.set(pg_sys::InvalidOid);
        known.segments.set(None);
    };
    if relation == pg_sys::InvalidOid {
        SEQUENCES.each(forget);
    } else if let Some(known) = SEQUENCES.get(relation.to_u32()) {
        forget(known);
    }
}

/// Returns the segments of a sequence, if the role may draw.
pub fn find_segments(sequence: pg_sys::Oid) -> Segments {
    if let Some(segments) = known_segments(sequence) {
        return segments;
    }
    let forgotten = INVALIDATIONS.get();
    let open = open(sequence);
    let segments = attach(sequence, &open);
    // An invalidation since the privilege was checked can be about the privilege.
    if INVALIDATIONS.get() == forgotten {
        // `attach` has made this the recent sequence.
        SEQUENCES.recent().user.set(privilege::current_user());
    }
    segments
}

/// Returns the segments that this session has found before, if nothing has changed since.
fn known_segments(sequence: pg_sys::Oid) -> Option<Segments> {
    let known = SEQUENCES.get(sequence.to_u32())?;
    let is_known =
        || known.user.get() == privilege::current_user() && known.segments.get().is_some();
    if !is_known() {
        return None;
    }
    if known.statement.get() != STATEMENT.get() {
        check_page(sequence);
    }
    // Opening the sequence receives invalidations.
    if !is_known() {
        return None;
    }
    SEQUENCES.set_recent(known);
    known.segments.get()
}

/// Checks at the first draw of a statement whether a session has set the sequence to another value, even while a
/// session alters it: it can have been set before that. Nobody sets one that is being dropped.
fn check_page(oid: pg_sys::Oid) {
    let Some(sequence) = Sequence::open_to_look(oid) else {
        return;
    };
    attach(oid, &sequence);
}

/// Opens a sequence to draw from it, if the role may.
pub fn open(oid: pg_sys::Oid) -> Sequence {
    recovery::refuse(&IN_RECOVERY);
    open_for(oid, pg_sys::ACL_USAGE | pg_sys::ACL_UPDATE)
}

/// Opens a sequence to write it, if the role has any of these privileges.
pub fn open_for(oid: pg_sys::Oid, privileges: u32) -> Sequence {
    open_with(oid, Lock::Write, privileges)
}

/// Opens a sequence, if the role has any of these privileges.
pub fn open_with(oid: pg_sys::Oid, lock: Lock, privileges: u32) -> Sequence {
    invalidation::begin();
    let demand = |name: &str| {
        let kind = pg_sys::ObjectType::OBJECT_SEQUENCE;
        privilege::require_any(oid, name, privileges, kind);
    };
    // A role without privileges takes no lock, and waits for none.
    if relation::is_sequence(oid)
        && let Some(name) = relation::name(oid)
    {
        demand(&name);
    }
    let Some(sequence) = Sequence::open(oid, lock) else {
        sql::missing(oid)
    };
    // The privileges can have been revoked while this session waited for the lock.
    demand(&sequence.name());
    sequence
}

/// Finds or makes the segments of an open sequence, and records them. They are compared with the page at the first draw
/// of each statement. Does not check the privilege to draw.
pub fn attach(oid: pg_sys::Oid, sequence: &Sequence) -> Segments {
    let (_, file) = sequence.identity();
    let known = SEQUENCES.get(oid.to_u32());
    let current = known.and_then(|known| {
        let mine = |segments: &Segments| known.file.get() == file && segments.is_current();
        known.segments.get().filter(mine)
    });
    let is_first = known.is_none_or(|known| known.statement.get() != STATEMENT.get());
    let mut segments = current.unwrap_or_else(|| slot_for(sequence));
    if is_first || current.is_none() {
        let is_stale = !sequence.is_at(|_, logged| segments.slot.is_as_left(logged)) && {
            let (rules, cache) = sequence.definition();
            sequence.is_at(|row, logged| segments.slot.is_stale(row, logged, &rules, cache))
        };
        if is_stale {
            segments = segments.drop_and_renew();
        }
    }
    let known = known.unwrap_or_else(|| SEQUENCES.put(oid.to_u32(), DrawnSequence::new(oid)));
    known.segments.set(Some(segments));
    known.file.set(file);
    known.statement.set(STATEMENT.get());
    SEQUENCES.set_recent(known);
    segments
}

/// Raises an error if Citus has given this server another range of a sequence that has the values of one of several
/// servers: the values would be another server's.
fn refuse_moved(sequence: &Sequence) {
    /// The number of values that Citus gives to each worker, from one above a multiple of it.
    const SHARE: i64 = 1 << 48;
    let (rules, _) = sequence.definition();
    let is_moved = rules.min > SHARE && rules.min % SHARE == 1;
    if is_moved && rules.increment > 1 {
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!(
                "sequence \"{}\" has values of this Citus node only",
                sequence.name()
            ),
        )
        .detail(format!(
            "They begin at {}, and are not of the series that the sequence was created with.",
            rules.min
        ))
        .hint("Draw from the sequence on the coordinator, in a statement of its own.")
        .raise();
    }
}

fn slot_for(sequence: &Sequence) -> Segments {
    refuse_moved(sequence);
    let (oid, _) = sequence.identity();
    let key = SlotKey::new(sequence.identity());
    let owner = relation::owner(oid).unwrap_or(pg_sys::InvalidOid);
    slots::slot_for(key, owner.to_u32()).unwrap_or_else(|| {
        report(
            Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
            format!(
                "could not find free slot for segments of sequence \"{}\"",
                sequence.name()
            ),
        )
        .detail("All slots in shared memory are in use.")
        .hint("Increase \"pg_mint.max_segments\" and restart the server.")
        .raise()
    })
}
