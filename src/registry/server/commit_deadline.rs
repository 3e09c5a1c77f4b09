//! A limit on how long a session keeps a transaction open whose locks others wait for.

use crate::pg::backend::local::Local;
use crate::pg::ports::{RegisterTimeout, disable_timeout, enable_timeout_after};
use pgrx::{PgXactCallbackEvent, pg_sys, register_xact_callback};
use std::ffi::{CStr, c_int};

/// The timer of this session, once it has one, and whether it runs.
static TIMER: Local<Option<c_int>> = Local::new(None);
static RUNS: Local<bool> = Local::new(false);

/// Refuses to run in a transaction block, where the client decides when the transaction ends. `what` is named in the
/// error.
pub fn refuse_block(what: &CStr) {
    // SAFETY: a string; raises an error or sets a flag of the transaction.
    unsafe { pg_sys::PreventInTransactionBlock(true, what.as_ptr()) };
}

/// Ends the session if it does not commit or roll back within `millis`, counted from the first call in a transaction.
/// Whatever else its statement does, it cannot stop that.
pub fn commit_within(millis: c_int) {
    /// Any number that no version gives a meaning to asks for a free one.
    const FREE: c_int = 100;
    if RUNS.replace(true) {
        return;
    }
    // SAFETY: the handler lives as long as the process, and does what a handler can do.
    let timer = TIMER
        .get()
        .unwrap_or_else(|| unsafe { RegisterTimeout(FREE, terminate) });
    TIMER.set(Some(timer));
    // What a commit waits for, such as a synchronous standby, is not the client's to delay.
    register_xact_callback(PgXactCallbackEvent::PreCommit, stop);
    register_xact_callback(PgXactCallbackEvent::Abort, stop);
    // SAFETY: the timer is registered.
    unsafe { enable_timeout_after(timer, millis) };
}

fn stop() {
    RUNS.set(false);
    if let Some(timer) = TIMER.get() {
        // SAFETY: the timer is registered.
        unsafe { disable_timeout(timer, false) };
    }
}

/// Ends the process, when the handler of the alarm calls it.
unsafe extern "C-unwind" fn terminate() {
    // SAFETY: a handler can send a signal.
    unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
}
