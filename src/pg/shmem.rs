//! Named segments of shared memory, with or without `shared_preload_libraries`.
//!
//! 128 bytes of the main segment, the *rendezvous*, hold the lock of a named segment and the handle of a pinned dynamic
//! segment with its contents. The first session that needs it creates it. A crash of the server recreates the main
//! segment and with it an empty rendezvous, so there are no stale handles.
//!
//! A rendezvous keeps its name for ever, and holds magic, version and size. So a session whose library has another
//! version than the one that created the segment gets an error, and never mints from lanes of its own beside the
//! others.
//!
//! PostgreSQL has `GetNamedDSMSegment` for this from 17 on. 15 and 16 lack it, so it would be a second implementation,
//! and not replace this one. It also checks the size alone, so the stamp and the lock would still need a place that all
//! versions of the library find.

use crate::pg::backend::local::{Local, LocalOnce};
use crate::pg::error::report;
use crate::pg::machine::dsm::{make_pinned, map};
use pgrx::{PgSqlErrorCode, pg_sys};
use std::ffi::{CStr, c_int, c_void};
use std::ptr::{self, addr_of_mut};
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};

/// Identifies the contents of a segment and their format.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Eight bytes that are nowhere else in the library's file. The last one is the segment's own.
    magic: [u8; 8],
    /// Increases with any change to the head or the slots that an older library would misread.
    version: u32,
}

impl Stamp {
    /// Returns the stamp of a segment, which has a byte of its own, at a version.
    pub const fn new(segment: u8, version: u32) -> Self {
        let mut magic = *b"mint\x9d\xc5\xfe\0";
        magic[7] = segment;
        Self { magic, version }
    }
}

/// A segment of shared memory: a head of type `H` and slots of type `S`. Many processes use both at once, so mutable
/// parts are atomic; and zeroed memory must be a valid value of both.
pub struct NamedSegment<H: 'static, S: 'static = ()> {
    name: &'static CStr,
    stamp: &'static Stamp,
    /// Returns how many slots to make. Called when the segment is made.
    slots: fn() -> usize,
    /// Returns the value of the setting that has its size; 0 without one. Called when the segment is made.
    setting: fn() -> i32,
    /// Fills the zeroed memory, before another session can see it.
    init: fn(&H, &[S]),
    memory: LocalOnce<Memory<H, S>>,
}

/// A segment as this process has mapped it.
pub struct Memory<H: 'static, S: 'static = ()> {
    lock: *mut pg_sys::LWLock,
    pub head: &'static H,
    pub slots: &'static [S],
}

static OTHER_VERSION: Local<bool> = Local::new(false);

/// Whether this process has come across memory that a library of another version has made.
pub fn has_other_version() -> bool {
    OTHER_VERSION.get()
}

/// The entry of a segment in the main shared memory. Guarded by AddinShmemInitLock until `tranche` is set, by its own
/// lock from then on. The rest is zero until the segment is made; then `handle` is stored last, and all but `told` is
/// immutable.
#[repr(C, align(128))]
struct Rendezvous {
    lock: pg_sys::LWLock,
    tranche: c_int,
    stamp: Stamp,
    handle: AtomicU32,
    slots: u64,
    size: u64,
    /// The value of the setting with which the segment was made.
    setting: i32,
    /// The value that the log was told last to take effect at the next start.
    told: i32,
}

const _: () = assert!(size_of::<Rendezvous>() == 128);

impl<H: 'static, S: 'static> NamedSegment<H, S> {
    /// Returns a segment with slots.
    pub const fn with_slots(
        name: &'static CStr,
        stamp: &'static Stamp,
        slots: fn() -> usize,
        init: fn(&H, &[S]),
    ) -> Self {
        Self::sized_by(|| 0, name, stamp, slots, init)
    }

