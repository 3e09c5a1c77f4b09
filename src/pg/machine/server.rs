//! This server: its identity, its log and its limits.

use pgrx::pg_sys;
use std::ffi::CStr;

/// Returns the identifier of the database system, which its copies have in common.
pub fn system_identifier() -> u64 {
    // SAFETY: reads a number that was set when the server started.
    unsafe { pg_sys::GetSystemIdentifier() }
}

/// Returns the timeline of the log. Outside of recovery only.
pub fn timeline() -> u32 {
    // SAFETY: reads a number of shared memory.
    unsafe { pg_sys::GetWALInsertionTimeLine() }
}

/// Returns when the server was started, in PostgreSQL's microseconds.
pub fn start() -> i64 {
    // SAFETY: reads a number that was set when the server started.
    unsafe { pg_sys::PgStartTime }
}

/// Returns the setting `cluster_name`, which has printable ASCII only; none when it is empty.
pub fn cluster_name() -> Option<String> {
    // SAFETY: a string of the server's, or null.
    let name = unsafe {
        let name = pg_sys::cluster_name;
        (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
    };
    name.filter(|name| !name.is_empty())
}

/// Returns the setting `application_name` of this session.
pub fn application_name() -> &'static [u8] {
    // SAFETY: a string of the server's, or null, which is read immediately.
    unsafe {
        let name = pg_sys::application_name;
        if name.is_null() {
            b""
        } else {
            CStr::from_ptr(name).to_bytes()
        }
    }
}

/// Returns the port that the server listens on.
pub fn port() -> i32 {
    // SAFETY: reads a number that was set when the server started.
    unsafe { pg_sys::PostPortNumber }
}

/// Returns the setting `fsync`: whether written data must be on disk.
pub fn is_durable() -> bool {
    // SAFETY: reads a setting.
    unsafe { pg_sys::enableFsync }
}

/// Returns the setting `max_worker_processes`.
pub fn max_worker_processes() -> usize {
    // SAFETY: reads a number that was set when the server started.
    unsafe { pg_sys::max_worker_processes }.unsigned_abs() as usize
}

/// Returns whether the server is being shut down, as the postmaster has written into its lock file. A handler of a signal can call
/// it.
pub fn is_stopping() -> bool {
    /// `LOCK_FILE_LINE_PM_STATUS` of miscadmin.h, counted from 0.
    const STATUS: usize = 7;
    let mut text = [0_u8; 2_048];
    // The working directory of every process of the server is the data directory.
    // SAFETY: a string, and a buffer of this length.
    let length = unsafe {
        let file = libc::open(c"postmaster.pid".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return false;
        }
        let length = libc::read(file, text.as_mut_ptr().cast(), text.len());
        libc::close(file);
        length
    };
    let text = text.get(..length.max(0).unsigned_abs());
    let mut lines = text.unwrap_or_default().split(|&byte| byte == b'\n');
    lines.nth(STATUS).map(<[u8]>::trim_ascii) == Some(b"stopping")
}

/// Returns the id of this process.
#[inline]
pub fn process_id() -> u32 {
    // SAFETY: reads a number that was set when the process began.
    unsafe { pg_sys::MyProcPid }.cast_unsigned()
}
