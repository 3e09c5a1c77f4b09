//! Named segments of shared memory, with or without `shared_preload_libraries`.
//!
//! 128 bytes of the main segment, the *rendezvous*, hold the lock of a named segment and the handle of a pinned dynamic
//! segment with its contents. A crash of the server recreates the main segment and with it an empty rendezvous, so there
//! are no stale handles.
//!
//! The first session that needs any segment makes all of them, with all of their pages. So a call fails for want of memory
//! before the server has minted anything, or never. Only users of user sequences get more memory later.
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
use crate::pg::machine::dsm::{Shortage, make_pinned, map};
use crate::pg::shmem::rendezvous::{Rendezvous, Stamp, name_tranche, rendezvous};
use crate::pg::shmem::reservation::{SEGMENTS, Segment, make_all, make_once, usage_of};
use crate::pg::shmem::size_setting::SizeSetting;
use pgrx::{PgSqlErrorCode, pg_sys};
use std::ffi::{CStr, c_void};
use std::ptr::addr_of_mut;
use std::slice;
use std::sync::atomic::Ordering;

/// A segment of shared memory: a head of type `H` and slots of type `S`. Many processes use both at make_once, so mutable
/// parts are atomic; and zeroed memory must be a valid value of both.
pub struct NamedSegment<H: 'static, S: 'static = ()> {
    name: &'static CStr,
    stamp: &'static Stamp,
    /// Returns how many slots to make. Called when the segment is made.
    slots: fn() -> usize,
    /// The number that is enough, if there is too little memory.
    enough: usize,
    /// The setting that has its size.
    setting: Option<&'static SizeSetting>,
    /// Fills the zeroed memory, before another session can see it.
    init: fn(&H, &[S]),
    memory: LocalOnce<Memory<H, S>>,
}

/// A segment as mapped by this process.
pub struct Memory<H: 'static, S: 'static = ()> {
    lock: *mut pg_sys::LWLock,
    pub head: &'static H,
    pub slots: &'static [S],
}

static OTHER_VERSION: Local<bool> = Local::new(false);

/// Returns whether this process has found memory that a library of another version has made.
pub fn has_other_version() -> bool {
    OTHER_VERSION.get()
}

impl<H: 'static, S: 'static> NamedSegment<H, S> {
    /// Returns a segment with slots.
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
            enough: usize::MAX,
            setting: None,
            init,
            memory: LocalOnce::new(),
        }
    }

    /// Returns a segment whose number of slots follows from a setting; it is smaller if there is too little memory.
    pub const fn sized_by(
        setting: &'static SizeSetting,
        stamp: &'static Stamp,
        slots: fn() -> usize,
        init: fn(&H, &[S]),
    ) -> Self {
        Self {
            enough: 64,
            setting: Some(setting),
            ..Self::with_slots(setting.segment, stamp, slots, init)
        }
    }

    /// Returns the memory. The first call of this process makes or attaches the segment.
    #[inline]
    pub fn memory(&'static self) -> &'static Memory<H, S> {
        self.memory.get_or(|| self.attach())
    }

    /// Returns the memory, if this process has attached it.
    #[inline]
    pub fn if_attached(&'static self) -> Option<&'static Memory<H, S>> {
        self.memory.get()
    }

    /// Returns the memory if a session has made it, with a library that writes the same version. Never waits for long.
    /// For showing.
    pub fn if_made(&'static self) -> Option<&'static Memory<H, S>> {
        if let Some(memory) = self.memory.get() {
            return Some(memory);
        }
        let rendezvous = rendezvous(self.name);
        // SAFETY: initialized in shared memory, which lasts as long as this process. The lock, which sessions hold that
        // use the segment, is not needed: the fields that are read are immutable once there is a handle.
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

    /// Returns whether a session has made the memory, with a library of any version.
    pub fn is_made(&self) -> bool {
        usage_of(self).size != 0
    }

    /// Adds the segment to those that are made together. Called make_once, when the library is loaded.
    pub fn register(&'static self) {
        SEGMENTS.add(self);
    }

    #[cold]
    fn attach(&'static self) -> Memory<H, S> {
        make_all(self);
        let rendezvous = rendezvous(self.name);
        // SAFETY: initialized in shared memory, which lasts as long as this process; made above.
        unsafe {
            name_tranche((*rendezvous).tranche, self.name);
            self.join(rendezvous)
        }
    }

    /// Returns the offset of the slots in the segment.
    const fn offset() -> usize {
        size_of::<H>().next_multiple_of(align_of::<S>())
    }

    /// Returns how many slots to make if the number is halved that many times, but not fewer than are enough.
    fn slots_after(&self, halvings: u32) -> usize {
        let most = (self.slots)();
        (most >> halvings).max(self.enough.min(most))
    }

    /// Returns the size of a segment with so many slots.
    const fn size(slots: usize) -> usize {
        Self::offset() + slots * size_of::<S>()
    }

    /// Makes the segment. The caller holds the lock.
    fn make(&self, place: &mut Rendezvous, halvings: u32) -> Result<(), Shortage> {
        let (most, slots) = ((self.slots)(), self.slots_after(halvings));
        let (handle, base) = make_pinned(Self::size(slots))?;
        // SAFETY: made above, zeroed, with room for the head and the slots.
        let memory = unsafe { Self::view(place, base, slots) };
        (self.init)(memory.head, memory.slots);
        place.stamp = self.stamp();
        place.slots = slots as u64;
        place.size = Self::size(slots) as u64;
        place.wanted = Self::size(most) as u64;
        place.setting = self.setting.map_or(0, SizeSetting::value);
        place.handle.store(handle, Ordering::Release);
        Ok(())
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
        // SAFETY: as the caller says. Segments begin on a cache line at least, so both are aligned.
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

impl<H, S> Segment for NamedSegment<H, S> {
    fn name(&self) -> &'static CStr {
        self.name
    }

    fn size_after(&self, halvings: u32) -> usize {
        Self::size(self.slots_after(halvings))
    }

    fn make_if_absent(&self, halvings: u32) -> Result<(), Shortage> {
        make_once(self.name, |place| {
            let made = self.make(place, halvings);
            place.refused.store(made.is_err().into(), Ordering::Relaxed);
            made
        })
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

    /// Does the same as [`Memory::locked`]; returns none, without waiting, if another process has the lock.
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
        // After an error, the server releases the lock with the transaction.
        if !std::thread::panicking() {
            // SAFETY: this process acquired the lock.
            unsafe { pg_sys::LWLockRelease(self.0) };
        }
    }
}
