//! Segments from another server: Leaf's central database, from which many servers draw.
//!
//! Such a sequence has no values of its own; it is a name with privileges. A background worker of the database
//! takes the next segment from the sequence of the other server while the current one is in use.

use crate::counter::segment::slots;
use crate::counter::segment::slots::{Segments, Slot};
use crate::pg::catalog::{extension, privilege, sql};
use crate::pg::datum::text::DecodedText;
use crate::pg::error;
use crate::pg::error::{OrReport, report};
use crate::pg::machine::clock;
use crate::pg::machine::server::max_worker_processes;
use crate::pg::sequence::Sequence;
use crate::pg::shmem::{NamedSegment, Stamp};
use crate::pg::worker::dblink::{Remote, value};
use crate::pg::worker::request::{Kind, Requests, last_failure};
use crate::pg::worker::transaction::attempt;
use crate::pg::worker::{deadline, lifecycle};
use mint_core::uuid::version::v5;
use mint_core::{Micros, Rules, Uuid, Values};
use pgrx::bgworkers::BackgroundWorker;
use pgrx::spi::SpiClient;
use pgrx::{PgSqlErrorCode as Code, Spi, pg_guard, pg_sys};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many databases can use such sequences at a time.
const SLOTS: usize = 32;

static STAMP: Stamp = Stamp::new(b'f', 1);
static SUPPLIERS: NamedSegment<(), Supplier> =
    NamedSegment::with_slots(c"pg_mint suppliers", &STAMP, || SLOTS, |(), _| ());

/// The requests of a database to its worker.
///
/// - `database`: written under the idea's lock; 0 when vacant.
#[repr(C)]
struct Supplier {
    database: AtomicU32,
    requests: Requests,
}

/// The values of a sequence that is only a name. Both are drawn when it is created, so that `nextval` fails.
const NAME_ONLY: &str = "MINVALUE 1 MAXVALUE 2";

/// Returns the clauses of such a sequence. Its INCREMENT proves that its comment is the one that it was created
/// with.
pub fn clauses(server: &str, source: &str, step: i64) -> String {
    let step = step.unsigned_abs();
    format!(
        "{NAME_ONLY} INCREMENT {}",
        fingerprint(server, source, step)
    )
}

/// Returns a hash from 3 to 2^62 + 2, by SHA-1.
fn fingerprint(server: &str, source: &str, step: u64) -> i64 {
    let text = format!("{}:{server}{source}:{step}", server.len());
    let hash = v5(&Uuid::from_bytes([0; 16]), text.as_bytes());
    let [.., a, b, c, d, e, f, g, h] = hash.into_bytes();
    // Without the bits of the variant.
    (i64::from_be_bytes([a, b, c, d, e, f, g, h]) & (i64::MAX >> 1)) + 3
}

/// Whether a sequence may be such a name. Hardly any other sequence has these bounds, so hardly any is looked up.
pub fn may_be_name(rules: &Rules) -> bool {
    (rules.min, rules.max) == (1, 2)
}

/// What the comment of such a sequence begins with. The rest is a [`Place`] as JSON. So it belongs to the owner of the
/// sequence, is dumped and restored with it, and ends with it.
const COMMENT: &str = "segments of ";

/// Where a sequence's segments come from.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Place {
    /// The foreign server.
    server: String,
    /// The name of the sequence there.
    sequence: String,
    /// The least number of values of a segment.
    step: u64,
}

/// The source of a sequence's segments.
#[derive(Debug, Clone)]
pub struct Source {
    place: Place,
    /// The owner of the sequence here, which has the user mapping.
    owner: String,
}

impl Source {
    /// Reads the comment of a sequence with this INCREMENT.
    fn read(comment: &str, owner: String, increment: i64) -> Option<Self> {
        let place: Place = serde_json::from_str(comment.strip_prefix(COMMENT)?).ok()?;
        let is_its_own = fingerprint(&place.server, &place.sequence, place.step) == increment;
        is_its_own.then_some(Self { place, owner })
    }

    /// The least number of values of a segment.
    pub fn step(&self) -> u64 {
        self.place.step
    }
}

