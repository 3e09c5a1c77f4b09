//! Segments from another server: Leaf's central database, from which many servers draw.
//!
//! Such a sequence has no values of its own; it is a name with privileges. A background worker of the database
//! ([`crate::counter::segment::supply`]) takes the next segment from the sequence of the other server while the current
//! one is in use.
//!
//! The page of the name remembers the end of what was taken. So the values of an other server that has lost its last
//! ones, as a restored one has, are refused rather than issued again.

use crate::counter::segment::slots::{Segments, SegmentsSlot};
use crate::pg::catalog::spi::Row;
use crate::pg::catalog::{extension, sql};
use crate::pg::datum::text::DecodedText;
use crate::pg::error::{impossible, report};
use crate::pg::machine::server::max_worker_processes;
use crate::pg::sequence::{Lock, Position, Sequence, SequenceRow};
use crate::pg::shmem::rendezvous::Stamp;
use crate::pg::shmem::segment::NamedSegment;
use crate::pg::worker::mailbox::{Mailbox, WorkerKind, last_failure};
use crate::statistics::Wait;
use mint_core::Rules;
use mint_core::counter::reasons;
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many databases can use such sequences at a time.
const SLOTS: usize = 32;

static STAMP: Stamp = Stamp::new(b'f', 1);
static SUPPLIERS: NamedSegment<(), Supplier> =
    NamedSegment::with_slots(c"pg_mint suppliers", &STAMP, || SLOTS, |(), _| ());

/// Registers the memory. Called once, when the library is loaded.
pub fn init() {
    SUPPLIERS.register();
}

/// The requests of a database to its worker.
///
/// - `database`: written under the idea's lock; 0 when vacant.
#[repr(C)]
struct Supplier {
    database: AtomicU32,
    requests: Mailbox,
}

/// The clauses of a sequence that is only a name. Both of its values are drawn when it is created: so `nextval` fails.
pub const NAME_ONLY: &str = "MINVALUE 1 MAXVALUE 2";

/// Returns the source of a sequence with these rules, if it has one. Hardly any other sequence has the bounds of a name, so
/// hardly any is looked up.
pub fn find(sequence: pg_sys::Oid, rules: &Rules) -> Option<SegmentSource> {
    let may_be_name = (rules.min, rules.max) == (1, 2);
    may_be_name.then(|| of(sequence)).flatten()
}

/// The words for people that the comment of such a sequence begins with. The last line is a [`SourceSequence`] as JSON.
/// The comment belongs to the owner of the sequence, a role that could as well create another one by `segment_create`: it leads
/// to nothing but what dblink lets the owner use. It is dumped and restored with the sequence, and ends with it.
const COMMENT: &str = "name of a sequence on a foreign server: segment_next() draws values of that sequence, and nextval() has none\n";

/// Where a sequence's segments come from.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SourceSequence {
    /// The foreign server.
    pub server: String,
    /// The name of the sequence there.
    pub sequence: String,
    /// The least number of values of a segment.
    pub step: u64,
}

/// The source of a sequence's segments.
#[derive(Debug, Clone)]
pub struct SegmentSource {
    pub place: SourceSequence,
    /// The owner of the sequence here, which has the user mapping.
    pub owner: String,
}

/// The longest comment that is read, in bytes: the owner of a sequence can write one of 1 GB.
const LONGEST: i32 = 65_536;

/// Returns the source of a sequence, if it has one.
pub fn of(sequence: pg_sys::Oid) -> Option<SegmentSource> {
    let select = "SELECT d.description, pg_get_userbyid(c.relowner)::text
         FROM pg_class AS c
         JOIN pg_sequence AS q ON q.seqrelid = c.oid
         JOIN pg_description AS d ON d.objoid = c.oid AND d.classoid = c.tableoid AND d.objsubid = 0
             AND octet_length(d.description) <= $2
         WHERE c.oid = $1";
    let read = |row: &Row<'_>| {
        let DecodedText(comment) = row.get(1)?;
        let DecodedText(owner) = row.get(2)?;
        let place = serde_json::from_str(comment.strip_prefix(COMMENT)?).ok()?;
        Some(SegmentSource { place, owner })
    };
    sql::rows(select, &[sequence.into(), LONGEST.into()], read).pop()
}

