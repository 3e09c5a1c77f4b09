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

/// The data directory, without links in its path: the working directory of all processes of the server.
pub fn data_directory() -> String {
    let path = std::env::current_dir();
    path.map_or_else(
        |_| String::new(),
        |path| path.to_string_lossy().into_owned(),
    )
}

/// A number of the data directory that a copy of its files does not have; 0 where it cannot be read. A copy of its disk has
/// the same.
pub fn data_directory_number() -> u64 {
    use std::os::unix::fs::MetadataExt;
    // Written when the directory was made, and never again.
    std::fs::metadata("PG_VERSION").map_or(0, |file| file.ino())
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

/// Whether the server is being shut down, as the postmaster has written into its lock file.
pub fn is_stopping() -> bool {
    /// `LOCK_FILE_LINE_PM_STATUS` of miscadmin.h, counted from 0.
    const STATUS: usize = 7;
    // The working directory of every process of the server is the data directory.
    let lock_file = std::fs::read_to_string("postmaster.pid").unwrap_or_default();
    let status = lock_file.lines().nth(STATUS);
    status.is_some_and(|status| status.trim() == "stopping")
}

/// The id of this process.
#[inline]
pub fn process_id() -> u32 {
    // SAFETY: reads a number that was set when the process began.
    unsafe { pg_sys::MyProcPid }.unsigned_abs()
}