/// Returns the source of a sequence, if it has one.
pub fn of(sequence: pg_sys::Oid) -> Option<Source> {
    let select = "SELECT pg_catalog.obj_description(c.oid, 'pg_class'::pg_catalog.name),
             pg_catalog.pg_get_userbyid(c.relowner)::pg_catalog.text, q.seqincrement
         FROM pg_catalog.pg_class AS c
         JOIN pg_catalog.pg_sequence AS q ON q.seqrelid OPERATOR(pg_catalog.=) c.oid
         WHERE c.oid OPERATOR(pg_catalog.=) $1::pg_catalog.oid";
    let read = |client: &SpiClient<'_>| {
        let rows = client
            .select(select, Some(1), &[sequence.into()])
            .or_report();
        if rows.is_empty() {
            return None;
        }
        let row = rows.first();
        let comment = value::<DecodedText>(&row, 1)?.0;
        let owner = value::<DecodedText>(&row, 2)?.0;
        Source::read(&comment, owner, value::<i64>(&row, 3)?)
    };
    privilege::guarded(|| Spi::connect(read))
}

/// Raises an error if the values of a sequence come from a foreign server: only that can change which are next.
#[track_caller]
pub fn refuse_change(verb: &str, oid: pg_sys::Oid, sequence: &Sequence, rules: &Rules) {
    if may_be_name(rules) && of(oid).is_some() {
        report(
            Code::ERRCODE_WRONG_OBJECT_TYPE,
            format!("cannot {verb} sequence \"{}\"", sequence.name()),
        )
        .detail("Values of the sequence come from a foreign server.")
        .hint("Change the sequence on the foreign server.")
        .raise();
    }
}

/// Raises an error unless the role may use the foreign server.
pub fn check(server: &str) {
    let query =
        "SELECT pg_catalog.has_server_privilege($1::pg_catalog.text, 'USAGE'::pg_catalog.text)";
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
    sql::set_sequence(sequence, 2);
    let place = Place {
        server: server.to_owned(),
        sequence: source.to_owned(),
        step: step.unsigned_abs(),
    };
    // Texts and a number, which JSON has.
    let place = serde_json::to_string(&place).unwrap_or_default();
    let comment = sql::literal(&format!("{COMMENT}{place}"));
    let name = sql::exact_name_of(sequence);
    sql::run(&format!("COMMENT ON SEQUENCE {name} IS {comment}"));
}

/// Orders the next segment of a sequence from the worker; waits for it when it is `needed` now.
#[cold]
pub fn fetch(sequence: pg_sys::Oid, slot: &Slot, needed: bool) {
    slot.order();
    let is_room = has_room_for_worker();
    if needed {
        if !is_room {
            refuse_worker();
        }
        wait_for_segment(sequence, slot);
    } else if is_room {
        requests().wake(&kind());
    }
}

