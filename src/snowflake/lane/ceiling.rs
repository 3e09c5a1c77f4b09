//! The ceilings of the databases: in shared memory for every session, on disk for after a crash.
//!
//! Each database has its own, in the extension's sequence `mint.time_ceiling`. In shared memory a database has one
//! slot, even if its page is replaced: when a session [attaches](attach), a recreated page is raised to the bounds that
//! were published for the one before it, and a transaction that replaces the page mints nothing. So ids repeat neither
//! after DROP EXTENSION nor after DROP DATABASE with an oid that is used again.

use crate::pg::backend::local::Local;
use crate::pg::catalog::{extension, invalidation};
use crate::pg::error::report;
use crate::pg::machine::clock;
use crate::pg::sequence::{File, Lock, Position, Sequence};
use crate::pg::{error, sequence};
use crate::snowflake::lane::server_ceiling;
use crate::snowflake::lane::slots::{self, SLOTS, Slot};
use crate::snowflake::settings;
use crate::statistics::{self, Count};
use mint_core::clock::timestamp_text;
use mint_core::{Ceiling, Micros, Page};
use pgrx::{PgSqlErrorCode as Code, check_for_interrupts, pg_sys};
use std::convert::Infallible;
use std::ffi::CStr;
use std::sync::atomic::Ordering;

/// The sequence that holds the ceiling.
pub const NAME: &str = "mint.time_ceiling";
const SEQUENCE: &CStr = c"time_ceiling";

/// The ceiling of a session that has not attached yet, or must attach again because the sequence has changed.
static DETACHED: Ceiling = Ceiling::detached();

/// The ceiling of this session's database.
static CURRENT: Local<&Ceiling> = Local::new(&DETACHED);
/// The time that this session took to raise its ceiling last.
static TOOK: Local<Micros> = Local::new(0);
/// The sequence that this session has attached.
static ATTACHED: Local<Option<pg_sys::Oid>> = Local::new(None);
/// The sequence whose bounds this session has joined.
static JOINED: Local<Option<pg_sys::Oid>> = Local::new(None);

/// Returns the bounds to mint under.
#[inline]
pub fn current() -> &'static Ceiling {
    CURRENT.get()
}

/// Raises the ceiling of this database, so that ticks that start at `beyond` can be minted.
#[cold]
pub fn raise(beyond: Micros) {
    /// The farthest that a slow disk makes a session raise the ceiling: after a crash, calls wait for that.
    const MAX_WINDOW: Micros = 5_000_000;
    // A call can come here again and again.
    check_for_interrupts!();
    if !current().is_attached() && join() && beyond < current().limit() {
        return;
    }
    let mut page = attach(open(Lock::Write));
    let bounds = &page.slot.bounds;
    // The clock passes a ceiling whose flush takes longer than the ceiling lasts.
    let window = settings::window().max((2 * TOOK.get()).min(MAX_WINDOW));
    let began = clock::up();
    let Ok(()) = bounds.raise(beyond, window, &mut page);
    TOOK.set(clock::up() - began);
}

/// A ceiling's page and its slot in shared memory.
pub(super) struct CeilingPage {
    sequence: Sequence,
    slot: &'static Slot,
}

impl Page for CeilingPage {
    type Position = Position;
    /// A failure is an error of the server, which ends the statement.
    type Failure = Infallible;

    fn update(
        &mut self,
        decide: impl FnOnce(Micros) -> Option<Micros>,
    ) -> Result<(Micros, Position), Infallible> {
        let slot = self.slot;
        let mut writes = false;
        let raised = self.sequence.raise(|found| {
            let value = decide(found)?;
            writes = true;
            slot.writes.fetch_add(1, Ordering::Relaxed);
            slot.last_write.store(clock::now(), Ordering::Relaxed);
            Some(value)
        });
        // This follows outside the page's lock, as the memory might not be mapped yet.
        statistics::add(Count::CeilingWrites, writes.into());
        Ok(raised)
    }

    fn flush(&mut self, position: Position) -> Result<(), Infallible> {
        sequence::flush(position);
        Ok(())
    }

    fn cover(&mut self, value: Micros) -> Result<(), Infallible> {
        server_ceiling::cover(value);
        Ok(())
    }

    fn set_back(&mut self, from: Micros, to: Micros) {
        error::warn(
            "ceiling of this database was set back and has been raised again",
            format!(
                "The ceiling was {} and is {} now. A crash in between could have repeated ids.",
                timestamp_text(from),
                timestamp_text(to)
            ),
            Some("Do not modify sequence \"mint.time_ceiling\"."),
        );
    }
}

impl CeilingPage {
    /// Publishes bounds that begin at `value`.
    pub(super) fn reset_bounds(&self, value: Micros) {
        self.slot.bounds.reset(value);
    }
}

/// Opens the sequence of this database's extension. Raises an error if it does not exist, or if this transaction has
/// replaced it.
pub(super) fn open(lock: Lock) -> Sequence {
    invalidation::begin();
    // The wait for a lock can be for a sequence that gives its name to another meanwhile.
    let known = ATTACHED.get().and_then(|oid| {
        let sequence = Sequence::open(oid, lock)?;
        extension::is_named(oid, SEQUENCE).then_some(sequence)
    });
    let sequence = known.unwrap_or_else(|| open_by_name(lock));
    if extension::has_replaced(SEQUENCE, sequence.identity()) {
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "cannot generate ids in a transaction that replaces the ceiling of this database",
        )
        .detail("A rollback would restore the old ceiling, which does not cover ids generated in this transaction.")
        .hint("Commit the transaction before generating ids.")
        .raise();
    }
    sequence
}

