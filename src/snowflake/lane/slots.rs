//! The slots of the ceilings in shared memory, one for each database.

use crate::pg::backend::local::Local;
use crate::pg::catalog::extension;
use crate::pg::error::{Report, report};
use crate::pg::machine::clock;
use crate::pg::shmem::rendezvous::Stamp;
use crate::pg::shmem::segment::NamedSegment;
use crate::statistics::Wait;
use mint_core::Ceiling;
use pgrx::PgSqlErrorCode as Code;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};

/// The most databases that can have a ceiling: 256 kB of shared memory.
pub(super) const SLOTS: usize = 4_096;

static STAMP: Stamp = Stamp::new(b'c', 4);
static CEILINGS: NamedSegment<ServerCeiling, Slot> =
    NamedSegment::with_slots(c"pg_mint ceilings", &STAMP, || SLOTS, |_, _| ());

/// The ceiling of the server, in Unix microseconds: that of its file when the server started, and now; 0 before it was
/// read. The error number of the last write of the file if that failed, else 0. Changed under the segment's lock.
#[repr(C, align(64))]
pub(super) struct ServerCeiling {
    pub(super) floor: AtomicI64,
    pub(super) covered: AtomicI64,
    pub(super) failure: AtomicI32,
}

/// A ceiling in shared memory.
///
/// - `database`: written under the segment's lock, before a session gets a reference; immutable while the database
///   exists. 0 is an empty slot.
/// - `incarnation`: that of the database that the bounds were published for, [`extension::incarnation`].
/// - `page`: the page that a session has brought up to the bounds: the oid of its sequence, and in the lower half the number of
///   its file; 0 before.
/// - `bounds`: atomic, by core's protocol.
/// - `writes`, `last_write`: statistics, changed under the page's lock.
#[repr(C, align(64))]
pub(super) struct Slot {
    database: AtomicU32,
    pub(super) incarnation: AtomicU32,
    pub(super) page: AtomicU64,
    pub(super) bounds: Ceiling,
    pub(super) writes: AtomicU64,
    pub(super) last_write: AtomicI64,
}

const _: () = assert!(size_of::<Slot>() == 64);

impl Slot {
    pub(super) fn database(&self) -> u32 {
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

/// The slot of the database, which keeps it while a session is connected to the database.
static OWN: Local<Option<&Slot>> = Local::new(None);

/// Registers the memory. Called once, when the library is loaded.
pub(super) fn init() {
    CEILINGS.register();
}

/// Returns the ceiling of the server.
pub(super) fn server() -> &'static ServerCeiling {
    CEILINGS.memory().head
}

/// Returns the ceiling of the server, if a session has made the memory.
pub(super) fn server_if_made() -> Option<&'static ServerCeiling> {
    CEILINGS.if_made().map(|memory| memory.head)
}

/// Runs `work` while no other session changes the owner of a slot or the ceiling of the server. A session that writes
/// to a slow disk can take long, so the wait can be canceled.
pub(super) fn locked<T>(mut work: impl FnMut() -> T) -> T {
    /// The time between two attempts, in microseconds.
    const POLL: i64 = 2_000;
    loop {
        if let Some(done) = CEILINGS.memory().try_locked(&mut work) {
            return done;
        }
        clock::pause(POLL, Wait::Ceiling.event());
    }
}

/// Returns whether a session has made the memory since the server started: otherwise there are no ids yet.
pub(super) fn are_made() -> bool {
    CEILINGS.is_made()
}

/// Drops bounds that were published for a dropped database with the same oid, which can have any value. It has no
/// sessions left, and this session mints above the page of its own database.
fn drop_earlier(slot: &Slot) {
    let incarnation = extension::incarnation();
    if slot.incarnation.load(Ordering::Acquire) != incarnation {
        locked(|| {
            if slot.incarnation.load(Ordering::Relaxed) != incarnation {
                slot.assign(slot.database());
                slot.incarnation.store(incarnation, Ordering::Release);
            }
        });
    }
}

/// Returns the slot of this database. The first call after a start of the server makes it.
pub(super) fn own() -> &'static Slot {
    if let Some(slot) = OWN.get() {
        return slot;
    }
    let database = extension::database();
    let slot = match find(database) {
        Found::Own(slot) => Some(slot),
        _ => locked(|| match find(database) {
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
    // Read without the lock, as this reads the catalogs.
    let gone: Vec<(&Slot, u32)> = used()
        .map(|slot| (slot, slot.database()))
        .filter(|&(_, other)| extension::name_of_database(other.into()).is_none())
        .collect();
    locked(|| {
        if let Found::Own(slot) = find(database) {
            return Some(slot);
        }
        // Another session can have taken some of these slots.
        let (slot, _) = *gone
            .iter()
            .find(|(slot, other)| slot.database() == *other)?;
        slot.assign(database);
        Some(slot)
    })
}

pub(super) fn used() -> impl Iterator<Item = &'static Slot> {
    let slots = CEILINGS.if_made().map(|memory| memory.slots.iter());
    slots
        .into_iter()
        .flatten()
        .filter(|slot| slot.database() != 0)
}