fn wait_for_segment(sequence: pg_sys::Oid, slot: &Slot) {
    let requests = requests();
    let supplied = requests.wait_for(&kind(), || true, || slot.is_supplied().then_some(()));
    if supplied.is_none() {
        let (detail, hint) = match reason_for(sequence, requests) {
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
fn reason_for(sequence: pg_sys::Oid, requests: &Requests) -> Option<String> {
    let (note, own) = (requests.note()?, format!("{} ", sequence.to_u32()));
    let reason = note.lines().find_map(|line| line.strip_prefix(&own));
    reason.map(str::to_owned)
}

fn kind() -> Kind {
    Kind {
        name: "pg_mint segments",
        function: "pg_mint_supply",
        argument: extension::database(),
    }
}

/// Returns the requests of this database. A slot whose worker has ended is given to another database.
fn requests() -> &'static Requests {
    let (memory, database) = (SUPPLIERS.memory(), extension::database());
    let find = |wanted: u32| {
        let mut suppliers = memory.slots.iter();
        suppliers.find(|supplier| supplier.database.load(Ordering::Acquire) == wanted)
    };
    let found = find(database).or_else(|| {
        memory.locked(|| {
            find(database).or_else(|| {
                let idle = |supplier: &&Supplier| !supplier.requests.has_worker();
                let free = find(0).or_else(|| memory.slots.iter().find(idle))?;
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

/// Returns how many databases may have a worker at a time. The other background workers of the server are left free, as
/// one role's databases could take all of them.
fn most_workers() -> usize {
    (max_worker_processes() / 2).saturating_sub(1).max(1)
}

/// Whether this database has a worker, or may start one.
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

/// Entry point of the worker, by the name in [`kind`].
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn pg_mint_supply(argument: pg_sys::Datum) {
    /// How long a worker stays without requests.
    const IDLE: Micros = 30_000_000;
    /// The same, after a failure.
    const AFTER_FAILURE: Micros = 1_000_000;
    lifecycle::attach();
    let database = pg_sys::Oid::from_u32(argument.value() as u32);
    BackgroundWorker::connect_worker_to_spi_by_oid(Some(database), None);
    if !lifecycle::begin(requests()) {
        return;
    }
    let mut worker = Worker::default();
    let (mut busy, mut requested, mut idle) = (clock::up(), 0, IDLE);
    while !lifecycle::must_leave() && clock::up() - busy < idle {
        // Orders that fail keep the worker only while sessions make requests; a later session starts the next worker.
        let before = std::mem::replace(&mut requested, requests().last());
        let is_supplied = worker.take_ordered();
        if is_supplied || requested != before {
            busy = clock::up();
            idle = if is_supplied { IDLE } else { idle };
        }
        if !worker.failures.is_empty() {
            idle = AFTER_FAILURE;
        }
        if !lifecycle::must_leave() {
            clock::pause(1_000_000);
        }
        lifecycle::reload();
    }
}

#[derive(Default)]
struct Worker {
    /// A connection for each server and owner.
    remotes: BTreeMap<(String, String), Remote>,
    /// Why there is no segment of a sequence, as it was logged.
    failures: BTreeMap<u32, String>,
}

impl Worker {
    /// Takes the segments that are ordered. Returns whether it got any.
    fn take_ordered(&mut self) -> bool {
        let requests = requests();
        let requested = requests.last();
        let orders = slots::orders(extension::database());
        let mut failures = BTreeMap::new();
        for &(sequence, segments) in orders.iter().take_while(|_| !lifecycle::must_leave()) {
            let oid = sequence.to_u32();
            if let Err(why) = self.take(sequence, segments) {
                if self.failures.get(&oid) != Some(&why) {
                    error::log(format!(
                        "could not obtain segment of sequence with OID {oid}: {why}"
                    ));
                }
                failures.insert(oid, why);
            }
        }
        // Without orders the note stays, as a session that was answered just now may still read it.
        if !orders.is_empty() {
            let line = |(oid, why): (&u32, &String)| format!("{oid} {}", why.replace('\n', " "));
            let note: Vec<String> = failures.iter().map(line).collect();
            requests.set_note(&note.join("\n"));
        }
        requests.answer(requested);
        let is_any = failures.len() < orders.len();
        self.failures = failures;
        is_any
    }

    fn take(&mut self, sequence: pg_sys::Oid, segments: Segments) -> Result<(), String> {
        let source = attempt(deadline::REQUEST, || of(sequence));
        let Some(source) = source.map_err(|failure| failure.why)? else {
            segments.slot.cancel();
            return Err("sequence was dropped, or is not committed yet".to_owned());
        };
        let now = clock::now();
        let count = segments.slot.next_step(now, source.place.step);
        let name = sql::escaped(&source.place.sequence);
        // With a transaction id, so that the commit waits for synchronous standbys: after a failover, the other server
        // would issue again what it has forgotten.
        let query = |mint: &str| {
            format!(
                "SELECT r.first, r.last, r.step, pg_catalog.pg_current_xact_id()::pg_catalog.text
                 FROM {mint}.segment_next_range({name}::pg_catalog.regclass, {count}::pg_catalog.int8) AS r"
            )
        };
        let key = (source.place.server.clone(), source.owner.clone());
        let number = self.remotes.len();
        let remote = self.remotes.entry(key).or_insert_with(|| {
            Remote::new(format!("pg_mint {number}"), Some(source.owner.clone()))
        });
        let columns = "first pg_catalog.int8, last pg_catalog.int8, step pg_catalog.int8, xid pg_catalog.text";
        let (first, last, increment) =
            remote.ask(&source.place.server, &query, columns, |row| {
                let number = |column: usize| value::<i64>(&row, column).unwrap_or(0);
                (number(1), number(2), number(3))
            })?;
        if increment == 0 || last.cmp(&first) == 0.cmp(&increment) {
            return Err("foreign server returned no values".to_owned());
        }
        let values = Values {
            first,
            increment,
            count: (last.abs_diff(first) / increment.unsigned_abs()) + 1,
        };
        segments.supply(values, now);
        Ok(())
    }
}
