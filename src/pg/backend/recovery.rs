//! Recovery, in which a server issues nothing: its primary may be issuing the same.

use super::local::Local;
use crate::pg::error::report;
use pgrx::{PgSqlErrorCode as Code, pg_sys};

/// What is refused during recovery.
pub struct Refusal {
    pub message: &'static str,
    pub detail: &'static str,
    pub hint: &'static str,
}

/// Raises the error while the server is in recovery. Asked of the server until that is over, as it does not come back
/// while the process lives: pgrx guards each call of the server against its errors, which costs as much as an id.
#[inline(always)]
pub fn refuse(refusal: &Refusal) {
    static OVER: Local<bool> = Local::new(false);
    if !OVER.get() {
        // SAFETY: a call without preconditions.
        if unsafe { pg_sys::RecoveryInProgress() } {
            raise(refusal);
        }
        OVER.set(true);
    }
}

#[cold]
fn raise(refusal: &Refusal) -> ! {
    report(
        Code::ERRCODE_READ_ONLY_SQL_TRANSACTION,
        refusal.message.to_owned(),
    )
    .detail(refusal.detail.to_owned())
    .hint(refusal.hint.to_owned())
    .raise()
}

/// Whether the server is in recovery now.
pub fn is_in_progress() -> bool {
    // SAFETY: a call without preconditions.
    unsafe { pg_sys::RecoveryInProgress() }
}