/// Raises an error if the values of a sequence come from a foreign server: only that can change which are next.
#[track_caller]
pub fn refuse_change(verb: &str, oid: pg_sys::Oid, sequence: &Sequence, rules: &Rules) {
    if find(oid, rules).is_some() {
        report(
            Code::ERRCODE_WRONG_OBJECT_TYPE,
            format!("cannot {verb} sequence \"{}\"", sequence.name()),
        )
        .detail("Values of the sequence come from a foreign server.")
        .hint("Do so on the foreign server.")
        .raise();
    }
}

/// Opens the sequence, unless a session alters it.
fn open_name(sequence: pg_sys::Oid) -> Sequence {
    Sequence::open_at_once(sequence, Lock::Write).unwrap_or_else(|| {
        report(
            Code::ERRCODE_OBJECT_IN_USE,
            "sequence is being altered or dropped",
        )
        .raise()
    })
}

/// Returns the end of the values that this server has taken from the source; none at first, and once it was forgotten,
/// as by a dump or by `setval`.
pub fn end(sequence: pg_sys::Oid) -> Option<i64> {
    end_of(open_name(sequence).row())
}

/// Returns the same by the row of the sequence.
pub fn end_of(row: SequenceRow) -> Option<i64> {
    (row.log_count != 0).then_some(row.log_count ^ i64::MIN)
}

/// Returns these ends by the oids of the sequences that the role may see, without those that a session is altering.
pub fn ends(may_see: impl Fn(pg_sys::Oid) -> bool) -> BTreeMap<u32, i64> {
    let select = "SELECT c.oid
         FROM pg_sequence AS q
         JOIN pg_class AS c ON c.oid = q.seqrelid
         WHERE q.seqmin = 1 AND q.seqmax = 2 AND c.relpersistence = 'p'";
    let candidates = sql::rows(select, &[], |row| row.get(1).filter(|&oid| may_see(oid)));
    let names = candidates.into_iter().filter(|&oid| of(oid).is_some());
    let end = |oid: pg_sys::Oid| {
        let sequence = Sequence::open_at_once(oid, Lock::Write)?;
        Some((oid.to_u32(), end_of(sequence.row())?))
    };
    names.filter_map(end).collect()
}

/// Remembers the end of the values that this server has taken, before any of them is issued. Returns the WAL position
/// that makes it durable once flushed.
///
/// The page of a name needs its value to be 2, so that `nextval` fails. `nextval` fails before it uses the number of
/// values logged ahead, so that has the end, but for the lowest bigint: 0 is what `setval` and a dump leave.
pub fn set_end(sequence: pg_sys::Oid, end: i64) -> Position {
    let name_row = SequenceRow {
        last_value: 2,
        log_count: end ^ i64::MIN,
        is_called: true,
    };
    let (_, position) = open_name(sequence).update(|_| Some(name_row));
    position
}

/// What the source says of a sequence that was set back.
pub const SET_BACK: &str = "was set back";
/// What to do about it.
pub const SET_BEYOND: &str = "Set the sequence to the furthest \"segment_end\" in mint.segments of all servers that draw from it.";

/// Raises an error unless the role may use the foreign server.
pub fn check(server: &str) {
    let query = "SELECT has_server_privilege($1, 'USAGE')";
    if sql::ask(query, DecodedText(server.to_owned()).into()) != Some(true) {
        report(
            Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
            format!("permission denied for foreign server {server}"),
        )
        .raise();
    }
}

/// Records the source of a new sequence.
pub fn record(sequence: pg_sys::Oid, server: &str, source: &str, step: i64) {
    // Both values are drawn, so that nextval fails.
    sql::set_sequence(sequence, 2, true);
    let place = SourceSequence {
        server: server.to_owned(),
        sequence: source.to_owned(),
        step: step.unsigned_abs(),
    };
    let place = serde_json::to_string(&place);
    let place = place.unwrap_or_else(|_| impossible("source that is not JSON"));
    let comment = sql::literal(&format!("{COMMENT}{place}"));
    let name = sql::exact_name_of(sequence);
    sql::run(&format!("COMMENT ON SEQUENCE {name} IS {comment}"));
}

