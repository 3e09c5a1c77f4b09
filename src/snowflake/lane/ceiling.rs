//! The ceilings of the databases: in shared memory for every session, on disk for after a crash.
//!
//! Each database has its own, in the extension's sequence `mint.time_ceiling`. In shared memory a database has one
//! slot, whichever page it has: when a session [attaches](attach), a recreated page is raised to the bounds that were
//! published for the one before it, and a transaction that replaces the page mints nothing. So ids repeat neither after
//! DROP EXTENSION nor after DROP DATABASE with an oid that is used again.

use crate::pg::backend::local::Local;
use crate::pg::catalog::{extension, invalidation};
use crate::pg::error::{Report, report};
use crate::pg::machine::clock;
use crate::pg::sequence::{File, Lock, Position, Sequence};
use crate::pg::shmem::rendezvous::Stamp;
use crate::pg::shmem::segment::NamedSegment;
use crate::pg::{error, sequence};
use crate::snowflake::settings;
use crate::statistics::{self, Count};
use mint_core::clock::timestamp_text;
use mint_core::{Ceiling, Micros, Page};
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::convert::Infallible;
use std::ffi::CStr;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

/// The sequence that holds the ceiling.
pub const NAME: &str = "mint.time_ceiling";
const SEQUENCE: &CStr = c"time_ceiling";

/// How many databases can have a ceiling: 256 kB of shared memory.
const SLOTS: usize = 4_096;

static STAMP: Stamp = Stamp::new(b'c', 3);
static CEILINGS: NamedSegment<(), Slot> =
    NamedSegment::with_slots(c"pg_mint ceilings", &STAMP, || SLOTS, |(), _| ());

/// A ceiling in shared memory.
///
/// - `database`: written under the segment's lock, before a session gets a reference; immutable while the database
///   exists. 0 is an empty slot.
/// - `incarnation`: of the database that the bounds were published for, [`extension::incarnation`].
/// - `page`: the page that a session has brought up to the bounds: the oid of its sequence, and in the lower half the number of
///   its file; 0 before.
/// - `bounds`: atomic, by core's protocol.
/// - `writes`, `last_write`: statistics, changed under the page's lock.
#[repr(C, align(64))]
struct Slot {
    database: AtomicU32,
    incarnation: AtomicU32,
    page: AtomicU64,
    bounds: Ceiling,
    writes: AtomicU64,
    last_write: AtomicI64,
}

const _: () = assert!(size_of::<Slot>() == 64);

impl Slot {
    fn database(&self) -> u32 {
        self.database.load(Ordering::Acquire)
    }

    /// Gives the slot to a database. The caller holds the segment's lock, and no session has a reference.
    fn assign(&self, database: u32) {
        self.bounds.reset(0);
        self.writes.store(0, Ordering::Relaxed);
        self.last_write.store(0, Ordering::Relaxed);
        self.incarnation.store(0, Ordering::Relaxed);
        self.page.store(0, Ordering::Relaxed);
        self.database.store(database, Ordering::Release);
    }
}

/// The ceiling of a session that has not attached yet, or that must attach again as the sequence has changed.
static DETACHED: Ceiling = Ceiling::detached();

/// The ceiling of this session's database.
static CURRENT: Local<&Ceiling> = Local::new(&DETACHED);
/// The sequence that this session has attached.
static ATTACHED: Local<Option<pg_sys::Oid>> = Local::new(None);
/// The sequence whose bounds this session has joined.
static JOINED: Local<Option<pg_sys::Oid>> = Local::new(None);
/// The slot of the database, which keeps it while a session is connected to the database.
static OWN: Local<Option<&Slot>> = Local::new(None);

/// Returns the bounds to mint under.
#[inline]
pub fn current() -> &'static Ceiling {
    CURRENT.get()
}

/// Raises the ceiling of this database, so that ticks that start at `beyond` can be minted.
#[cold]
pub fn raise(beyond: Micros) {
    if !current().is_attached() && join() && beyond < current().limit() {
        return;
    }
    let mut page = attach(open(Lock::Write));
    let bounds = &page.slot.bounds;
    let Ok(()) = bounds.raise(beyond, settings::window(), &mut page);
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
        // Not under the page's lock, as the memory might not be mapped yet.
        statistics::add(Count::CeilingWrites, writes.into());
        Ok(raised)
    }

    fn flush(&mut self, position: Position) -> Result<(), Infallible> {
        sequence::flush(position);
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
    let open = |oid| Sequence::open(oid, lock);
    let find = || extension::find(SEQUENCE).and_then(open);
    let found = ATTACHED.get().and_then(open).or_else(find);
    // Again: the wait for its lock can have been for a transaction that has replaced it.
    let sequence = found.or_else(find).unwrap_or_else(|| {
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "cannot generate ids without the ceiling of this database",
        )
        .detail("Sequence \"mint.time_ceiling\" does not exist.")
        .hint("Use CREATE EXTENSION pg_mint in this database.")
        .raise()
    });
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

