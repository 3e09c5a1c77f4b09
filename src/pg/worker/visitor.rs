//! Sessions that workers of other servers hold on this one, and how long they stay when it is shut down.

use crate::pg::backend::local::Local;
use crate::pg::machine::server;
use crate::pg::ports::{
    IsTransactionState, RegisterTimeout, enable_timeout_every, get_timeout_active,
};
use pgrx::{PgXactCallbackEvent, pg_sys, register_xact_callback};
use std::ffi::c_int;

/// The timer by which this session looks whether the server is being shut down, once it has one.
static WATCH: Local<Option<c_int>> = Local::new(None);

/// Ends this session within a second after the server is asked to shut down, once it is idle. A smart shutdown waits for
/// all sessions, and one of another server's worker would not end by itself.
pub fn leave_when_stopping() {
    watch();
    // An error stops all timers of the session.
    register_xact_callback(PgXactCallbackEvent::Abort, watch);
}

/// Starts the timer, unless it runs: started again by each request, it would never come to its end in the session of a
/// server that asks more often.
fn watch() {
    /// Any number that no version gives a meaning to asks for a free one.
    const FREE: c_int = 100;
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

/// Ends the process, when the handler of the alarm calls it.
unsafe extern "C-unwind" fn terminate_if_stopping() {
    // SAFETY: reads a variable.
    let is_idle = unsafe { !IsTransactionState() };
    if is_idle && server::is_stopping() {
        // SAFETY: a handler can send a signal.
        unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
    }
}
