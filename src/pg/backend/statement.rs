//! Hears when the client's next statement begins.

use super::callbacks::Callbacks;
use super::local::Local;
use crate::pg::ports::{GetCurrentStatementStartTimestamp, standard_ExecutorStart};
use pgrx::pg_sys;
use std::ffi::c_int;

/// When the statement began that was heard of last.
static BEGAN: Local<i64> = Local::new(0);
static HEARERS: Callbacks<fn()> = Callbacks::new();
static PREVIOUS: Local<pg_sys::ExecutorStart_hook_type> = Local::new(None);

/// Calls `hearer` when a statement of the client begins, but not for those that run within one.
pub fn on_begin(hearer: fn()) {
    HEARERS.add(hearer);
}

/// Takes part in statements. Called once, when the library is loaded.
pub fn init() {
    // SAFETY: called before any query uses the hook.
    unsafe {
        PREVIOUS.set(pg_sys::ExecutorStart_hook);
        pg_sys::ExecutorStart_hook = Some(on_start);
    }
}

/// Something is about to be executed: by the client's next statement, or within the one under way.
#[inline]
pub fn note() {
    // SAFETY: reads a variable of the server.
    let began = unsafe { GetCurrentStatementStartTimestamp() };
    if began != BEGAN.get() {
        BEGAN.set(began);
        HEARERS.all().for_each(|hearer| hearer());
    }
}

/// Errors of the query jump over this function, as over the server's own. So it is not guarded, owns nothing that
/// would have to be dropped, and cannot panic.
unsafe extern "C-unwind" fn on_start(query: *mut pg_sys::QueryDesc, flags: c_int) {
    note();
    // SAFETY: the arguments are handed on as they came.
    unsafe { PREVIOUS.get().unwrap_or(standard_ExecutorStart)(query, flags) }
}

/// Whether each statement of the transaction sees what was committed before it: at isolation level READ COMMITTED.
pub fn sees_commits() -> bool {
    // SAFETY: reads a number of the transaction's.
    unsafe { pg_sys::XactIsoLevel }.unsigned_abs() < pg_sys::XACT_REPEATABLE_READ
}
