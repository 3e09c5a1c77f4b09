//! Attempts that leave nothing behind when they cannot have a lock.

use crate::pg::error::relay_errors;
use pgrx::pg_sys::panic::CaughtError;
use pgrx::{PgSqlErrorCode as Code, PgTryBuilder, pg_sys};
use std::panic::AssertUnwindSafe;
use std::ptr;

/// Runs `work` in a subtransaction. Returns none, and undoes all of it, when it could not have a lock in time (55P03). Any
/// other error undoes it as well and is raised again: a caller that catches it, as a block of PL/pgSQL does, finds the
/// transaction as it was.
pub fn attempt<T>(work: impl FnOnce() -> T) -> Option<T> {
    // SAFETY: plain pointers, kept as the server's procedural languages do.
    let before = unsafe { (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner) };
    // SAFETY: begins a subtransaction, which ends below in each case; its results are in the caller's memory context.
    unsafe {
        pg_sys::BeginInternalSubTransaction(ptr::null());
        pg_sys::MemoryContextSwitchTo(before.0);
    }
    PgTryBuilder::new(AssertUnwindSafe(|| {
        let answer = relay_errors(work);
        // SAFETY: ends the subtransaction that began above.
        unsafe {
            pg_sys::ReleaseCurrentSubTransaction();
            restore(before);
        }
        Some(answer)
    }))
    .catch_others(|error| {
        undo(before);
        match &error {
            CaughtError::ErrorReport(raised)
                if raised.sql_error_code() == Code::ERRCODE_LOCK_NOT_AVAILABLE =>
            {
                None
            }
            _ => error.rethrow(),
        }
    })
    .catch_rust_panic(|panic| {
        undo(before);
        panic.rethrow()
    })
    .execute()
}

/// Rolls the subtransaction back.
fn undo(before: (pg_sys::MemoryContext, pg_sys::ResourceOwner)) {
    // SAFETY: ends the subtransaction that began in `attempt`. The error was copied out of the server's stack of errors.
    unsafe {
        pg_sys::RollbackAndReleaseCurrentSubTransaction();
        restore(before);
    }
}

/// # Safety
/// Both are those of before the subtransaction.
unsafe fn restore((context, owner): (pg_sys::MemoryContext, pg_sys::ResourceOwner)) {
    // SAFETY: as the caller says.
    unsafe {
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::CurrentResourceOwner = owner;
    }
}

/// Whether each statement of this transaction sees what was committed before it.
pub fn is_read_committed() -> bool {
    // SAFETY: reads a plain number.
    unsafe { pg_sys::XactIsoLevel < pg_sys::XACT_REPEATABLE_READ.cast_signed() }
}
