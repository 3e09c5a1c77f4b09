//! Callbacks at the beginning of each statement of the client.

use super::callbacks::Callbacks;
use super::local::Local;
use crate::pg::ports::{GetCurrentStatementStartTimestamp, standard_ExecutorStart};
use pgrx::pg_sys;
use std::ffi::c_int;

/// The start of the last known statement.
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

/// Calls the callbacks if the statement about to run is a new one of the client, not one inside it.
#[inline]
pub fn detect_begin() {
    // SAFETY: reads a variable of the server.
    let began = unsafe { GetCurrentStatementStartTimestamp() };
    if began != BEGAN.get() {
        BEGAN.set(began);
        ON_BEGIN.all().for_each(|callback| callback());
    }
}

/// Starts a query. Its errors jump over this function, as over the server's own. So it is not guarded, owns nothing that
/// needs to be dropped, and cannot panic.
unsafe extern "C-unwind" fn on_start(query: *mut pg_sys::QueryDesc, flags: c_int) {
    detect_begin();
    // SAFETY: the arguments are passed on unchanged.
    unsafe { PREVIOUS.get().unwrap_or(standard_ExecutorStart)(query, flags) }
}
