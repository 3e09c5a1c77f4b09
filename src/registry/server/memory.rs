//! What the registries of this server keep in memory, which no copy of their tables has: by it they notice that they can
//! have forgotten something.

use crate::pg::backend::local::Local;
use crate::pg::catalog::extension;
use crate::pg::machine::{clock, random, server};
use crate::pg::shmem::rendezvous::Stamp;
use crate::pg::shmem::segment::NamedSegment;
use mint_core::Micros;
use mint_core::registry::ring::{RegistryRun, RingMemory, RingRules};
use pgrx::{PgXactCallbackEvent, pg_sys, register_xact_callback};
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering::Relaxed};

/// How many databases of a server are remembered as registries. Of more, the one that was asked least recently is
/// forgotten, which begins its wait again.
const REGISTRIES: usize = 64;

/// What is kept of one database; zeroed memory is a free slot. Written and read under the segment's lock.
#[repr(C)]
struct RegistrySlot {
    database: AtomicU32,
    /// When it was asked last, by the clock since boot.
    used: AtomicI64,
    began: AtomicI64,
    serial: AtomicI64,
    offset: AtomicI64,
}

#[repr(C)]
struct RegistriesHead {
    /// A random number of this run of the server. A crash restart makes other memory, and so another one.
    run: AtomicI64,
    slots: [RegistrySlot; REGISTRIES],
}

static STAMP: Stamp = Stamp::new(b'n', 1);
static REGISTRIES_MEMORY: NamedSegment<RegistriesHead> =
    NamedSegment::new(c"pg_mint registries", &STAMP, |head, _| {
        head.run.store(random::bits().cast_signed(), Relaxed);
    });

/// What the commit of this transaction is to keep.
#[derive(Clone, Copy)]
enum Pending {
    Whole(RingMemory),
    /// One more row was written.
    Renewal,
}

static PENDING: Local<Option<Pending>> = Local::new(None);

/// Registers the memory. Called once, when the library is loaded.
pub fn init() {
    REGISTRIES_MEMORY.register();
}

/// Returns which run of the registry this is that has this table of leases.
pub fn run(leases: pg_sys::Oid) -> RegistryRun {
    RegistryRun {
        number: REGISTRIES_MEMORY.memory().head.run.load(Relaxed),
        system: server::system_identifier().cast_signed(),
        timeline: server::timeline(),
        database: extension::database(),
        table: leases.to_u32(),
    }
}

/// Runs `work` on the slot of this database, if it has one, under the lock.
fn with_slot<T>(work: impl FnOnce(&RegistrySlot) -> T) -> Option<T> {
    let memory = REGISTRIES_MEMORY.memory();
    let database = extension::database();
    let is_own = |slot: &&RegistrySlot| slot.database.load(Relaxed) == database;
    memory.locked(|| memory.head.slots.iter().find(is_own).map(work))
}

/// Returns what is kept of the registry of this database.
pub fn get() -> Option<RingMemory> {
    with_slot(|slot| RingMemory {
        began: slot.began.load(Relaxed),
        serial: slot.serial.load(Relaxed),
        offset: slot.offset.load(Relaxed),
    })
}

/// Returns for how long the registry of this database grants nothing new, if it was asked since the server started. For
/// showing.
pub fn wait_left() -> Option<Micros> {
    let made = REGISTRIES_MEMORY.made()?;
    let database = extension::database();
    let mut slots = made.head.slots.iter();
    let own = slots.find(|slot| slot.database.load(Relaxed) == database)?;
    Some(own.began.load(Relaxed) + RingRules::STANDARD.wait - clock::up())
}

/// Keeps the memory if this transaction commits, before its locks are released.
pub fn keep(memory: RingMemory) {
    keep_at_commit(Pending::Whole(memory));
}

/// Counts a row that was written, if this transaction commits.
pub fn keep_renewal() {
    keep_at_commit(Pending::Renewal);
}

fn keep_at_commit(pending: Pending) {
    if PENDING.replace(Some(pending)).is_none() {
        register_xact_callback(PgXactCallbackEvent::Commit, store);
        register_xact_callback(PgXactCallbackEvent::Abort, || PENDING.set(None));
    }
}

fn store() {
    match PENDING.replace(None) {
        Some(Pending::Whole(memory)) => store_whole(memory),
        Some(Pending::Renewal) => {
            with_slot(|slot| {
                slot.serial.fetch_add(1, Relaxed);
                slot.used.store(clock::up(), Relaxed);
            });
        }
        None => {}
    }
}

fn store_whole(kept: RingMemory) {
    let memory = REGISTRIES_MEMORY.memory();
    let database = extension::database();
    memory.locked(|| {
        let slots = &memory.head.slots;
        let own = slots
            .iter()
            .find(|slot| slot.database.load(Relaxed) == database);
        // A free slot was never used.
        let oldest = || slots.iter().min_by_key(|slot| slot.used.load(Relaxed));
        if let Some(slot) = own.or_else(oldest) {
            slot.database.store(database, Relaxed);
            slot.used.store(clock::up(), Relaxed);
            slot.began.store(kept.began, Relaxed);
            slot.serial.store(kept.serial, Relaxed);
            slot.offset.store(kept.offset, Relaxed);
        }
    });
}
