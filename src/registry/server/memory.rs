//! The memory of the registries of this server, which no copy of their tables has: from it they notice that they can
//! have forgotten leases.

use crate::pg::backend::local::Local;
use crate::pg::catalog::extension;
use crate::pg::machine::{clock, random, server};
use crate::pg::shmem::rendezvous::Stamp;
use crate::pg::shmem::segment::NamedSegment;
use mint_core::Micros;
use mint_core::registry::ring::{RegistryRun, RingMemory, RingRules};
use pgrx::{PgXactCallbackEvent, pg_sys, register_xact_callback};
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering::Relaxed};

/// The most databases of a server that are remembered as registries. The next one replaces that which was asked least
/// recently, and which begins its wait again.
const REGISTRIES: usize = 64;

/// The memory of one database; zeroed memory is a free slot. Written and read under the segment's lock.
#[repr(C)]
struct RegistrySlot {
    database: AtomicU32,
    /// When it was asked last, by the clock since boot.
    used: AtomicI64,
    began: AtomicI64,
    digest: AtomicU64,
    offset: AtomicI64,
}

#[repr(C)]
struct RegistriesHead {
    /// A random number of this run of the server. A crash restart makes other memory, and so another number.
    run: AtomicI64,
    slots: [RegistrySlot; REGISTRIES],
}

static STAMP: Stamp = Stamp::new(b'n', 1);
static REGISTRIES_MEMORY: NamedSegment<RegistriesHead> =
    NamedSegment::new(c"pg_mint registries", &STAMP, |head, _| {
        head.run.store(random::bits().cast_signed(), Relaxed);
    });

/// The memory that the commit of this transaction stores, and how plain renewals since have changed the digest.
#[derive(Clone, Copy, Default)]
struct Pending(Option<RingMemory>, u64);

static PENDING: Local<Option<Pending>> = Local::new(None);

/// Registers the memory. Called once, when the library is loaded.
pub fn init() {
    REGISTRIES_MEMORY.register();
}

/// Returns the run of the registry that has this table of leases.
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

/// Returns the memory of the registry of this database.
pub fn get() -> Option<RingMemory> {
    let Pending(whole, change) = PENDING.get().unwrap_or_default();
    let committed = || {
        with_slot(|slot| RingMemory {
            began: slot.began.load(Relaxed),
            digest: slot.digest.load(Relaxed),
            offset: slot.offset.load(Relaxed),
        })
    };
    let kept = whole.or_else(committed)?;
    let digest = kept.digest ^ change;
    Some(RingMemory { digest, ..kept })
}

/// Returns for how long the registry of this database grants nothing new, if it was asked since the server started.
pub fn wait_left() -> Option<Micros> {
    REGISTRIES_MEMORY.if_made()?;
    Some(get()?.began + RingRules::STANDARD.wait - clock::up())
}

/// Keeps the memory if this transaction commits, before its locks are released.
pub fn keep(memory: RingMemory) {
    keep_at_commit(Pending(Some(memory), 0));
}

/// Keeps how a plain renewal has changed the digest, if this transaction commits.
pub fn keep_renewal(change: u64) {
    let Pending(whole, before) = PENDING.get().unwrap_or_default();
    keep_at_commit(Pending(whole, before ^ change));
}

fn keep_at_commit(pending: Pending) {
    if PENDING.replace(Some(pending)).is_none() {
        register_xact_callback(PgXactCallbackEvent::Commit, store);
        register_xact_callback(PgXactCallbackEvent::Abort, || PENDING.set(None));
    }
}

fn store() {
    let kept = get();
    match PENDING.replace(None) {
        Some(Pending(Some(_), _)) => kept.map_or((), store_whole),
        Some(Pending(None, change)) => {
            with_slot(|slot| {
                slot.digest.fetch_xor(change, Relaxed);
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
            slot.digest.store(kept.digest, Relaxed);
            slot.offset.store(kept.offset, Relaxed);
        }
    });
}
