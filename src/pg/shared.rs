//! The shared memory, with or without `shared_preload_libraries`.
//!
//! 64 bytes of the main segment, the *rendezvous*, hold the handle of a pinned dynamic segment, which
//! holds everything else. Whoever needs it first makes it, under AddinShmemInitLock. A crash of the
//! server makes the main segment anew, and with it an empty rendezvous, so a stale handle cannot be.
//!
//! The rendezvous has one name for ever, and magic, version and size inside. So a session with
//! another version of the library than the one that made the segment is refused, and never mints
//! from lanes of its own beside the others.

use super::ceilings::{self, Slot};
use super::claims::Claims;
use super::errors::report;
use super::sources::{self, Supplier};
use super::{random, sections, segment_slots, settings};
use mint_core::{BUILTINS, ClockAnchor, Instants, Lane, LaneTable, TableCount};
use pgrx::{PgSqlErrorCode, pg_sys};
use std::ffi::{c_int, c_void};
use std::ptr::{self, addr_of_mut};
use std::sync::atomic::{AtomicU32, Ordering};

const NAME: &std::ffi::CStr = c"pg_mint";

/// Whose segment it is, and its form.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    /// Eight bytes that stand nowhere else in the library's file.
    magic: [u8; 8],
    /// Any change to [`Header`] or [`Lane`] that an older library would misread needs another number.
    version: u32,
}

/// What this library makes and joins. Looked up where it stands, by [`stamp`], and not built into the
/// code: so the test of an upgrade finds it in the file and makes a library of another version.
static STAMP: Stamp = Stamp {
    magic: *b"mint\x9d\xc5\xfe\x01",
    version: 1,
};

fn stamp() -> Stamp {
    *std::hint::black_box(&STAMP)
}

/// Guarded by AddinShmemInitLock. All zero until the segment is made.
#[repr(C)]
struct Rendezvous {
    stamp: Stamp,
    handle: pg_sys::dsm_handle,
    size: u64,
    spare: [u64; 5],
}

const _: () = assert!(size_of::<Rendezvous>() == 64);

/// The segment's beginning; the lanes follow, then the segments and sections of the counters.
///
/// - `tranche`, `slots`, `limit`, `segments`, `sections`: written before the handle is published, immutable then.
/// - `lock`: held to insert lanes.
/// - `count`: written under `lock`, read by anyone.
/// - `anchor`, `ceilings`, `claims`, `suppliers`, `instants`: atomic; ceilings and suppliers are claimed under `lock`.
/// - `owners`: the number given out last, under `lock`.
/// - `users`: handle of the segment of the users; 0 until it is made, under `lock`.
#[repr(C, align(64))]
struct Header {
    lock: pg_sys::LWLock,
    tranche: c_int,
    slots: u32,
    limit: u32,
    segments: u32,
    sections: u32,
    owners: AtomicU32,
    users: AtomicU32,
    count: TableCount,
    anchor: ClockAnchor,
    ceilings: [Slot; ceilings::SLOTS],
    claims: Claims,
    suppliers: [Supplier; sources::SLOTS],
    instants: Instants,
}

/// The shared memory as this process sees it.
pub struct Shared {
    lock: *mut pg_sys::LWLock,
    /// Where wall clock and time since boot were last seen together.
    pub anchor: &'static ClockAnchor,
    /// The ceilings of the databases.
    pub ceilings: &'static [Slot],
    /// What is held of a registry.
    pub claims: &'static Claims,
    /// Who fetches segments from other servers.
    pub suppliers: &'static [Supplier],
    /// The lanes of UUIDs and ObjectIDs.
    pub instants: &'static Instants,
    /// Two segments of each sequence that is drawn from.
    pub segments: &'static [segment_slots::Slot],
    /// Sections of user sequences.
    pub sections: &'static [sections::Slot],
    /// Handle of the segment that holds the users.
    pub users: &'static AtomicU32,
    owners: &'static AtomicU32,
    /// The lanes of the server.
    pub table: LaneTable<'static>,
}

static mut SHARED: Option<Shared> = None;

/// The shared memory, made or attached on the first call.
#[inline]
pub fn shared() -> &'static Shared {
    // SAFETY: a backend is one thread, and SHARED is written once, by `attach`, before it is lent.
    match unsafe { (*ptr::addr_of!(SHARED)).as_ref() } {
        Some(shared) => shared,
        None => attach(),
    }
}

