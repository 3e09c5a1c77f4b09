//! The memory of all segments, which is reserved at the first use of any: a call that needs more memory fails before
//! the server has minted anything, or never.

use crate::pg::backend::callbacks::Callbacks;
use crate::pg::error::{log_with, report};
use crate::pg::machine::dsm::{Shortage, has_room_for, page_size};
use crate::pg::shmem::rendezvous::{Rendezvous, name_tranche, rendezvous};
use pgrx::{PgSqlErrorCode, pg_sys};
use std::ffi::CStr;
use std::ptr::addr_of_mut;
use std::sync::atomic::Ordering;

/// A segment with any contents.
pub(super) trait Segment: Sync {
    /// Returns its name.
    fn name(&self) -> &'static CStr;

    /// Returns its size if the number of its slots is halved that many times.
    fn size_after(&self, halvings: u32) -> usize;

    /// Makes the segment, unless it is made.
    fn make_if_absent(&self, halvings: u32) -> Result<(), Shortage>;
}

/// Runs `make` under the lock of a rendezvous, if that has no handle.
pub(super) fn make_once<E>(
    name: &'static CStr,
    make: impl FnOnce(&mut Rendezvous) -> Result<(), E>,
) -> Result<(), E> {
    let place = rendezvous(name);
    // SAFETY: initialized in shared memory, which lasts as long as this process. An error releases the lock with the
    // transaction.
    unsafe {
        if (*place).handle.load(Ordering::Acquire) != 0 {
            return Ok(());
        }
        name_tranche((*place).tranche, name);
        let lock = addr_of_mut!((*place).lock);
        pg_sys::LWLockAcquire(lock, pg_sys::LWLockMode::LW_EXCLUSIVE);
        let result = if (*place).handle.load(Ordering::Acquire) == 0 {
            make(&mut *place)
        } else {
            Ok(())
        };
        pg_sys::LWLockRelease(lock);
        result
    }
}

/// All segments.
pub(super) static SEGMENTS: Callbacks<&dyn Segment> = Callbacks::new();

/// Makes a segment and all that were registered, unless they are made. If there is too little memory, the segments
/// whose sizes follow from settings are halved together.
pub(super) fn make_all(own: &'static dyn Segment) {
    const LEAST: u32 = 20;
    let made = make_once(c"pg_mint", |all| {
        let absent = || {
            SEGMENTS
                .all()
                .filter(|segment| usage_of(*segment).size == 0)
        };
        let page = page_size();
        let pages = |one: &dyn Segment, halvings| one.size_after(halvings).next_multiple_of(page);
        let size = |halvings| absent().map(|one| pages(one, halvings)).sum();
        let fits = |&halvings: &u32| has_room_for(size(halvings)) != Some(false);
        let halvings = (0..LEAST).find(fits).unwrap_or(LEAST);
        for segment in absent() {
            segment
                .make_if_absent(halvings)
                .map_err(|shortage| (segment.name(), shortage))?;
        }
        // The handle of no segment: a sign that all are made.
        all.handle.store(1, Ordering::Release);
        if halvings > 0 {
            log_with(
                "shared memory of pg_mint is smaller than configured",
                "See the row \"memory\" of mint.health().",
                MORE,
            );
        }
        Ok(())
    });
    let made = made.and_then(|()| {
        let made = own.make_if_absent(0);
        made.map_err(|shortage| (own.name(), shortage))
    });
    if let Err((name, Shortage(reason))) = made {
        let name = name.to_string_lossy();
        report(
            PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY,
            "could not allocate shared memory of pg_mint",
        )
        .detail(format!("Segment \"{name}\": {reason}."))
        .hint(MORE)
        .raise();
    }
}

/// The hint when there is too little memory.
pub const MORE: &str =
    "Enlarge /dev/shm, or increase \"min_dynamic_shared_memory\", and restart the server.";

/// The memory of a segment.
pub struct Usage {
    pub name: &'static CStr,
    /// Its size in bytes; 0 when it was not made.
    pub size: u64,
    /// The size that it was to have.
    pub wanted: u64,
    /// True if there was no memory for it.
    pub is_refused: bool,
}

/// Returns the memory of every segment. Makes none, and never waits for long.
pub fn usage() -> impl Iterator<Item = Usage> {
    SEGMENTS.all().map(usage_of)
}

pub(super) fn usage_of(segment: &dyn Segment) -> Usage {
    let name = segment.name();
    let place = rendezvous(name);
    // SAFETY: initialized in shared memory, which lasts as long as this process; immutable once there is a handle.
    unsafe {
        let is_made = (*place).handle.load(Ordering::Acquire) != 0;
        let if_made = |bytes: u64| if is_made { bytes } else { 0 };
        Usage {
            name,
            size: if_made((*place).size),
            wanted: if_made((*place).wanted),
            is_refused: (*place).refused.load(Ordering::Relaxed) != 0,
        }
    }
}