/// Makes this session mint under the published bounds if the page has what a session has brought it up to, and in that file:
/// opening the sequence would be a quarter of a session's first call. Whatever writes the page opens it.
fn join() -> bool {
    invalidation::begin();
    let slot = own_slot();
    let page = slot.page.load(Ordering::Acquire);
    let [sequence, file] = [page >> 32, page].map(|half| half as u32);
    let own = File::of(sequence.into()).filter(|own| own.number == file && page != 0);
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
    let slot = own_slot();
    let (oid, file) = sequence.identity();
    let mut page = CeilingPage { sequence, slot };
    if ATTACHED.get() != Some(oid) {
        slot.bounds.attach(page.sequence.row().last_value);
        let Ok(()) = slot.bounds.bring_up(&mut page);
        let identity = u64::from(oid.to_u32()) << 32 | u64::from(file.to_u32());
        slot.page.store(identity, Ordering::Release);
    }
    CURRENT.set(&slot.bounds);
    ATTACHED.set(Some(oid));
    page
}

/// Drops bounds that were published for a dropped database with the same oid, which can have any value. It has no
/// sessions left, and this one mints above its own page.
fn drop_earlier(slot: &Slot) {
    let incarnation = extension::incarnation();
    if slot.incarnation.load(Ordering::Acquire) != incarnation {
        CEILINGS.memory().locked(|| {
            if slot.incarnation.load(Ordering::Relaxed) != incarnation {
                slot.assign(slot.database());
                slot.incarnation.store(incarnation, Ordering::Release);
            }
        });
    }
}

/// Returns the slot of this database. The first call after a start of the server makes it.
fn own_slot() -> &'static Slot {
    if let Some(slot) = OWN.get() {
        return slot;
    }
    let database = extension::database();
    let memory = CEILINGS.memory();
    let slot = match find(database) {
        Found::Own(slot) => Some(slot),
        _ => memory.locked(|| match find(database) {
            Found::Own(slot) => Some(slot),
            Found::Empty(slot) => {
                slot.assign(database);
                Some(slot)
            }
            Found::Nothing => None,
        }),
    };
    let slot = slot
        .or_else(|| take_over(database))
        .unwrap_or_else(|| no_room().raise());
    drop_earlier(slot);
    OWN.set(Some(slot));
    slot
}

#[cold]
#[track_caller]
fn no_room() -> Report {
    report(
        Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
        "could not find free slot for the ceiling of this database",
    )
    .detail(format!(
        "At most {SLOTS} databases of a server can have a ceiling."
    ))
    .hint("Drop databases that are not needed.")
}

enum Found {
    Own(&'static Slot),
    Empty(&'static Slot),
    Nothing,
}

/// Looks for the slot of a database, by linear probing.
fn find(database: u32) -> Found {
    let slots = CEILINGS.memory().slots;
    let home = database.wrapping_mul(0x9e37_79b9) as usize;
    for step in 0..SLOTS {
        let slot = &slots[(home + step) % SLOTS];
        match slot.database() {
            0 => return Found::Empty(slot),
            other if other == database => return Found::Own(slot),
            _ => {}
        }
    }
    Found::Nothing
}

/// Gives the slot of a dropped database, which has no sessions, to another.
#[cold]
fn take_over(database: u32) -> Option<&'static Slot> {
    // Without the lock, as this reads the catalogs.
    let gone: Vec<(&Slot, u32)> = slots()
        .map(|slot| (slot, slot.database()))
        .filter(|&(_, other)| extension::name_of_database(other.into()).is_none())
        .collect();
    CEILINGS.memory().locked(|| {
        if let Found::Own(slot) = find(database) {
            return Some(slot);
        }
        // Another session can have taken some of them.
        let mut gone = gone.into_iter();
        let (slot, _) = gone.find(|&(slot, other)| slot.database() == other)?;
        slot.assign(database);
        Some(slot)
    })
}

fn slots() -> impl Iterator<Item = &'static Slot> {
    let slots = CEILINGS.made().map(|memory| memory.slots.iter());
    slots
        .into_iter()
        .flatten()
        .filter(|slot| slot.database() != 0)
}

/// Registers the memory and callbacks. Called once, when the library is loaded.
pub fn init() {
    CEILINGS.register();
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

/// Returns the highest time of ids that this database can have issued since the server started, in Unix microseconds; 1
/// if none. The ceiling of a new extension begins there.
pub fn highest() -> Micros {
    // Without memory there were no ids. CREATE EXTENSION asks, after which the sizes of memory can still be set.
    if !CEILINGS.is_made() {
        return 1;
    }
    own_slot().bounds.written().max(1)
}

/// Sets the statistics of all ceilings to zero.
pub fn reset_statistics() {
    slots().for_each(|slot| slot.writes.store(0, Ordering::Relaxed));
}

/// Returns how many databases have a ceiling in shared memory, and how many can. The slot of a dropped one is given to
/// another database when it is needed.
pub fn used() -> (usize, usize) {
    let name = |slot: &Slot| extension::name_of_database(slot.database().into());
    (slots().filter_map(name).count(), SLOTS)
}

/// Returns the sequence with the ceiling of this database, and the highest value that was on its page, if this server
/// knows. Takes no lock.
pub fn own_page() -> Option<(pg_sys::Oid, Option<Micros>)> {
    let database = extension::database();
    let slot = slots().find(|slot| slot.database() == database);
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
    /// It is the one of this session.
    pub is_own: bool,
    pub value: Micros,
    pub floor: Micros,
    pub writes: u64,
    pub last_write: Option<Micros>,
}

/// Returns the ceilings of databases that have minted since the server started.
pub fn rows() -> Vec<Row> {
    slots()
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
