//! Segments that come from another server: Leaf's central database, from which many servers draw.
//!
//! The sequence here has no values of its own; it is a name with privileges. A background worker of the database
//! takes the next segment from the sequence of the other server while the one before is in use.

use crate::counter::segment::slots;
use crate::counter::segment::slots::{Segments, Slot};
use crate::pg::catalog::{extension, privilege, sql, tables};
use crate::pg::datum::text::Words;
use crate::pg::error::{OrReport, report};
use crate::pg::machine::clock;
use crate::pg::machine::server::max_worker_processes;
use crate::pg::shmem::{Idea, Stamp};
use crate::pg::worker::dblink::{Remote, attempt, value};
use crate::pg::worker::lifecycle;
use crate::pg::worker::request::{Kind, Requests};
use crate::pg::{charset, error};
use mint_core::uuid::version::v5;
use mint_core::{Micros, Rules, Uuid, Values};
use pgrx::bgworkers::{BackgroundWorker, SignalWakeFlags};
use pgrx::spi::SpiClient;
use pgrx::{PgSqlErrorCode as Code, Spi, pg_guard, pg_sys};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many databases can have such sequences in use at a time.
const SLOTS: usize = 32;

static STAMP: Stamp = Stamp::new(b'f', 1);
static SUPPLIERS: Idea<(), Supplier> =
    Idea::with_slots(c"pg_mint suppliers", &STAMP, || SLOTS, |(), _| ());

/// What the sessions of a database and their worker tell each other.
///
/// - `database`: written under the idea's lock; 0 when vacant.
#[repr(C)]
struct Supplier {
    database: AtomicU32,
    requests: Requests,
}

/// What `CREATE SEQUENCE` says of a sequence that is only the name of another server's. Both values are drawn when it
/// is made, so that `nextval` fails.
const NAME_ONLY: &str = "MINVALUE 1 MAXVALUE 2";

/// The clauses of such a sequence. Its INCREMENT, which only its owner can change, says which row of the table is its
/// own: others may write there, as the owner of the database restores it.
pub fn clauses(server: &str, source: &str, step: i64) -> String {
    let step = step.unsigned_abs();
    format!(
        "{NAME_ONLY} INCREMENT {}",
        fingerprint(server, source, step)
    )
}

/// A number from 3 to 2^62 + 2, by SHA-1.
fn fingerprint(server: &str, source: &str, step: u64) -> i64 {
    let text = format!("{}:{server}{source}:{step}", server.len());
    let hash = v5(&Uuid::from_bytes([0; 16]), text.as_bytes());
    let [.., a, b, c, d, e, f, g, h] = hash.into_bytes();
    // Without the bits that say the variant.
    (i64::from_be_bytes([a, b, c, d, e, f, g, h]) & (i64::MAX >> 1)) + 3
}

/// Whether a sequence may be such a name, as hardly any other has so few values. Spares the others the lookup.
pub fn may_be_name(rules: &Rules) -> bool {
    (rules.min, rules.max) == (1, 2)
}

/// Where a sequence's segments come from.
#[derive(Debug, Clone)]
pub struct Source {
    /// A foreign server.
    server: String,
    /// The sequence there, as its people write it.
    sequence: String,
    /// How many values a segment has at least.
    pub step: u64,
    /// The owner of the sequence here, whose user mapping counts.
    owner: String,
}

/// The source of a sequence, if it has one.
pub fn of(sequence: pg_sys::Oid) -> Option<Source> {
    let select = tables::statement(
        "SELECT s.server::pg_catalog.text, s.source, s.step,
             pg_catalog.pg_get_userbyid(c.relowner)::pg_catalog.text, q.seqincrement
         FROM $sources AS s JOIN pg_catalog.pg_class AS c
             ON c.oid OPERATOR(pg_catalog.=) s.sequence::pg_catalog.oid
         JOIN pg_catalog.pg_sequence AS q ON q.seqrelid OPERATOR(pg_catalog.=) c.oid
         WHERE s.sequence::pg_catalog.oid OPERATOR(pg_catalog.=) $1::pg_catalog.oid",
    )?;
    let read = |client: &SpiClient<'_>| {
        let rows = client
            .select(&charset::carried(select), Some(1), &[sequence.into()])
            .or_report();
        if rows.is_empty() {
            return None;
        }
        let row = rows.first();
        let source = Source {
            server: value::<Words>(&row, 1)?.0,
            sequence: value::<Words>(&row, 2)?.0,
            step: value::<i64>(&row, 3)?.unsigned_abs(),
            owner: value::<Words>(&row, 4)?.0,
        };
        let is_its_own =
            fingerprint(&source.server, &source.sequence, source.step) == value::<i64>(&row, 5)?;
        is_its_own.then_some(source)
    };
    privilege::guarded(|| tables::bound_to_tables(|| Spi::connect(read)))
}

