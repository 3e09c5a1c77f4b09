//! Hears when the client's next statement begins.

use super::local::Local;
use pgrx::pg_sys;
use std::ffi::c_int;

/// When the statement began that was heard of last.
static BEGAN: Local<i64> = Local::new(0);
/// What wants to hear of the next one.
static HEARER: Local<fn()> = Local::new(|| ());
static PREVIOUS: Local<pg_sys::ExecutorStart_hook_type> = Local::new(None);

// access/xact.h, and executor/executor.h. Not pgrx's own bindings: the first one cannot fail, and the guard of the
// second would catch every error that a query raises and raise another in its place.
unsafe extern "C-unwind" {
    fn GetCurrentStatementStartTimestamp() -> i64;
    fn standard_ExecutorStart(query: *mut pg_sys::QueryDesc, flags: c_int);
}

/// Hears of each statement of the client from now on, but not of those that run within one. Called once, when the
/// library is loaded.
pub fn init(hearer: fn()) {
    HEARER.set(hearer);
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
        HEARER.get()();
    }
}

/// Errors of the query jump over this function, as over the server's own. So it is not guarded, owns nothing that
/// would have to be dropped, and cannot panic.
unsafe extern "C-unwind" fn on_start(query: *mut pg_sys::QueryDesc, flags: c_int) {
    note();
    // SAFETY: the arguments are handed on as they came.
    unsafe { PREVIOUS.get().unwrap_or(standard_ExecutorStart)(query, flags) }
}
