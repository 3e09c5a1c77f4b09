//! Shared memory, with or without `shared_preload_libraries`: a segment for each idea that needs some.
//!
//! 128 bytes of the main segment, the *rendezvous* of an idea, hold its lock and the handle of a pinned dynamic
//! segment, which holds everything else. The session that needs it first makes it, as `GetNamedDSMSegment` does on the versions
//! that have it. A crash of the server makes the main segment anew, and with it an empty rendezvous, so a stale handle
//! cannot be.
//!
//! The rendezvous has one name for ever, and magic, version and size inside. So a session with another version of the
//! library than the one that made the segment is refused what the two do not agree about, and never mints from lanes of
//! its own beside the others.

use crate::pg::backend::local::Once;
use crate::pg::error::report;
use pgrx::{PgSqlErrorCode, pg_sys};
use std::ffi::{CStr, c_int, c_void};
use std::marker::PhantomData;
use std::ptr::{self, addr_of_mut};
use std::slice;

/// Whose segment it is, and its form.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Eight bytes that stand nowhere else in the library's file. The last one is the idea's.
    magic: [u8; 8],
    /// Any change to the head or the slots that an older library would misread needs another number.
    version: u32,
}

impl Stamp {
    /// Of the idea with this number, at a version.
    pub const fn new(idea: u8, version: u32) -> Self {
        let mut magic = *b"mint\x9d\xc5\xfe\0";
        magic[7] = idea;
        Self { magic, version }
    }
}

/// What one idea keeps in shared memory: a head of type `H` and slots of type `S`. Both are used by many processes at
/// once, so what changes in them is atomic; and zeroed memory must be a valid value of them.
pub struct Idea<H: 'static, S: 'static = ()> {
    name: &'static CStr,
    stamp: &'static Stamp,
    /// How many slots there shall be, asked when the segment is made.
    slots: fn() -> usize,
    /// Called once, before another session sees the zeroed memory.
    init: fn(&H, &[S]),
    memory: Once<Memory<H, S>>,
}

/// The segment of an idea as this process sees it.
pub struct Memory<H: 'static, S: 'static = ()> {
    lock: *mut pg_sys::LWLock,
    pub head: &'static H,
    pub slots: &'static [S],
}

/// Guarded by AddinShmemInitLock until `tranche` is set, by its own lock from then on. The rest is zero until the
/// segment is made.
#[repr(C, align(128))]
struct Rendezvous {
    lock: pg_sys::LWLock,
    tranche: c_int,
    stamp: Stamp,
    handle: pg_sys::dsm_handle,
    slots: u64,
    size: u64,
}

const _: () = assert!(size_of::<Rendezvous>() == 128);

impl<H: 'static, S: 'static> Idea<H, S> {
    /// An idea with slots.
    pub const fn with_slots(
        name: &'static CStr,
        stamp: &'static Stamp,
        slots: fn() -> usize,
        init: fn(&H, &[S]),
    ) -> Self {
        Self {
            name,
            stamp,
            slots,
            init,
            memory: Once::new(),
        }
    }

