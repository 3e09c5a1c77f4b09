//! Pinned segments of dynamic shared memory, and the errors when there is no memory for one.

use crate::pg::error::{relay_errors, report};
use pgrx::pg_sys::panic::CaughtError;
use pgrx::{PgSqlErrorCode as Code, PgTryBuilder, pg_sys};
use std::ffi::{CStr, c_void};
use std::panic::AssertUnwindSafe;
use std::{mem, ptr, slice};

/// Maps a pinned segment, unless it is mapped already.
pub fn map(handle: pg_sys::dsm_handle) -> *mut c_void {
    // SAFETY: a pinned segment exists as long as the rendezvous, or the segment, that holds its handle.
    unsafe {
        let mut segment = pg_sys::dsm_find_mapping(handle);
        if segment.is_null() {
            segment = pg_sys::dsm_attach(handle);
            if segment.is_null() {
                report(
                    Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                    "could not attach to shared memory of pg_mint",
                )
                .raise();
            }
            pg_sys::dsm_pin_mapping(segment);
        }
        pg_sys::dsm_segment_address(segment)
    }
}

/// Returns the slots in a pinned segment, which has room for as many. Zeroed memory must be a valid value of them, and
/// their mutable parts are atomic.
pub fn map_slots<S>(handle: pg_sys::dsm_handle, slots: usize) -> &'static [S] {
    // SAFETY: the segment stays mapped for the life of this process; the slots are as the caller says.
    unsafe { slice::from_raw_parts(map(handle).cast::<S>(), slots) }
}

/// The reason why there is no memory, in words of the server or the operating system.
pub struct Shortage(pub String);

/// Makes a zeroed segment; returns its handle and its memory. It is pinned, so it outlives this session; so is the
/// mapping, which outlives this statement. Each of its pages is allocated, so that its use cannot fail later.
pub fn make_pinned(size: usize) -> Result<(pg_sys::dsm_handle, *mut c_void), Shortage> {
    let segment = create(size)?;
    // SAFETY: a segment of `size` bytes that was created above, and mapped on a page.
    unsafe {
        let memory = pg_sys::dsm_segment_address(segment);
        // The server has POSIX and mmap allocate all pages, but not System V; and memory reserved by
        // min_dynamic_shared_memory can have been used before.
        ptr::write_bytes(memory.cast::<u8>(), 0, size);
        pg_sys::dsm_pin_segment(segment);
        pg_sys::dsm_pin_mapping(segment);
        Ok((pg_sys::dsm_segment_handle(segment), memory))
    }
}

/// Does the same as [`make_pinned`], but leaves as much memory again to others, such as parallel queries: allocating
/// the last of it, and then finding too little, would make theirs fail.
pub fn make_pinned_sparingly(size: usize) -> Result<(pg_sys::dsm_handle, *mut c_void), Shortage> {
    let both = size.saturating_mul(2);
    if has_room_for(both) == Some(false) {
        return Err(Shortage(format!("less than {} kB are free", both / 1_024)));
    }
    make_pinned(size)
}

/// Returns the bytes of a page of memory, of which each segment takes whole ones: 4 kB, on arm64 up to 64.
pub fn page_size() -> usize {
    // SAFETY: returns a number of the system.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4_096)
}

/// Returns whether so many bytes are free; none if that is not known.
pub fn has_room_for(size: usize) -> Option<bool> {
    // SAFETY: reads a setting of the server.
    let reserved = unsafe { pg_sys::min_dynamic_shared_memory }.unsigned_abs() as usize;
    // The memory that the server has reserved is used first, and can have room.
    if reserved << 20 >= size {
        return None;
    }
    Some(free()? >= size as u64)
}

/// Returns how many bytes are free where the server makes its segments beyond what it has reserved, if that is known.
#[allow(clippy::useless_conversion, reason = "macOS has narrower numbers")]
fn free() -> Option<u64> {
    // SAFETY: reads a setting of the server.
    let kind = unsafe { pg_sys::dynamic_shared_memory_type }.cast_unsigned();
    let place: &CStr = match kind {
        pg_sys::DSM_IMPL_POSIX if cfg!(target_os = "linux") => c"/dev/shm",
        // Below the data directory, where every process of the server is.
        pg_sys::DSM_IMPL_MMAP => c"pg_dynshmem",
        _ => return None,
    };
    // SAFETY: plain numbers, which the call fills.
    let (known, found) = unsafe {
        let mut found: libc::statvfs = mem::zeroed();
        (libc::statvfs(place.as_ptr(), &raw mut found), found)
    };
    // A tmpfs without a limit has no blocks.
    (known == 0 && found.f_blocks > 0)
        .then(|| u64::from(found.f_bavail).saturating_mul(u64::from(found.f_frsize)))
}

/// Creates a segment. An error of the server is caught without a subtransaction, which parallel workers cannot have:
/// all that the failed call leaves behind belongs to a resource owner of its own.
fn create(size: usize) -> Result<*mut pg_sys::dsm_segment, Shortage> {
    // SAFETY: reads and sets the server's own variables, as it does itself when it catches an error. An error resets how
    // often interrupts were held, but the caller may hold locks, whose release counts down.
    unsafe {
        let before = (pg_sys::CurrentResourceOwner, pg_sys::CurrentMemoryContext);
        let held = (
            pg_sys::InterruptHoldoffCount,
            pg_sys::QueryCancelHoldoffCount,
        );
        let own = pg_sys::ResourceOwnerCreate(ptr::null_mut(), c"pg_mint".as_ptr());
        pg_sys::CurrentResourceOwner = own;
        let segment = PgTryBuilder::new(AssertUnwindSafe(|| {
            let flags = pg_sys::DSM_CREATE_NULL_IF_MAXSEGMENTS.cast_signed();
            let segment = relay_errors(|| pg_sys::dsm_create(size, flags));
            if segment.is_null() {
                return Err(Shortage(
                    "too many dynamic shared memory segments".to_owned(),
                ));
            }
            pg_sys::dsm_pin_mapping(segment);
            Ok(segment)
        }))
        .catch_others(|error| match error {
            CaughtError::ErrorReport(raised) | CaughtError::PostgresError(raised) => {
                Err(Shortage(raised.message().to_owned()))
            }
            other => other.rethrow(),
        })
        .execute();
        (pg_sys::CurrentResourceOwner, pg_sys::CurrentMemoryContext) = before;
        (
            pg_sys::InterruptHoldoffCount,
            pg_sys::QueryCancelHoldoffCount,
        ) = held;
        let phase = pg_sys::ResourceReleasePhase::RESOURCE_RELEASE_BEFORE_LOCKS;
        pg_sys::ResourceOwnerRelease(own, phase, false, false);
        pg_sys::ResourceOwnerDelete(own);
        segment
    }
}
