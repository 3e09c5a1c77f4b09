//! The ceilings of the databases: in shared memory for every session, on disk for what comes after.
//!
//! Each database has its own, in the extension's sequence `pg_mint_time_ceiling`. In shared memory it has one place, for
//! whichever page is the database's: one that was made anew is brought up to what was published for the one before it
//! when a session [attaches](attach), and a transaction that replaces the page mints nothing. So neither DROP EXTENSION
//! nor DROP DATABASE, and an oid that is used again, let anything repeat.

use crate::pg::backend::local::Local;
use crate::pg::catalog::{extension, invalidation};
use crate::pg::error::report;
use crate::pg::machine::clock;
use crate::pg::sequence::{Lock, Position, Sequence};
use crate::pg::shmem::{NamedSegment, Stamp};
use crate::pg::{error, sequence};
use crate::snowflake::settings;
use mint_core::clock::timestamp_text;
use mint_core::{Ceiling, Micros, Page};
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::convert::Infallible;
use std::ffi::CStr;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

/// The sequence that holds the ceiling, in the extension's schema.
pub const NAME: &str = "pg_mint_time_ceiling";
const SEQUENCE: &CStr = c"pg_mint_time_ceiling";

/// How many databases can have a ceiling: 256 kB of shared memory.
const SLOTS: usize = 4_096;

static STAMP: Stamp = Stamp::new(b'c', 1);
static CEILINGS: NamedSegment<(), Slot> =
    NamedSegment::with_slots(c"pg_mint ceilings", &STAMP, || SLOTS, |(), _| ());

/// A ceiling in shared memory.
///
/// - `database`: written under the idea's lock, before a session gets a reference; immutable while the database exists.
///   0 is an empty slot.
/// - `incarnation`: of the database that the bounds were published for, [`extension::incarnation`].
/// - `bounds`: atomic, by the core's protocol.
/// - `writes`, `last_write`: statistics, changed under the page's lock.
#[repr(C, align(64))]
struct Slot {
    database: AtomicU32,
    incarnation: AtomicU32,
    bounds: Ceiling,
    writes: AtomicU64,
    last_write: AtomicI64,
}

const _: () = assert!(size_of::<Slot>() == 64);

impl Slot {
    fn database(&self) -> u32 {
        self.database.load(Ordering::Acquire)
    }

    /// Makes the slot another's. The caller holds the idea's lock, and no session has a reference.
    fn claim(&self, database: u32) {
        self.bounds.reset(0);
        self.writes.store(0, Ordering::Relaxed);
        self.last_write.store(0, Ordering::Relaxed);
        self.incarnation.store(0, Ordering::Relaxed);
        self.database.store(database, Ordering::Release);
    }
}

/// What a session mints under until it has attached, and again when the sequence has changed.
static DETACHED: Ceiling = Ceiling::detached();

/// The ceiling of this session's database.
static CURRENT: Local<&Ceiling> = Local::new(&DETACHED);
/// The sequence that it was attached to.
static ATTACHED: Local<Option<pg_sys::Oid>> = Local::new(None);
/// Where it is. Never another's while this session is connected to the database.
static OWN: Local<Option<&Slot>> = Local::new(None);

/// The bounds to mint under now.
#[inline]
pub fn current() -> &'static Ceiling {
    CURRENT.get()
}

/// Lets ticks that start at `beyond` be minted in this database.
#[cold]
pub fn raise(beyond: Micros) {
    let mut page = attach(open(Lock::Write));
    let bounds = &page.slot.bounds;
    let Ok(()) = bounds.raise(beyond, settings::window(), &mut page);
}

/// A ceiling's page and where it is in shared memory.
pub(super) struct CeilingPage {
    sequence: Sequence,
    slot: &'static Slot,
}

impl Page for CeilingPage {
    type Position = Position;
    /// What goes wrong is an error of the server's, and ends the statement.
    type Failure = Infallible;

    fn update(
        &mut self,
        decide: impl FnOnce(Micros) -> Option<Micros>,
    ) -> Result<(Micros, Position), Infallible> {
        let slot = self.slot;
        Ok(self.sequence.raise(|found| {
            let value = decide(found)?;
            slot.writes.fetch_add(1, Ordering::Relaxed);
            slot.last_write.store(clock::now(), Ordering::Relaxed);
            Some(value)
        }))
    }

    fn flush(&mut self, position: Position) -> Result<(), Infallible> {
        sequence::flush(position);
        Ok(())
    }

    fn set_back(&mut self, from: Micros, to: Micros) {
        error::warn(
            "the ceiling of pg_mint was set back, and has been raised again",
            format!(
                "It was at {}, and is at {} now.",
                timestamp_text(from),
                timestamp_text(to)
            ),
            "Had the server crashed in between, ids could have been issued twice. Leave sequence pg_mint_time_ceiling alone.",
        );
    }
}

impl CeilingPage {
    /// Publishes bounds that begin anew.
    pub(super) fn reset_bounds(&self, value: Micros) {
        self.slot.bounds.reset(value);
    }
}

/// Opens the sequence of this database's extension, unless this transaction has put it in the place of another.
pub(super) fn open(lock: Lock) -> Sequence {
    invalidation::begin();
    let open = |oid| Sequence::open(oid, lock);
    let sequence = ATTACHED.get().and_then(open).unwrap_or_else(|| {
        extension::find(SEQUENCE).and_then(open).unwrap_or_else(|| {
            report(
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "cannot mint ids without the ceiling of pg_mint",
            )
            .detail("Sequence pg_mint_time_ceiling is not there.")
            .hint("Use CREATE EXTENSION pg_mint in this database.")
            .raise()
        })
    });
    if extension::has_replaced(SEQUENCE, sequence.identity()) {
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "cannot mint ids in a transaction that replaces the ceiling of pg_mint",
        )
        .detail("A rollback would bring the old one back, which does not know what was minted.")
        .hint("Commit first.")
        .raise();
    }
    sequence
}