/// Orders the next segment of a sequence from the worker; waits for it when it is `needed` now.
#[cold]
pub fn fetch(sequence: pg_sys::Oid, segments: Segments, needed: bool) {
    let Some(before) = segments.held(SegmentsSlot::order) else {
        return;
    };
    let is_room = has_room_for_worker();
    if needed {
        if !is_room {
            refuse_worker();
        }
        wait_for_segment(sequence, segments, before);
    } else if is_room {
        requests().wake_if_possible(&kind());
    }
}

/// Waits for the segment after `before`. Whoever has lost the slot, or what came, to others begins again.
fn wait_for_segment(sequence: pg_sys::Oid, segments: Segments, before: u64) {
    let requests = requests();
    let slot = segments.slot;
    let is_over = || {
        segments.keep_order();
        slot.is_supplied() || slot.segment.last_filled() != before || !segments.is_current()
    };
    let supplied = requests.wait_for(&kind(), || true, || is_over().then_some(()));
    if supplied.is_none() {
        let (detail, hint) = match reason_for(sequence, requests) {
            Some(reason) if reason.contains(SET_BACK) => (last_failure(&reason), SET_BEYOND),
            Some(reason) => (
                last_failure(&reason),
                "Check the foreign server, and its user mapping for the owner of the sequence.",
            ),
            None => (
                "The foreign server has not responded yet.".to_owned(),
                "Retry when the foreign server responds.",
            ),
        };
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!(
                "could not obtain segment of sequence \"{}\"",
                sql::name_of(sequence)
            ),
        )
        .detail(detail)
        .hint(hint)
        .raise();
    }
}

/// Returns why there is no segment of this sequence. The reasons of other sequences are for their owners only.
fn reason_for(sequence: pg_sys::Oid, requests: &Mailbox) -> Option<String> {
    reasons::find(&requests.note()?, sequence.to_u32()).map(str::to_owned)
}

/// Returns why there is no segment of this sequence, if that is so, for showing.
pub fn trouble(sequence: pg_sys::Oid) -> Option<String> {
    let supplier = find_supplier(extension::database())?;
    reason_for(sequence, &supplier.requests)
}

fn kind() -> WorkerKind {
    WorkerKind {
        name: "pg_mint segments",
        function: "pg_mint_supply",
        argument: extension::database(),
        event: Wait::Segment.event(),
    }
}

fn find_supplier(database: u32) -> Option<&'static Supplier> {
    let mut suppliers = SUPPLIERS.memory().slots.iter();
    suppliers.find(|supplier| supplier.database.load(Ordering::Acquire) == database)
}

/// Returns the requests of this database. A slot whose worker has ended is given to another database.
pub fn requests() -> &'static Mailbox {
    let (memory, database) = (SUPPLIERS.memory(), extension::database());
    let found = find_supplier(database).or_else(|| {
        memory.locked(|| {
            find_supplier(database).or_else(|| {
                let idle = |supplier: &&Supplier| !supplier.requests.is_served_or_started();
                let free = find_supplier(0).or_else(|| memory.slots.iter().find(idle))?;
                free.database.store(database, Ordering::Release);
                Some(free)
            })
        })
    });
    let supplier = found.unwrap_or_else(|| {
        report(
            Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
            "too many databases draw segments from foreign servers",
        )
        .detail(format!("At most {SLOTS} databases can do so at a time."))
        .raise()
    });
    &supplier.requests
}

/// Returns whether this database has a worker, or one was started and is not there yet.
pub fn is_served() -> bool {
    let supplier = find_supplier(extension::database());
    supplier.is_some_and(|supplier| supplier.requests.is_served_or_started())
}

/// Returns how many databases can have a worker at a time. The other background workers of the server are left free, as
/// one role's databases could take all of them.
fn most_workers() -> usize {
    (max_worker_processes() / 2).saturating_sub(1).max(1)
}

/// Returns whether this database has a worker, or can start one.
fn has_room_for_worker() -> bool {
    let own = requests();
    let others = SUPPLIERS.memory().slots.iter();
    let others = others.filter(|other| other.requests.is_served_or_started());
    own.is_served_or_started() || others.count() < most_workers()
}

#[cold]
fn refuse_worker() -> ! {
    report(
        Code::ERRCODE_INSUFFICIENT_RESOURCES,
        "could not start background worker \"pg_mint segments\"",
    )
    .detail(format!(
        "{} other databases have such a background worker already.",
        most_workers()
    ))
    .hint("Retry, or increase \"max_worker_processes\".")
    .raise()
}
