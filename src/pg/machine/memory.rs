//! Memory of Rust: if the system has none left, only this session ends. Without this file the process would abort, and
//! the server would end all of its sessions.

use crate::pg::ports::{errcode, errdetail_internal, errfinish, errmsg_internal, errstart};
use pgrx::{PgLogLevel, PgSqlErrorCode as Code, pg_sys};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_int;
use std::ptr;

// The program that runs the tests is not a process of the server.
#[cfg(not(test))]
#[global_allocator]
static ALLOCATOR: OrEnd = OrEnd;

/// The allocator of the system, which never returns null: callers must not unwind, so no error could be raised.
struct OrEnd;

// SAFETY: the allocator of the system does all of it.
unsafe impl GlobalAlloc for OrEnd {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller says.
        or_end(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller says.
        or_end(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller says.
        or_end(unsafe { System.realloc(memory, layout, size) }, size)
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller says.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[inline]
fn or_end(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        end(size);
    }
    memory
}

/// Ends the process as the server ends one without memory if no error can be raised.
#[cold]
fn end(size: usize) -> ! {
    // SAFETY: the server's own protocol, which needs no memory of Rust. It has set some aside for the error, and does
    // not return from one of this level. Callbacks that add a context can be of frames that an error has left.
    unsafe {
        pg_sys::error_context_stack = ptr::null_mut();
        errstart(PgLogLevel::FATAL as c_int, ptr::null());
        errcode(Code::ERRCODE_OUT_OF_MEMORY as c_int);
        errmsg_internal(c"out of memory".as_ptr());
        errdetail_internal(c"Failed on request of size %zu.".as_ptr(), size);
        let file = concat!(file!(), "\0").as_ptr().cast();
        errfinish(file, line!() as c_int, c"end".as_ptr());
    }
    std::process::abort()
}
