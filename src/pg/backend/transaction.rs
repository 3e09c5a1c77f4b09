//! The transaction: its snapshot, its commit, and attempts in it that leave nothing behind if a lock is not available.

use crate::pg::error::{INTERRUPTS, relay_errors};
use pgrx::pg_sys::panic::CaughtError;
use pgrx::{PgSqlErrorCode as Code, PgTryBuilder, pg_sys};
use std::panic::AssertUnwindSafe;
use std::ptr;

/// An error that was caught, and can be raised again.
pub type Raised = Box<CaughtError>;

/// Runs `work` in a subtransaction. If it could not get a lock in time (55P03), undoes all of it and returns none. Any
/// other error undoes it as well and is raised again: a caller that catches it, as a block of PL/pgSQL does, finds the
/// transaction as it was.
pub fn attempt<T>(work: impl FnOnce() -> T) -> Option<T> {
    match caught(work) {
        Ok(answer) => Some(answer),
        Err(error) if code(&error) == Some(Code::ERRCODE_LOCK_NOT_AVAILABLE) => None,
        Err(error) => error.rethrow(),
    }
}

/// Runs `work` in a subtransaction, which an error undoes.
///
/// # Errors
/// Any error but a cancellation and a panic, which are raised again.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Raised> {
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
        Ok(answer)
    }))
    .catch_others(|error| {
        undo(before);
        if is_interrupt(&error) {
            error.rethrow();
        }
        Err(Box::new(error))
    })
    .catch_rust_panic(|panic| {
        undo(before);
        panic.rethrow()
    })
    .execute()
}

/// Returns whether an error ends more than the code that raised it: a panic, and the end of a statement or a session by
/// the server or this library, but not an error with the same SQLSTATE that a function of a user raises.
pub fn is_interrupt(error: &CaughtError) -> bool {
    const CODES: [Code; 2] = [Code::ERRCODE_QUERY_CANCELED, Code::ERRCODE_ADMIN_SHUTDOWN];
    match error {
        CaughtError::RustPanic { .. } => true,
        // Either kind, as an error that is raised again becomes the other.
        CaughtError::ErrorReport(raised) | CaughtError::PostgresError(raised) => {
            CODES.contains(&raised.sql_error_code()) && raised.function_name() == Some(INTERRUPTS)
        }
    }
}

/// Returns the SQLSTATE of an error; none of a panic.
pub fn code(error: &CaughtError) -> Option<Code> {
    match error {
        CaughtError::ErrorReport(raised) | CaughtError::PostgresError(raised) => {
            Some(raised.sql_error_code())
        }
        CaughtError::RustPanic { .. } => None,
    }
}

/// Rolls the subtransaction back.
fn undo(before: (pg_sys::MemoryContext, pg_sys::ResourceOwner)) {
    // SAFETY: ends the subtransaction that began above. An error was copied out of the server's stack of errors.
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

/// Returns whether each statement of the transaction sees the commits before it: at isolation level READ COMMITTED.
pub fn sees_commits() -> bool {
    // SAFETY: reads a number of the transaction's.
    unsafe { pg_sys::XactIsoLevel }.unsigned_abs() < pg_sys::XACT_REPEATABLE_READ
}

/// Makes the commit wait until it is on disk, at any `synchronous_commit`.
pub fn commit_durably() {
    // SAFETY: sets a flag of the transaction, which its end reads.
    unsafe { pg_sys::ForceSyncCommit() };
}

/// Returns whether a commit does not wait for all the disks that it would wait for by default: `synchronous_commit` is
/// `off` or `local`.
pub fn commits_without_flush() -> bool {
    // SAFETY: an integer that the server writes only between statements, in this thread.
    let level = unsafe { pg_sys::synchronous_commit };
    level <= pg_sys::SyncCommitLevel::SYNCHRONOUS_COMMIT_LOCAL_FLUSH as i32
}
