//! A timer of a worker that calls a handler at regular times.
//!
//! On Linux it is one of the kernel's, by the monotonic clock: it is not late when the wall clock is set back, as the
//! server's own timeouts are. Its handler reads no clock, as the handler of those timeouts does, which is not safe if a
//! library before the clock allocates memory.

use std::ffi::c_int;

/// A handler of a signal: it does only what a handler can do.
pub type Handler = fn();

/// A timer that runs; dropped also when an error unwinds.
pub struct Ticker(platform::Timer);

impl Ticker {
    /// Starts the timer of this process, which has only one: `handler` is the same in all calls.
    pub fn start(millis: u32, handler: Handler) -> Self {
        let timer = platform::timer(handler);
        platform::set(timer, millis);
        Self(timer)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        platform::set(self.0, 0);
    }
}

#[cfg(target_os = "linux")]
mod platform {
    use super::{Handler, c_int};
    use crate::pg::backend::local::Local;
    use crate::pg::error::report;
    use pgrx::PgSqlErrorCode as Code;
    use std::{mem, ptr};

    pub type Timer = libc::timer_t;

    /// The server leaves this signal to extensions in background workers.
    const SIGNAL: c_int = libc::SIGUSR2;

    static OWN: Local<Option<(Timer, Handler)>> = Local::new(None);

    pub fn timer(handler: Handler) -> Timer {
        if let Some((timer, _)) = OWN.get() {
            return timer;
        }
        // SAFETY: zeroes are valid values of these types, whose fields are set before they are used; the handler lives as
        // long as the process.
        let (timer, made) = unsafe {
            let mut action: libc::sigaction = mem::zeroed();
            action.sa_sigaction = run as extern "C" fn(c_int) as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(SIGNAL, &raw const action, ptr::null_mut());
            let mut event: libc::sigevent = mem::zeroed();
            event.sigev_notify = libc::SIGEV_SIGNAL;
            event.sigev_signo = SIGNAL;
            let mut timer: Timer = mem::zeroed();
            let clock = libc::CLOCK_MONOTONIC;
            let made = libc::timer_create(clock, &raw mut event, &raw mut timer);
            (timer, made)
        };
        if made != 0 {
            report(
                Code::ERRCODE_INSUFFICIENT_RESOURCES,
                "could not create a timer",
            )
            .raise();
        }
        OWN.set(Some((timer, handler)));
        timer
    }

    /// Lets the timer run from now on; 0 stops it.
    pub fn set(timer: Timer, millis: u32) {
        let interval = libc::timespec {
            tv_sec: (millis / 1_000).into(),
            tv_nsec: (millis % 1_000 * 1_000_000).into(),
        };
        let times = libc::itimerspec {
            it_interval: interval,
            it_value: interval,
        };
        // SAFETY: the timer was created.
        unsafe { libc::timer_settime(timer, 0, &raw const times, ptr::null_mut()) };
    }

    /// Handles the signal. The interrupted code finds its error number again.
    extern "C" fn run(_: c_int) {
        // SAFETY: the place of this thread's error number.
        let place = unsafe { libc::__errno_location() };
        // SAFETY: the same.
        let errno = unsafe { *place };
        if let Some((_, handler)) = OWN.get() {
            handler();
        }
        // SAFETY: the same.
        unsafe { *place = errno };
    }
}

/// The server's own timeouts.
#[cfg(not(target_os = "linux"))]
mod platform {
    use super::{Handler, c_int};
    use crate::pg::backend::local::Local;
    use crate::pg::ports::{RegisterTimeout, disable_timeout, enable_timeout_every};
    use pgrx::pg_sys;

    pub type Timer = c_int;

    static OWN: Local<Option<(Timer, Handler)>> = Local::new(None);

    pub fn timer(handler: Handler) -> Timer {
        /// Any number that no version gives a meaning to asks for a free one.
        const FREE: c_int = 100;
        // SAFETY: the handler lives as long as the process.
        let make = || unsafe { RegisterTimeout(FREE, run) };
        let timer = OWN.get().map_or_else(make, |own| own.0);
        OWN.set(Some((timer, handler)));
        timer
    }

    /// Lets the timer run from now on; 0 stops it.
    pub fn set(timer: Timer, millis: u32) {
        // SAFETY: the timer is registered.
        unsafe {
            if millis == 0 {
                disable_timeout(timer, false);
                return;
            }
            let first = pg_sys::GetCurrentTimestamp() + i64::from(millis) * 1_000;
            enable_timeout_every(timer, first, millis as c_int);
        }
    }

    unsafe extern "C-unwind" fn run() {
        if let Some((_, handler)) = OWN.get() {
            handler();
        }
    }
}
