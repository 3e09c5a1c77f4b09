//! Callbacks at the beginning of each statement of the client.

use super::callbacks::Callbacks;
use super::local::Local;
use crate::pg::ports::{GetCurrentStatementStartTimestamp, standard_ExecutorStart};
use pgrx::pg_sys;
use std::ffi::c_int;

/// When the last known statement began.
static BEGAN: Local<i64> = Local::new(0);
static ON_BEGIN: Callbacks<fn()> = Callbacks::new();
static PREVIOUS: Local<pg_sys::ExecutorStart_hook_type> = Local::new(None);

/// Calls `callback` when a statement of the client begins, but not for those that run within one.
pub fn on_begin(callback: fn()) {
    ON_BEGIN.add(callback);
}

/// Hooks into queries; utility statements have the hook of [`super::discard`]. Called once, when the library is loaded.
pub fn init() {
    // SAFETY: no query uses the hook yet.
    unsafe {
        PREVIOUS.set(pg_sys::ExecutorStart_hook);
        pg_sys::ExecutorStart_hook = Some(on_start);
    }
}

/// Calls the callbacks if the statement about to run is a new one of the client, not one within it.
#[inline]
pub fn detect_begin() {
    // SAFETY: reads a variable of the server.
    let began = unsafe { GetCurrentStatementStartTimestamp() };
    if began != BEGAN.get() {
        BEGAN.set(began);
        ON_BEGIN.all().for_each(|callback| callback());
    }
}

/// Errors of the query jump over this function, as over the server's own. So it is not guarded, owns nothing that
/// needs to be dropped, and cannot panic.
unsafe extern "C-unwind" fn on_start(query: *mut pg_sys::QueryDesc, flags: c_int) {
    detect_begin();
    // SAFETY: the arguments are passed on unchanged.
    unsafe { PREVIOUS.get().unwrap_or(standard_ExecutorStart)(query, flags) }
}

/// Returns the number that the rows have in xmin which this transaction, or subtransaction, writes.
pub fn transaction() -> u32 {
    // SAFETY: within a transaction, as every call of a function is.
    unsafe { pg_sys::GetCurrentTransactionId() }.into_inner()
}

/// Whether each statement of the transaction sees what was committed before it: at isolation level READ COMMITTED.
pub fn sees_commits() -> bool {
    // SAFETY: reads a number of the transaction's.
    unsafe { pg_sys::XactIsoLevel }.unsigned_abs() < pg_sys::XACT_REPEATABLE_READ
}

/// Returns whether a commit does not wait until it is on all the disks that it would by default: `synchronous_commit` is
/// `off` or `local`.
pub fn commits_without_flush() -> bool {
    // SAFETY: an integer that the server writes only between statements, in this thread.
    let level = unsafe { pg_sys::synchronous_commit };
    level <= pg_sys::SyncCommitLevel::SYNCHRONOUS_COMMIT_LOCAL_FLUSH as i32
}
