//! The two clocks, and waiting.

use crate::pg::backend::wait::WaitEvent;
use crate::pg::ports::GetCurrentTransactionStartTimestamp;
use mint_core::{ClockTime, Micros};
use pgrx::{check_for_interrupts, pg_sys};
use std::mem::MaybeUninit;
use std::time::{Duration, Instant};

/// Reads the wall clock, through the vDSO: no system call.
#[inline]
pub fn now() -> Micros {
    micros(read(libc::CLOCK_REALTIME))
}

/// Reads the wall clock at its full resolution.
#[inline]
pub fn now_exactly() -> ClockTime {
    let (seconds, nanos) = read(libc::CLOCK_REALTIME);
    // The nanoseconds fit into 32 bits.
    let nanos = nanos as u32;
    ClockTime { seconds, nanos }
}

/// Returns the time since the machine's boot, including suspension. No program can set it.
pub fn up() -> Micros {
    #[cfg(target_os = "linux")]
    const SINCE_BOOT: libc::clockid_t = libc::CLOCK_BOOTTIME;
    // Elsewhere the monotonic clock includes suspension, or no clock does.
    #[cfg(not(target_os = "linux"))]
    const SINCE_BOOT: libc::clockid_t = libc::CLOCK_MONOTONIC;
    micros(read(SINCE_BOOT))
}

#[inline]
fn micros((seconds, nanos): (i64, i64)) -> Micros {
    // The nanoseconds fit into 32 bits, which divide faster.
    seconds * 1_000_000 + Micros::from(nanos as u32 / 1_000)
}

/// Returns when the transaction started, in PostgreSQL's microseconds. It is the same in parallel workers.
#[inline]
pub fn transaction_start() -> i64 {
    // SAFETY: reads a variable of the server.
    unsafe { GetCurrentTransactionStartTimestamp() }
}

/// Returns seconds and nanoseconds.
#[inline]
fn read(clock: libc::clockid_t) -> (i64, i64) {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: it writes the timespec; the clocks exist on every supported system.
    let time = unsafe {
        libc::clock_gettime(clock, time.as_mut_ptr());
        time.assume_init()
    };
    (time.tv_sec, time.tv_nsec)
}

/// Shorter waits spin: a latch counts in milliseconds.
const MIN_SLEEP: Micros = 1_000;
/// A wait returns after at most this long, as the clock can be corrected meanwhile.
const MAX_SLEEP: Micros = 1_000_000;

/// Waits for at most `span`, or until the latch of this backend is set, and shows the event. Raises the errors of
/// cancellation, timeouts and termination.
pub fn pause(span: Micros, event: &WaitEvent) {
    check_for_interrupts!();
    if span >= MIN_SLEEP {
        let millis = span.min(MAX_SLEEP) / 1_000;
        let event = event.number();
        let events = pg_sys::WL_LATCH_SET | pg_sys::WL_TIMEOUT | pg_sys::WL_EXIT_ON_PM_DEATH;
        // SAFETY: MyLatch is this backend's own latch, initialized before any SQL runs.
        unsafe {
            pg_sys::WaitLatch(pg_sys::MyLatch, events.cast_signed(), millis, event);
            pg_sys::ResetLatch(pg_sys::MyLatch);
        }
    } else {
        let until = Instant::now() + Duration::from_micros(span.max(0).unsigned_abs());
        event.show(|| {
            while Instant::now() < until {
                check_for_interrupts!();
                std::hint::spin_loop();
            }
        });
    }
    check_for_interrupts!();
}

/// Returns how far a time is ahead of the clock; negative when behind.
pub fn ahead(at: Micros) -> Micros {
    at.saturating_sub(now())
}