    /// Returns a segment with slots, the number of which follows from a setting.
    pub const fn sized_by(
        setting: fn() -> i32,
        name: &'static CStr,
        stamp: &'static Stamp,
        slots: fn() -> usize,
        init: fn(&H, &[S]),
    ) -> Self {
        Self {
            name,
            stamp,
            slots,
            setting,
            init,
            memory: LocalOnce::new(),
        }
    }

    /// Returns the memory. The first call of this process makes or attaches the segment.
    #[inline]
    pub fn memory(&'static self) -> &'static Memory<H, S> {
        self.memory.get_or(|| self.attach())
    }

    /// Returns the memory if a session has made it, with a library that writes it as this one does. Waits for nothing that
    /// lasts. For showing.
    pub fn made(&'static self) -> Option<&'static Memory<H, S>> {
        if let Some(memory) = self.memory.get() {
            return Some(memory);
        }
        let rendezvous = rendezvous(self.name);
        // SAFETY: initialized in shared memory, which lasts as long as this process. Without the lock, which sessions hold
        // that use the segment: what is read is immutable once there is a handle.
        unsafe {
            if (*rendezvous).handle.load(Ordering::Acquire) == 0 {
                return None;
            }
            if (*rendezvous).stamp != self.stamp() {
                OTHER_VERSION.set(true);
                return None;
            }
            name_tranche((*rendezvous).tranche, self.name);
            Some(self.memory.get_or(|| self.join(rendezvous)))
        }
    }

    #[cold]
    fn attach(&self) -> Memory<H, S> {
        let rendezvous = rendezvous(self.name);
        // SAFETY: initialized in shared memory, which lasts as long as this process. An error releases the lock with
        // the transaction.
        unsafe {
            name_tranche((*rendezvous).tranche, self.name);
            let lock = addr_of_mut!((*rendezvous).lock);
            pg_sys::LWLockAcquire(lock, pg_sys::LWLockMode::LW_EXCLUSIVE);
            let memory = if (*rendezvous).handle.load(Ordering::Acquire) == 0 {
                self.make(&mut *rendezvous)
            } else {
                self.join(rendezvous)
            };
            pg_sys::LWLockRelease(lock);
            memory
        }
    }

    /// Returns the offset of the slots in the segment.
    const fn offset() -> usize {
        size_of::<H>().next_multiple_of(align_of::<S>())
    }

    /// Makes the segment. The caller holds the lock.
    fn make(&self, place: &mut Rendezvous) -> Memory<H, S> {
        let slots = (self.slots)();
        let size = Self::offset() + slots * size_of::<S>();
        let (handle, base) = make_pinned(size);
        // SAFETY: made above, zeroed, with room for the head and the slots.
        let memory = unsafe { Self::view(place, base, slots) };
        (self.init)(memory.head, memory.slots);
        place.stamp = self.stamp();
        place.slots = slots as u64;
        place.size = size as u64;
        place.setting = (self.setting)();
        place.told = place.setting;
        place.handle.store(handle, Ordering::Release);
        memory
    }

    /// Attaches to the segment.
    ///
    /// # Safety
    /// The rendezvous has a handle.
    unsafe fn join(&self, place: *mut Rendezvous) -> Memory<H, S> {
        let own = self.stamp();
        // SAFETY: immutable, as there is a handle.
        let found = unsafe { (*place).stamp };
        if found != own {
            report(
                PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "shared memory of pg_mint was created by another version of the library",
            )
            .detail(format!(
                "Segment \"{}\" has version {}, but this library requires version {}.",
                self.name.to_string_lossy(),
                found.version,
                own.version
            ))
            .hint("Restart the server.")
            .raise();
        }
        // SAFETY: the stamp says that the segment has this format and that many slots.
        unsafe {
            let base = map((*place).handle.load(Ordering::Acquire));
            Self::view(place, base, (*place).slots as usize)
        }
    }

    /// Returns the stamp from its place in the library's file. The compiler must not copy it into the code: the test of
    /// an upgrade changes it in the file, and so makes a library of another version.
    fn stamp(&self) -> Stamp {
        *std::hint::black_box(self.stamp)
    }

    /// # Safety
    /// `base` is the address of a segment that stays mapped, with a head and that many slots.
    unsafe fn view(place: *mut Rendezvous, base: *mut c_void, slots: usize) -> Memory<H, S> {
        // SAFETY: as the caller says. Segments begin on a page, so both are aligned.
        unsafe {
            Memory {
                lock: addr_of_mut!((*place).lock),
                head: &*base.cast::<H>(),
                slots: slice::from_raw_parts(base.byte_add(Self::offset()).cast::<S>(), slots),
            }
        }
    }
}

impl<H: 'static> NamedSegment<H> {
    /// Returns a segment without slots.
    pub const fn new(name: &'static CStr, stamp: &'static Stamp, init: fn(&H, &[()])) -> Self {
        Self::with_slots(name, stamp, || 0, init)
    }
}

impl<H, S> Memory<H, S> {
    /// Runs `work` under the segment's lock. An error releases it.
    pub fn locked<T>(&self, work: impl FnOnce() -> T) -> T {
        // SAFETY: the lock was initialized before the segment was published; if `work` raises an error, the server
        // releases it with the transaction.
        unsafe { pg_sys::LWLockAcquire(self.lock, pg_sys::LWLockMode::LW_EXCLUSIVE) };
        let _held = Held(self.lock);
        work()
    }