    /// The idea's memory, made or attached on the first call of this process.
    #[inline]
    pub fn memory(&'static self) -> &'static Memory<H, S> {
        self.memory.get_or(|| self.attach())
    }

    #[cold]
    fn attach(&self) -> Memory<H, S> {
        let rendezvous = rendezvous(self.name);
        // SAFETY: initialised in shared memory, which lasts as long as this process. An error releases the lock with
        // the transaction.
        unsafe {
            pg_sys::LWLockRegisterTranche((*rendezvous).tranche, self.name.as_ptr());
            let lock = addr_of_mut!((*rendezvous).lock);
            pg_sys::LWLockAcquire(lock, pg_sys::LWLockMode::LW_EXCLUSIVE);
            let place = &mut *rendezvous;
            let memory = if place.handle == 0 {
                self.make(place)
            } else {
                self.join(place)
            };
            pg_sys::LWLockRelease(lock);
            memory
        }
    }

    /// How far behind the segment's beginning the slots begin.
    const fn offset() -> usize {
        size_of::<H>().next_multiple_of(align_of::<S>())
    }

    /// Makes the segment. The caller holds the lock.
    fn make(&self, place: &mut Rendezvous) -> Memory<H, S> {
        let slots = (self.slots)();
        let size = Self::offset() + slots * size_of::<S>();
        let (handle, base) = make_pinned(size);
        // SAFETY: made just now, zeroed, with room for that.
        let memory = unsafe { Self::view(place, base, slots) };
        (self.init)(memory.head, memory.slots);
        place.stamp = self.stamp();
        place.slots = slots as u64;
        place.size = size as u64;
        place.handle = handle;
        memory
    }

    /// Attaches to the segment. The caller holds the lock.
    fn join(&self, place: &mut Rendezvous) -> Memory<H, S> {
        let own = self.stamp();
        if place.stamp != own {
            report(
                PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "shared memory of pg_mint was created by another version",
            )
            .detail(format!(
                "Segment \"{}\" has version {}; this library needs {}.",
                self.name.to_string_lossy(),
                place.stamp.version,
                own.version
            ))
            .hint("Reconnect all sessions of the old version and restart the server.")
            .raise();
        }
        // SAFETY: a segment of this form, as its stamp says, with as many slots.
        unsafe { Self::view(place, map(place.handle), place.slots as usize) }
    }

    /// Looked up where it stands, and not built into the code: so the test of an upgrade finds it in the file and makes
    /// a library of another version.
    fn stamp(&self) -> Stamp {
        *std::hint::black_box(self.stamp)
    }

    /// # Safety
    /// `base` is of a segment that stays mapped, with a head and so many slots.
    unsafe fn view(place: &mut Rendezvous, base: *mut c_void, slots: usize) -> Memory<H, S> {
        // SAFETY: as the caller says. Segments begin on a page, so that both are aligned.
        unsafe {
            Memory {
                lock: addr_of_mut!(place.lock),
                head: &*base.cast::<H>(),
                slots: slice::from_raw_parts(base.byte_add(Self::offset()).cast::<S>(), slots),
            }
        }
    }
}

impl<H: 'static> Idea<H> {
    /// An idea without slots.
    pub const fn new(name: &'static CStr, stamp: &'static Stamp, init: fn(&H, &[()])) -> Self {
        Self::with_slots(name, stamp, || 0, init)
    }
}

impl<H, S> Memory<H, S> {
    /// Runs `work` under the idea's lock. An error inside releases it.
    pub fn locked<T>(&self, work: impl FnOnce() -> T) -> T {
        // SAFETY: the lock was initialised before the segment was published; if `work` raises an
        // error, the server releases it with the transaction.
        unsafe { pg_sys::LWLockAcquire(self.lock, pg_sys::LWLockMode::LW_EXCLUSIVE) };
        let held = Held(self.lock, PhantomData);
        let result = work();
        drop(held);
        result
    }

    /// As [`Memory::locked`], unless another has the lock.
    pub fn try_locked<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        // SAFETY: as above.
        if !unsafe { pg_sys::LWLockConditionalAcquire(self.lock, pg_sys::LWLockMode::LW_EXCLUSIVE) }
        {
            return None;
        }
        let held = Held(self.lock, PhantomData);
        let result = work();
        drop(held);
        Some(result)
    }
}

/// A lock that is held.
struct Held<'a>(*mut pg_sys::LWLock, PhantomData<&'a ()>);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // After an error the server releases what is held, with all else of the transaction.
        if !std::thread::panicking() {
            // SAFETY: acquired by this process, which has it still.
            unsafe { pg_sys::LWLockRelease(self.0) };
        }
    }
}

/// The rendezvous of an idea, with its lock initialised.
fn rendezvous(name: &CStr) -> *mut Rendezvous {
    // SAFETY: MainLWLockArray is the server's; 21 is AddinShmemInitLock in every supported version
    // (lwlocknames.txt), as pgrx's own shared memory has it. Held until the lock of the rendezvous is there; an error
    // releases it with the transaction. The server gives as many bytes, aligned to a line of the cache.
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
            let tranche = pg_sys::LWLockNewTrancheId();
            pg_sys::LWLockInitialize(addr_of_mut!((*rendezvous).lock), tranche);
            (*rendezvous).tranche = tranche;
        }
        pg_sys::LWLockRelease(addin_lock);
        rendezvous
    }
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
                    "could not attach to the shared memory of pg_mint",
                )
                .raise();
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
        let handle = pg_sys::dsm_segment_handle(segment);
        // The system gives zeroed memory. What the server kept for segments (min_dynamic_shared_memory), whose handles
        // are odd, may have been used before.
        if handle & 1 == 1 {
            ptr::write_bytes(memory.cast::<u8>(), 0, size);
        }
        pg_sys::dsm_pin_segment(segment);
        pg_sys::dsm_pin_mapping(segment);
        (handle, memory)
    }
}

/// Returns the slots in a pinned segment, which has room for as many. Zeroed memory must be a valid value of them, and
/// what changes in them is atomic.
pub fn map_slots<S>(handle: pg_sys::dsm_handle, slots: usize) -> &'static [S] {
    // SAFETY: the segment stays mapped for the life of this process; the slots are as the caller says.
    unsafe { slice::from_raw_parts(map(handle).cast::<S>(), slots) }
}