/// Mints under the ceiling of this page from now on. What shared memory knows already is trusted only beside the page:
/// one that is below it is raised first, and written to disk.
pub(super) fn attach(sequence: Sequence) -> CeilingPage {
    let slot = own_slot();
    let (oid, _) = sequence.identity();
    let mut page = CeilingPage { sequence, slot };
    if ATTACHED.get() != Some(oid) {
        slot.bounds.attach(page.sequence.row().last_value);
        let Ok(()) = slot.bounds.bring_up(&mut page);
    }
    CURRENT.set(&slot.bounds);
    ATTACHED.set(Some(oid));
    page
}

/// Drops bounds that were published for a database that is gone and had the same oid: it may have put its ceiling anywhere.
/// None of its sessions is left, and what this one mints is above its own page.
fn drop_earlier(slot: &Slot) {
    let incarnation = extension::incarnation();
    if slot.incarnation.load(Ordering::Acquire) != incarnation {
        CEILINGS.memory().locked(|| {
            if slot.incarnation.load(Ordering::Relaxed) != incarnation {
                slot.claim(slot.database());
                slot.incarnation.store(incarnation, Ordering::Release);
            }
        });
    }
}

/// The slot of this database, made on the first call after a start of the server.
fn own_slot() -> &'static Slot {
    if let Some(slot) = OWN.get() {
        return slot;
    }
    let database = extension::database();
    let memory = CEILINGS.memory();
    let slot = match find(database) {
        Place::Mine(slot) => Some(slot),
        _ => memory.locked(|| match find(database) {
            Place::Mine(slot) => Some(slot),
            Place::Empty(slot) => {
                slot.claim(database);
                Some(slot)
            }
            Place::Nowhere => None,
        }),
    };
    let slot = slot
        .or_else(|| take_over(database))
        .unwrap_or_else(|| no_room());
    drop_earlier(slot);
    OWN.set(Some(slot));
    slot
}

#[cold]
fn no_room() -> ! {
    report(
        Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
        "no room for the ceiling of this database",
    )
    .detail(format!(
        "{SLOTS} databases of this server have one already."
    ))
    .hint("Drop databases that are not needed.")
    .raise()
}

enum Place {
    Mine(&'static Slot),
    Empty(&'static Slot),
    Nowhere,
}

/// Looks for a database from where its oid leads to, up to the first empty slot.
fn find(database: u32) -> Place {
    let slots = CEILINGS.memory().slots;
    let home = database.wrapping_mul(0x9e37_79b9) as usize;
    for step in 0..SLOTS {
        let slot = &slots[(home + step) % SLOTS];
        match slot.database() {
            0 => return Place::Empty(slot),
            other if other == database => return Place::Mine(slot),
            _ => {}
        }
    }
    Place::Nowhere
}

/// Takes the slot of a database that is gone, with all its sessions.
#[cold]
fn take_over(database: u32) -> Option<&'static Slot> {
    // Looked for without the lock, as that reads the catalogs.
    let gone: Vec<(&Slot, u32)> = slots()
        .map(|slot| (slot, slot.database()))
        .filter(|&(_, other)| extension::name_of_database(other.into()).is_none())
        .collect();
    CEILINGS.memory().locked(|| {
        if let Place::Mine(slot) = find(database) {
            return Some(slot);
        }
        // Another session may have taken some of them.
        let mut gone = gone.into_iter();
        let (slot, _) = gone.find(|&(slot, other)| slot.database() == other)?;
        slot.claim(database);
        Some(slot)
    })
}

fn slots() -> impl Iterator<Item = &'static Slot> {
    let slots = CEILINGS.memory().slots.iter();
    slots.filter(|slot| slot.database() != 0)
}

/// Registers what is to be forgotten, and when. Called once, when the library is loaded.
pub fn init() {
    invalidation::on_relation(forget);
}

/// Called when a relation has changed, or, without an oid, when any may have.
fn forget(relation: pg_sys::Oid) {
    if relation == pg_sys::InvalidOid || ATTACHED.get() == Some(relation) {
        CURRENT.set(&DETACHED);
        ATTACHED.set(None);
    }
}

/// The highest moment that this database may have issued an id of since the server started; 1 when it
/// has issued none. A new extension begins there.
pub fn highest() -> Micros {
    own_slot().bounds.written().max(1)
}

/// A ceiling as the view shows it.
pub struct Seen {
    pub database: String,
    pub value: Micros,
    pub floor: Micros,
    pub writes: u64,
    pub last_write: Option<Micros>,
}

/// The ceilings of databases that minted since the server started.
pub fn seen() -> Vec<Seen> {
    slots()
        .filter(|slot| slot.bounds.value() != 0)
        .filter_map(|slot| {
            Some(Seen {
                database: extension::name_of_database(slot.database().into())?,
                value: slot.bounds.value(),
                floor: slot.bounds.floor(),
                writes: slot.writes.load(Ordering::Relaxed),
                last_write: Some(slot.last_write.load(Ordering::Relaxed)).filter(|&at| at != 0),
            })
        })
        .collect()
}
