//! Pinned segments of dynamic shared memory.

use crate::pg::error::report;
use pgrx::{PgSqlErrorCode, pg_sys};
use std::ffi::c_void;
use std::{ptr, slice};

/// Maps a pinned segment, unless it is mapped already.
pub fn map(handle: pg_sys::dsm_handle) -> *mut c_void {
    // SAFETY: a pinned segment exists as long as the rendezvous, or the segment, that holds its handle.
    unsafe {
        let mut segment = pg_sys::dsm_find_mapping(handle);
        if segment.is_null() {
            segment = pg_sys::dsm_attach(handle);
            if segment.is_null() {
                report(
                    PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                    "could not attach to shared memory of pg_mint",
                )
                .raise();
            }
            pg_sys::dsm_pin_mapping(segment);
        }
        pg_sys::dsm_segment_address(segment)
    }
}

/// Makes a segment, zeroed; returns its handle and its memory. It is pinned, so it outlives this session; so is the
/// mapping, which outlives this statement.
pub fn make_pinned(size: usize) -> (pg_sys::dsm_handle, *mut c_void) {
    // SAFETY: creates a segment of `size` bytes, mapped on a page, and raises an error if it cannot.
    unsafe {
        let segment = pg_sys::dsm_create(size, 0);
        let memory = pg_sys::dsm_segment_address(segment);
        let handle = pg_sys::dsm_segment_handle(segment);
        // Memory of the system is zeroed. That which the server reserves by min_dynamic_shared_memory, with odd
        // handles, may have been used before.
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
