//! This server: its identity, its log and its limits.

use pgrx::pg_sys;
use std::ffi::CStr;

/// The identifier of the database system, which its copies have in common.
pub fn system_identifier() -> u64 {
    // SAFETY: reads a number that was set when the server started.
    unsafe { pg_sys::GetSystemIdentifier() }
}

/// The timeline of the log. Outside of recovery only.
pub fn timeline() -> u32 {
    // SAFETY: reads a number of shared memory.
    unsafe { pg_sys::GetWALInsertionTimeLine() }
}

/// When the server was started, in PostgreSQL's microseconds.
pub fn start() -> i64 {
    // SAFETY: reads a number that was set when the server started.
    unsafe { pg_sys::PgStartTime }
}

/// Where the log ends. Outside of recovery only.
pub fn log_end() -> u64 {
    // SAFETY: reads a number of shared memory.
    unsafe { pg_sys::GetXLogInsertRecPtr() }
}

/// The setting `cluster_name`, which has printable ASCII only; none when it is empty.
pub fn cluster_name() -> Option<String> {
    // SAFETY: a string of the server's, or null.
    let name = unsafe {
        let name = pg_sys::cluster_name;
        (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
    };
    name.filter(|name| !name.is_empty())
}

/// The port that the server listens on.
pub fn port() -> i32 {
    // SAFETY: reads a number that was set when the server started.
    unsafe { pg_sys::PostPortNumber }
}

/// The setting `max_worker_processes`.
pub fn max_worker_processes() -> usize {
    // SAFETY: reads a number that was set when the server started.
    unsafe { pg_sys::max_worker_processes }.unsigned_abs() as usize
}

/// The id of this process.
#[inline]
pub fn process_id() -> u32 {
    // SAFETY: reads a number that was set when the process began.
    unsafe { pg_sys::MyProcPid }.unsigned_abs()
}
