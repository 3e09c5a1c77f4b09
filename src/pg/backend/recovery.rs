//! Recovery, during which a server issues nothing: its primary can be issuing the same ids.

use super::local::Local;
use crate::pg::error::report;
use pgrx::{PgSqlErrorCode as Code, pg_sys};

/// The error of an operation that is not possible during recovery.
pub struct Refusal {
    pub message: &'static str,
    pub detail: &'static str,
    pub hint: &'static str,
}

/// Raises the error while the server is in recovery. Once recovery has ended it does not begin again while the process
/// lives, so the end is cached: a guarded call of the server costs as much as an id.
#[inline(always)]
#[track_caller]
pub fn refuse(refusal: &Refusal) {
    static ENDED: Local<bool> = Local::new(false);
    if !ENDED.get() {
        // SAFETY: a call without preconditions.
        if unsafe { pg_sys::RecoveryInProgress() } {
            raise(refusal);
        }
        ENDED.set(true);
    }
}

#[cold]
#[track_caller]
fn raise(refusal: &Refusal) -> ! {
    report(Code::ERRCODE_READ_ONLY_SQL_TRANSACTION, refusal.message)
        .detail(refusal.detail)
        .hint(refusal.hint)
        .raise()
}

/// Returns whether the server is in recovery now.
pub fn is_in_progress() -> bool {
    // SAFETY: a call without preconditions.
    unsafe { pg_sys::RecoveryInProgress() }
}
