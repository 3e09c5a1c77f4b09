//! The server's log: positions in it, and what is on disk.

use pgrx::pg_sys;

/// The WAL position (LSN) of the last change to a page; 0 when its file is not logged yet, as in the transaction that
/// creates it under wal_level minimal, whose commit syncs the file.
pub type Position = pg_sys::XLogRecPtr;

/// Flushes the WAL up to `position`.
pub fn flush(position: Position) {
    if position != 0 {
        // SAFETY: a position that this server has written.
        unsafe { pg_sys::XLogFlush(position) };
    }
}

/// Makes the WAL writer flush up to `position` soon.
pub fn flush_soon(position: Position) {
    if position != 0 {
        // SAFETY: a position that this server has written.
        unsafe { pg_sys::XLogSetAsyncXactLSN(position) };
    }
}

/// Returns whether a page that was logged at `position` can be logged again, as a checkpoint has begun since.
pub fn is_before_checkpoint(position: Position) -> bool {
    // SAFETY: a call without preconditions.
    position <= unsafe { pg_sys::GetRedoRecPtr() }
}