impl Shared {
    /// Runs `work` under the lock that inserting lanes and claiming ceilings need. An error inside releases it.
    pub fn locked<T>(&self, work: impl FnOnce(&LaneTable<'static>) -> T) -> T {
        // SAFETY: the lock was initialised before the segment was published; if `work` raises an
        // error, the server releases it with the transaction.
        unsafe { pg_sys::LWLockAcquire(self.lock, pg_sys::LWLockMode::LW_EXCLUSIVE) };
        let result = work(&self.table);
        // SAFETY: acquired above.
        unsafe { pg_sys::LWLockRelease(self.lock) };
        result
    }

    /// A number that nothing in this memory had before, and that is not 0. The caller holds the lock.
    pub fn new_owner(&self) -> u32 {
        loop {
            let owner = self.owners.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
            if owner != 0 {
                return owner;
            }
        }
    }
}

#[cold]
fn attach() -> &'static Shared {
    // SAFETY: MainLWLockArray is the server's; 21 is AddinShmemInitLock in every supported version
    // (lwlocknames.txt), as pgrx's own shared memory has it.
    let addin_lock = unsafe { addr_of_mut!((*pg_sys::MainLWLockArray.add(21)).lock) };
    // SAFETY: held until the segment is found or made; an error releases it with the transaction.
    unsafe { pg_sys::LWLockAcquire(addin_lock, pg_sys::LWLockMode::LW_EXCLUSIVE) };
    let mut found = false;
    // SAFETY: the name is a constant string, the size never changes.
    let rendezvous = unsafe {
        pg_sys::ShmemInitStruct(NAME.as_ptr(), size_of::<Rendezvous>(), &raw mut found)
            .cast::<Rendezvous>()
    };
    // SAFETY: the server gave 64 bytes, aligned to a cache line; the lock makes us their only user.
    let rendezvous = unsafe {
        if !found {
            ptr::write_bytes(rendezvous, 0, 1);
        }
        &mut *rendezvous
    };
    let header = if rendezvous.handle == 0 {
        make(rendezvous)
    } else {
        join(rendezvous)
    };
    // SAFETY: `make` or `join` gave a segment of `slots` lanes behind its header, which stays mapped
    // for the life of this process and is only used through atomics and the lock.
    let shared = unsafe {
        pg_sys::LWLockRelease(addin_lock);
        pg_sys::LWLockRegisterTranche((*header).tranche, NAME.as_ptr());
        let lanes =
            std::slice::from_raw_parts(header.add(1).cast::<Lane>(), (*header).slots as usize);
        let segments = lanes.as_ptr_range().end.cast::<segment_slots::Slot>();
        let segments = std::slice::from_raw_parts(segments, (*header).segments as usize);
        let sections = segments.as_ptr_range().end.cast::<sections::Slot>();
        Shared {
            lock: addr_of_mut!((*header).lock),
            anchor: &(*header).anchor,
            ceilings: &(*header).ceilings,
            claims: &(*header).claims,
            suppliers: &(*header).suppliers,
            instants: &(*header).instants,
            segments,
            sections: std::slice::from_raw_parts(sections, (*header).sections as usize),
            users: &(*header).users,
            owners: &(*header).owners,
            table: LaneTable::new(&(*header).count, lanes, (*header).limit),
        }
    };
    // SAFETY: a backend is one thread, and nothing was lent from SHARED while it was None.
    unsafe { (*addr_of_mut!(SHARED)).insert(shared) }
}

/// Makes the segment. The caller holds AddinShmemInitLock.
fn make(rendezvous: &mut Rendezvous) -> *mut Header {
    let limit = settings::max_lanes();
    // Twice as many slots as lanes keep probing short and leave room for shared lanes.
    let slots = (limit * 2).next_power_of_two().max(64);
    let segments = settings::max_segments();
    let sections = settings::max_sections();
    let size = size_of::<Header>()
        + slots as usize * size_of::<Lane>()
        + segments as usize * size_of::<segment_slots::Slot>()
        + sections as usize * size_of::<sections::Slot>();
    let (handle, memory) = make_pinned(size);
    let header = memory.cast::<Header>();
    // SAFETY: the memory is ours, zeroed, and has room for all that its header says.
    unsafe {
        (*header).tranche = pg_sys::LWLockNewTrancheId();
        pg_sys::LWLockInitialize(addr_of_mut!((*header).lock), (*header).tranche);
        (*header).slots = slots;
        (*header).limit = limit;
        (*header).instants.seed([random::bits(), random::bits()]);
        (*header).segments = segments;
        (*header).sections = sections;
        // Users of the built-in layouts must find room, however many lanes others make.
        let lanes = std::slice::from_raw_parts(header.add(1).cast::<Lane>(), slots as usize);
        let table = LaneTable::new(&(*header).count, lanes, limit);
        for builtin in &BUILTINS {
            let _ = table.insert_shared(&builtin.layout);
        }
    }
    rendezvous.handle = handle;
    rendezvous.stamp = stamp();
    rendezvous.size = size as u64;
    header
}

/// Attaches to the segment. The caller holds AddinShmemInitLock.
fn join(rendezvous: &Rendezvous) -> *mut Header {
    let own = stamp();
    if rendezvous.stamp != own {
        report(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "shared memory of pg_mint was created by another version".to_owned(),
            Some(format!(
                "It has version {}; this library needs {}.",
                rendezvous.stamp.version, own.version
            )),
            Some("Reconnect all sessions of the old version and restart the server.".to_owned()),
        );
    }
    map(rendezvous.handle).cast::<Header>()
}

/// The memory of a pinned segment.
pub fn map(handle: pg_sys::dsm_handle) -> *mut c_void {
    // SAFETY: the handle is of a pinned segment, which cannot be gone while what holds it is there.
    unsafe {
        let mut segment = pg_sys::dsm_find_mapping(handle);
        if segment.is_null() {
            segment = pg_sys::dsm_attach(handle);
            if segment.is_null() {
                report(
                    PgSqlErrorCode::ERRCODE_INTERNAL_ERROR,
                    "could not attach to the shared memory of pg_mint".to_owned(),
                    None,
                    None,
                );
            }
            pg_sys::dsm_pin_mapping(segment);
        }
        pg_sys::dsm_segment_address(segment)
    }
}

/// A new segment, zeroed: its handle and its memory. Pinned, so that it outlives this session; the mapping
/// too, so that it outlives this statement.
pub fn make_pinned(size: usize) -> (pg_sys::dsm_handle, *mut c_void) {
    // SAFETY: creates a segment of `size` bytes, mapped on a page, and raises an error if it cannot.
    unsafe {
        let segment = pg_sys::dsm_create(size, 0);
        let memory = pg_sys::dsm_segment_address(segment);
        ptr::write_bytes(memory.cast::<u8>(), 0, size);
        pg_sys::dsm_pin_segment(segment);
        pg_sys::dsm_pin_mapping(segment);
        (pg_sys::dsm_segment_handle(segment), memory)
    }
}