/// Opens the sequence that has the name now. While it waits for the lock, the sequence can be replaced or renamed, and
/// so can the next one.
fn open_by_name(lock: Lock) -> Sequence {
    loop {
        // The extension can be replaced between two of the lookups that find it.
        let found = extension::find(SEQUENCE).or_else(|| {
            invalidation::accept();
            extension::find(SEQUENCE)
        });
        let Some(oid) = found else {
            report(
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "cannot generate ids without the ceiling of this database",
            )
            .detail("Sequence \"mint.time_ceiling\" does not exist.")
            .hint("Use CREATE EXTENSION pg_mint in this database.")
            .raise();
        };
        if let Some(sequence) = Sequence::open(oid, lock)
            && extension::is_named(oid, SEQUENCE)
        {
            return sequence;
        }
        check_for_interrupts!();
    }
}

/// Makes this session mint under the published bounds if a session has brought this page, in its present file, up to
/// them: opening the sequence would be a quarter of a session's first call, and all code that writes the page opens it.
/// A sequence that was renamed is not joined, as the next start reads another page.
fn join() -> bool {
    invalidation::begin();
    let slot = slots::own();
    let page = slot.page.load(Ordering::Acquire);
    let [sequence, file] = [page >> 32, page].map(|half| half as u32);
    let is_named = page != 0 && extension::is_named(sequence.into(), SEQUENCE);
    let own = is_named.then(|| File::of(sequence.into())).flatten();
    let own = own.filter(|own| own.number == file);
    let found = own.and_then(File::glance);
    let joins = found.is_some_and(|row| row.last_value == slot.bounds.written());
    if joins {
        CURRENT.set(&slot.bounds);
        JOINED.set(Some(sequence.into()));
    }
    joins
}

/// Makes this session mint under the ceiling of this page, which is raised to the bounds in shared memory first, on disk too.
pub(super) fn attach(sequence: Sequence) -> CeilingPage {
    let slot = slots::own();
    let (oid, file) = sequence.identity();
    let mut page = CeilingPage { sequence, slot };
    if ATTACHED.get() != Some(oid) {
        let floor = server_ceiling::floor();
        slot.bounds.attach(page.sequence.row().last_value);
        slot.bounds.raise_floor(floor);
        // A reset has lowered the floor meanwhile.
        slot.bounds.lower_floor(floor, server_ceiling::floor());
        let Ok(()) = slot.bounds.bring_up(&mut page);
        let identity = u64::from(oid.to_u32()) << 32 | u64::from(file.to_u32());
        slot.page.store(identity, Ordering::Release);
    }
    CURRENT.set(&slot.bounds);
    ATTACHED.set(Some(oid));
    page
}

/// Registers the memory and callbacks. Called once, when the library is loaded.
pub fn init() {
    slots::init();
    invalidation::on_relation(detach);
}

/// Detaches the ceiling if its sequence has changed. Called with each relation that has changed, or with no oid when
/// any can have.
fn detach(relation: pg_sys::Oid) {
    let changed = [ATTACHED.get(), JOINED.get()].contains(&Some(relation));
    if changed || relation == pg_sys::InvalidOid {
        CURRENT.set(&DETACHED);
        ATTACHED.set(None);
        JOINED.set(None);
    }
}

/// Returns the server's ceiling, which is a floor, in Unix microseconds; 0 if there is none.
pub fn server_floor() -> Micros {
    server_ceiling::floor_for_showing()
}

/// Returns why the file of the server's ceiling keeps the server from generating ids, with a remedy.
pub fn file_trouble() -> Option<(String, &'static str)> {
    server_ceiling::trouble()
}

/// Returns the name of the ceiling that the clock is behind: the server's, unless this database's is above it.
#[cold]
pub fn name_of_floor() -> &'static str {
    match current().floor().max(current().value()) > server_floor() {
        true => "the ceiling of this database",
        false => "the ceiling of this server (file \"pg_mint.ceiling\")",
    }
}

/// Sets the statistics of all ceilings to zero.
pub fn reset_statistics() {
    slots::used().for_each(|slot| slot.writes.store(0, Ordering::Relaxed));
}

/// Returns how many databases have a ceiling in shared memory, and how many can. The slot of a dropped database is
/// given to another when it is needed.
pub fn used() -> (usize, usize) {
    let name = |slot: &Slot| extension::name_of_database(slot.database().into());
    (slots::used().filter_map(name).count(), SLOTS)
}

/// Returns the sequence with the ceiling of this database, and the highest value that was on its page, if this server
/// knows it. Takes no lock.
pub fn own_page() -> Option<(pg_sys::Oid, Option<Micros>)> {
    let database = extension::database();
    let slot = slots::used().find(|slot| slot.database() == database);
    let is_own =
        |slot: &&Slot| slot.incarnation.load(Ordering::Acquire) == extension::incarnation();
    let written = slot.filter(is_own).map(|slot| slot.bounds.written());
    Some((
        extension::find(SEQUENCE)?,
        written.filter(|&written| written != 0),
    ))
}

/// A row of the view of ceilings.
pub struct Row {
    pub database: String,
    /// True for that of this session.
    pub is_own: bool,
    pub value: Micros,
    pub floor: Micros,
    pub writes: u64,
    pub last_write: Option<Micros>,
}

/// Returns the ceilings of databases that have minted since the server started.
pub fn rows() -> Vec<Row> {
    slots::used()
        .filter(|slot| slot.bounds.value() != 0)
        .filter_map(|slot| {
            Some(Row {
                database: extension::name_of_database(slot.database().into())?,
                is_own: slot.database() == extension::database(),
                value: slot.bounds.value(),
                floor: slot.bounds.floor(),
                writes: slot.writes.load(Ordering::Relaxed),
                last_write: Some(slot.last_write.load(Ordering::Relaxed)).filter(|&at| at != 0),
            })
        })
        .collect()
}