/// Raises an error unless the user may use the foreign server.
pub fn check(server: &str) {
    let query =
        "SELECT pg_catalog.has_server_privilege($1::pg_catalog.text, 'USAGE'::pg_catalog.text)";
    if sql::ask(query, Words(server.to_owned()).into()) != Some(true) {
        report(
            Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
            format!("permission denied for foreign server {server}"),
        )
        .raise();
    }
}

/// Writes down where a new sequence's segments come from.
pub fn keep(sequence: pg_sys::Oid, server: &str, source: &str, step: i64) {
    // Both values are drawn, so that nextval fails.
    sql::set_sequence(sequence, 2);
    // Of sequences that were dropped.
    let forget = tables::statement(
        "DELETE FROM $sources AS s WHERE NOT EXISTS (
             SELECT FROM pg_catalog.pg_class AS c WHERE c.oid OPERATOR(pg_catalog.=) s.sequence::pg_catalog.oid
         )",
    );
    let insert = tables::statement(
        "INSERT INTO $sources (sequence, server, source, step)
         VALUES ($1::pg_catalog.oid::pg_catalog.regclass, $2::pg_catalog.name, $3, $4)
         -- Put there before there was such a sequence.
         ON CONFLICT (sequence) DO UPDATE
         SET server = excluded.server, source = excluded.source, step = excluded.step",
    );
    let (Some(forget), Some(insert), Some(table)) =
        (forget, insert, extension::find(c"pg_mint_sources"))
    else {
        return;
    };
    let [server, source] = [server, source].map(|text| Words(text.to_owned()));
    let values = [sequence.into(), server.into(), source.into(), step.into()];
    let [forget, insert] = [forget, insert].map(charset::carried);
    let keep = |client: &mut SpiClient<'_>| {
        client.update(&forget, None, &[]).or_report();
        client.update(&insert, None, &values).or_report();
    };
    // No other role may write there.
    let work = || tables::bound_to_tables(|| Spi::connect_mut(keep));
    privilege::as_owner_of(table, work);
}

/// Has the worker take the next segment of a sequence; waits for it when it is `needed` now.
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
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!(
                "sequence \"{}\" has no segment from its source",
                sql::name_of(sequence)
            ),
        )
        .detail(
            trouble_of(sequence, requests).unwrap_or_else(|| "It has not answered yet.".to_owned()),
        )
        .hint("The segments taken before are used up. It goes on when the source does.")
        .raise();
    }
}

/// Why there is no segment of this sequence: other sequences' troubles are their owners' to know.
fn trouble_of(sequence: pg_sys::Oid, requests: &Requests) -> Option<String> {
    let (note, own) = (requests.note()?, format!("{} ", sequence.to_u32()));
    let mut troubles = note.lines().filter_map(|line| line.strip_prefix(&own));
    Some(troubles.next()?.to_owned())
}

fn kind() -> Kind {
    Kind {
        name: "pg_mint segments",
        function: "pg_mint_supply",
        argument: extension::database(),
    }
}

/// The requests of this database. One whose worker is gone is given to another database.
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
            Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
            format!("more than {SLOTS} databases draw segments from other servers"),
        )
        .raise()
    });
    &supplier.requests
}

/// How many databases may have a worker at a time. Most background workers of the server are left to others: those of one
/// role's databases could take all of them.
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
        "{} other databases have one already.",
        most_workers()
    ))
    .hint("Try again, or raise max_worker_processes.")
    .raise()
}

