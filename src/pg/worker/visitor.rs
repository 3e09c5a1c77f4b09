//! Sessions of workers of other servers on this one: how long they stay when it is shut down, and how long they hold
//! locks that others wait for.

use crate::pg::backend::local::Local;
use crate::pg::error::report;
use crate::pg::machine::server;
use crate::pg::ports::{
    IsTransactionState, RegisterTimeout, disable_timeout, enable_timeout_after,
    enable_timeout_every, get_timeout_active,
};
use pgrx::{PgSqlErrorCode as Code, PgXactCallbackEvent, pg_sys, register_xact_callback};
use std::ffi::{CStr, c_int};

/// The timer by which this session checks whether the server is being shut down, once it has one.
static WATCH: Local<Option<c_int>> = Local::new(None);
/// The timer that ends this session, once it has one, and whether it runs.
static DEADLINE: Local<Option<c_int>> = Local::new(None);
static IS_LIMITED: Local<bool> = Local::new(false);

/// Any number that no version gives a meaning to asks for a free timer.
const FREE: c_int = 100;

/// Refuses to run in a transaction block, where the client decides when the transaction ends. `what` is named in the
/// error.
pub fn refuse_block(what: &CStr) {
    // SAFETY: a string; raises an error or sets a flag of the transaction.
    unsafe { pg_sys::PreventInTransactionBlock(true, what.as_ptr()) };
}

/// Ends the session if it does not commit or roll back within `millis`, counted from the first call in a transaction.
/// Nothing else in the statement can stop that.
pub fn commit_within(millis: c_int) {
    if IS_LIMITED.replace(true) {
        return;
    }
    // SAFETY: the handler lives as long as the process, and does what a handler can do.
    let timer = DEADLINE
        .get()
        .unwrap_or_else(|| unsafe { RegisterTimeout(FREE, terminate) });
    DEADLINE.set(Some(timer));
    // The client cannot delay a wait of the commit, such as that for a synchronous standby.
    register_xact_callback(PgXactCallbackEvent::PreCommit, || {
        // SAFETY: reads a number of the transaction's.
        if unsafe { pg_sys::MyXactFlags }.unsigned_abs() & pg_sys::XACT_FLAGS_ACCESSEDTEMPNAMESPACE
            != 0
        {
            let message = "cannot hold locks that others wait for while temporary objects are used";
            report(Code::ERRCODE_FEATURE_NOT_SUPPORTED, message).raise();
        }
        end_deadline();
    });
    register_xact_callback(PgXactCallbackEvent::Abort, end_deadline);
    // SAFETY: the timer is registered.
    unsafe { enable_timeout_after(timer, millis) };
}

fn end_deadline() {
    IS_LIMITED.set(false);
    if let Some(timer) = DEADLINE.get() {
        // SAFETY: the timer is registered.
        unsafe { disable_timeout(timer, false) };
    }
}

/// Ends this session within a second after the server is asked to shut down, once it is idle. A smart shutdown waits for
/// all sessions, and one of another server's worker would not end by itself.
pub fn leave_when_stopping() {
    watch();
    // An error stops all timers of the session.
    register_xact_callback(PgXactCallbackEvent::Abort, watch);
}

/// Starts the timer, unless it runs: if each request restarted it, it would never end in the session of a server that
/// asks more often.
fn watch() {
    /// Milliseconds.
    const EVERY: c_int = 1_000;
    // SAFETY: the handler lives as long as the process, and does what a handler can do; the timer is registered.
    unsafe {
        let timer = WATCH
            .get()
            .unwrap_or_else(|| RegisterTimeout(FREE, terminate_if_stopping));
        WATCH.set(Some(timer));
        if !get_timeout_active(timer) {
            let first = pg_sys::GetCurrentTimestamp() + i64::from(EVERY) * 1_000;
            enable_timeout_every(timer, first, EVERY);
        }
    }
}

/// Ends the process if the server is being shut down, when the handler of the alarm calls it.
unsafe extern "C-unwind" fn terminate_if_stopping() {
    // SAFETY: reads a variable.
    let is_idle = unsafe { !IsTransactionState() };
    if is_idle && server::is_stopping() {
        // SAFETY: within a handler.
        unsafe { terminate() };
    }
}

/// Ends the process, when the handler of the alarm calls it.
unsafe extern "C-unwind" fn terminate() {
    // SAFETY: a handler can send a signal.
    unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
}
