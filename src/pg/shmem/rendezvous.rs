//! The place where processes find a segment of shared memory: an entry in the main segment, by its name.

use pgrx::pg_sys;
use std::ffi::{CStr, c_int};
use std::ptr::{self, addr_of_mut};
use std::sync::atomic::{AtomicU32, Ordering};

/// Identifies the contents of a segment and their format.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Eight bytes that are nowhere else in the library's file. The last one is the segment's own.
    magic: [u8; 8],
    /// Increases with any change to the head or the slots that an older library would misread.
    pub(super) version: u32,
}

impl Stamp {
    /// Returns the stamp of a segment, which has a byte of its own, at a version.
    pub const fn new(segment: u8, version: u32) -> Self {
        let mut magic = *b"mint\x9d\xc5\xfe\0";
        magic[7] = segment;
        Self { magic, version }
    }
}

/// The entry of a segment in the main shared memory. Guarded by AddinShmemInitLock until `tranche` is set, by its own
/// lock from then on. The rest is zero until the segment is made; then `handle` is stored last, and all is immutable.
#[repr(C, align(128))]
pub(super) struct Rendezvous {
    pub(super) lock: pg_sys::LWLock,
    pub(super) tranche: c_int,
    pub(super) stamp: Stamp,
    pub(super) handle: AtomicU32,
    pub(super) slots: u64,
    pub(super) size: u64,
    /// The value of the setting with which the segment was made.
    pub(super) setting: i32,
    /// The size in bytes that the segment was to have.
    pub(super) wanted: u64,
    pub(super) refused: AtomicU32,
}

const _: () = assert!(size_of::<Rendezvous>() == 128);

/// Returns the value of the setting with which the segment of a name was made, if it was. Waits for nothing that lasts.
pub fn size_in_use(name: &'static CStr) -> Option<i32> {
    let rendezvous = rendezvous(name);
    // SAFETY: initialized in shared memory, which lasts as long as this process; immutable once there is a handle.
    unsafe {
        let is_made = (*rendezvous).handle.load(Ordering::Acquire) != 0;
        is_made.then(|| (*rendezvous).setting)
    }
}

/// Returns the rendezvous of a name, with its lock initialized.
pub(super) fn rendezvous(name: &CStr) -> *mut Rendezvous {
    // SAFETY: MainLWLockArray is the server's; 21 is AddinShmemInitLock in every supported version
    // (lwlocknames.txt), as in pgrx's own shared memory. It is held until the lock of the rendezvous is initialized; an
    // error releases it with the transaction. The server returns that many bytes, aligned to a cache line.
    unsafe {
        let addin_lock = addr_of_mut!((*pg_sys::MainLWLockArray.add(21)).lock);
        pg_sys::LWLockAcquire(addin_lock, pg_sys::LWLockMode::LW_EXCLUSIVE);
        let mut found = false;
        let size = size_of::<Rendezvous>();
        let rendezvous =
            pg_sys::ShmemInitStruct(name.as_ptr(), size, &raw mut found).cast::<Rendezvous>();
        if !found {
            ptr::write_bytes(rendezvous, 0, 1);
        }
        if (*rendezvous).tranche == 0 {
            let tranche = new_tranche(name);
            pg_sys::LWLockInitialize(addr_of_mut!((*rendezvous).lock), tranche);
            (*rendezvous).tranche = tranche;
        }
        pg_sys::LWLockRelease(addin_lock);
        rendezvous
    }
}

/// Returns a new number for locks, which are shown by a name.
fn new_tranche(_name: &CStr) -> c_int {
    // SAFETY: takes the next number. 19 keeps the name beside it, in shared memory.
    unsafe {
        #[cfg(feature = "pg19")]
        return pg_sys::LWLockNewTrancheId(_name.as_ptr());
        #[cfg(not(feature = "pg19"))]
        pg_sys::LWLockNewTrancheId()
    }
}

/// Tells this process the name of that number, which is necessary before 19.
pub(super) fn name_tranche(_tranche: c_int, _name: &'static CStr) {
    // SAFETY: the process keeps a pointer to the name.
    #[cfg(not(feature = "pg19"))]
    unsafe {
        pg_sys::LWLockRegisterTranche(_tranche, _name.as_ptr());
    }
}
