//! A limit on the time that work takes while others wait for its locks, by the timer of `statement_timeout`.

use crate::pg::backend::transaction::is_interrupt;
use crate::pg::error::relay_errors;
use crate::pg::ports::{
    disable_timeout, enable_timeout_at, get_timeout_active, get_timeout_finish_time,
    get_timeout_indicator,
};
use mint_core::Micros;
use pgrx::{PgSqlErrorCode as Code, PgTryBuilder, pg_sys};
use std::ffi::c_int;
use std::panic::AssertUnwindSafe;

/// `STATEMENT_TIMEOUT` of utils/timeout.h.
const TIMER: c_int = 3;

/// The timer of before, which is set again also when an error unwinds.
struct Restore(Option<pg_sys::TimestampTz>);

impl Drop for Restore {
    fn drop(&mut self) {
        // SAFETY: sets a timer that the server has registered. A signal that nobody saw is not one of what follows.
        unsafe {
            disable_timeout(TIMER, true);
            if get_timeout_indicator(TIMER, true) {
                (&raw mut pg_sys::QueryCancelPending).write_volatile(0);
            }
            if let Some(end) = self.0 {
                enable_timeout_at(TIMER, end);
            }
        }
    }
}

/// Runs `work`, and `late` in its place if it has not ended after `limit`: an error has ended it then. A `statement_timeout` that
/// ends earlier stays.
pub fn within<T>(limit: Micros, work: impl FnOnce() -> T, late: impl FnOnce() -> T) -> T {
    // SAFETY: reads and sets a timer that the server has registered.
    let (now, before) = unsafe {
        let before = get_timeout_active(TIMER).then(|| get_timeout_finish_time(TIMER));
        (pg_sys::GetCurrentTimestamp(), before)
    };
    let end = now.saturating_add(limit);
    if before.is_some_and(|before| before <= end) {
        return work();
    }
    let answer = PgTryBuilder::new(AssertUnwindSafe(|| {
        let _restore = Restore(before);
        // SAFETY: as above.
        unsafe { enable_timeout_at(TIMER, end) };
        Some(relay_errors(work))
    }))
    .catch_when(Code::ERRCODE_QUERY_CANCELED, |error| {
        // SAFETY: reads the clock.
        if !is_interrupt(&error) || unsafe { pg_sys::GetCurrentTimestamp() } < end {
            error.rethrow()
        }
        None
    })
    .execute();
    answer.unwrap_or_else(late)
}