/// Where the worker begins. Its name is in [`kind`].
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn pg_mint_supply(argument: pg_sys::Datum) {
    /// A worker keeps its database from being dropped, so it does not stay for nothing.
    const IDLE: Micros = 30_000_000;
    /// Nor for what cannot be had.
    const IN_VAIN: Micros = 1_000_000;
    BackgroundWorker::attach_signal_handlers(SignalWakeFlags::SIGHUP | SignalWakeFlags::SIGTERM);
    let database = pg_sys::Oid::from_u32(argument.value() as u32);
    BackgroundWorker::connect_worker_to_spi_by_oid(Some(database), None);
    if !lifecycle::begin(requests()) {
        return;
    }
    let mut supply = Supply::default();
    let (mut busy, mut asked, mut idle) = (clock::up(), 0, IDLE);
    while !lifecycle::is_asked_to_end() && clock::up() - busy < idle {
        // Nor for orders that no session asks about while none can be had: a session that asks later starts the next worker.
        let before = std::mem::replace(&mut asked, requests().last());
        let is_supplied = supply.round();
        if is_supplied || asked != before {
            busy = clock::up();
            idle = if is_supplied { IDLE } else { idle };
        }
        if !supply.failures.is_empty() {
            idle = IN_VAIN;
        }
        clock::pause(1_000_000);
        lifecycle::reload();
    }
}

#[derive(Default)]
struct Supply {
    /// A connection for each server and owner.
    remotes: BTreeMap<(String, String), Remote>,
    /// Why there is no segment of a sequence, as the log says already.
    failures: BTreeMap<u32, String>,
}

impl Supply {
    /// Takes the segments that are wanted. Returns whether there were any to be had.
    fn round(&mut self) -> bool {
        let requests = requests();
        let asked = requests.last();
        let orders = slots::orders(extension::database());
        let mut failures = BTreeMap::new();
        for &(sequence, place) in &orders {
            let oid = sequence.to_u32();
            if let Err(why) = self.take(sequence, place) {
                if self.failures.get(&oid) != Some(&why) {
                    error::log(format!(
                        "pg_mint got no segment of sequence with OID {oid}: {why}"
                    ));
                }
                failures.insert(oid, why);
            }
        }
        // A session that was answered just now may still read the note.
        if !orders.is_empty() {
            let line = |(oid, why): (&u32, &String)| format!("{oid} {}", why.replace('\n', " "));
            let note: Vec<String> = failures.iter().map(line).collect();
            requests.set_note(&note.join("\n"));
        }
        requests.answer(asked);
        let is_any = failures.len() < orders.len();
        self.failures = failures;
        is_any
    }

    fn take(&mut self, sequence: pg_sys::Oid, place: Segments) -> Result<(), String> {
        let Some(source) = attempt(|| of(sequence))? else {
            place.slot.cancel();
            return Err("the sequence was dropped, or is not committed yet".to_owned());
        };
        let now = clock::now();
        let count = place.slot.next_step(now, source.step);
        let name = sql::escaped(&source.sequence);
        // With a transaction id, so that the commit waits for synchronous standbys: what a central server that fails
        // over has forgotten, it would give again.
        let query = |mint: &str| {
            format!(
                "SELECT pg_catalog.lower(r), pg_catalog.upper(r) OPERATOR(pg_catalog.-) 1::pg_catalog.int8,
                     s.seqincrement, pg_catalog.pg_current_xact_id()::pg_catalog.text
                 FROM {mint}.segment_next_range({name}::pg_catalog.regclass, {count}::pg_catalog.int8) AS r,
                     pg_catalog.pg_sequence AS s
                 WHERE s.seqrelid OPERATOR(pg_catalog.=) {name}::pg_catalog.regclass::pg_catalog.oid"
            )
        };
        let key = (source.server.clone(), source.owner.clone());
        let number = self.remotes.len();
        let remote = self.remotes.entry(key).or_insert_with(|| {
            Remote::new(format!("pg_mint {number}"), Some(source.owner.clone()))
        });
        let columns = "least pg_catalog.int8, greatest pg_catalog.int8, increment pg_catalog.int8, xid pg_catalog.text";
        let (least, greatest, increment) = remote.ask(&source.server, &query, columns, |row| {
            let number = |place: usize| value::<i64>(&row, place).unwrap_or(0);
            (number(1), number(2), number(3))
        })?;
        if increment == 0 || greatest < least {
            return Err("the source gave no values".to_owned());
        }
        let first = if increment > 0 { least } else { greatest };
        let values = Values {
            first,
            increment,
            count: (greatest.abs_diff(least) / increment.unsigned_abs()) + 1,
        };
        place.supply(values, now);
        Ok(())
    }
}