    /// As [`Memory::locked`]; returns none, without waiting, if another process has the lock.
    pub fn try_locked<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        // SAFETY: as above.
        if !unsafe { pg_sys::LWLockConditionalAcquire(self.lock, pg_sys::LWLockMode::LW_EXCLUSIVE) }
        {
            return None;
        }
        let _held = Held(self.lock);
        Some(work())
    }
}

/// Guard of a lock that is held; unlocks when dropped.
struct Held(*mut pg_sys::LWLock);

impl Drop for Held {
    fn drop(&mut self) {
        // After an error the server releases it with the transaction.
        if !std::thread::panicking() {
            // SAFETY: this process acquired the lock.
            unsafe { pg_sys::LWLockRelease(self.0) };
        }
    }
}

/// What the segment of a name says to another value of its setting.
pub struct Resize {
    /// A session has made the segment, with another value.
    pub differs: bool,
    /// That is so, and the log was not told of the value.
    pub is_news: bool,
}

/// Compares the segment of a name with a value of its setting, of which the log is told if it `tells`.
pub fn compare(name: &'static CStr, value: i32, tells: bool) -> Resize {
    let rendezvous = rendezvous(name);
    // SAFETY: initialized in shared memory, which lasts as long as this process. An error releases the lock.
    unsafe {
        name_tranche((*rendezvous).tranche, name);
        let lock = addr_of_mut!((*rendezvous).lock);
        pg_sys::LWLockAcquire(lock, pg_sys::LWLockMode::LW_EXCLUSIVE);
        let place = &mut *rendezvous;
        let differs = place.handle.load(Ordering::Acquire) != 0 && place.setting != value;
        let is_news = differs && place.told != value;
        if tells {
            place.told = value;
        }
        pg_sys::LWLockRelease(lock);
        Resize { differs, is_news }
    }
}

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
fn rendezvous(name: &CStr) -> *mut Rendezvous {
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

/// Returns a new number for locks that are shown by a name.
fn new_tranche(_name: &CStr) -> c_int {
    // SAFETY: takes the next number. 19 keeps the name beside it, in shared memory.
    unsafe {
        #[cfg(feature = "pg19")]
        return pg_sys::LWLockNewTrancheId(_name.as_ptr());
        #[cfg(not(feature = "pg19"))]
        pg_sys::LWLockNewTrancheId()
    }
}

/// Tells this process the name of that number, as it has to know before 19.
fn name_tranche(_tranche: c_int, _name: &'static CStr) {
    // SAFETY: the process keeps a pointer to the name.
    #[cfg(not(feature = "pg19"))]
    unsafe {
        pg_sys::LWLockRegisterTranche(_tranche, _name.as_ptr());
    }
}
