//! The server's log: positions in it, and flushing.

use crate::pg::machine::server;
use pgrx::pg_sys;
use std::os::unix::fs::MetadataExt;

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

/// Returns whether the server was promoted since it was started: it has written the history of its timeline since. Outside of
/// recovery only.
pub fn was_promoted() -> bool {
    /// PostgreSQL's epoch, in seconds since 1970.
    const EPOCH: i64 = 946_684_800;
    // The working directory of every process of the server is the data directory.
    let history = std::fs::metadata(format!("pg_wal/{:08X}.history", server::timeline()));
    let started = server::start() / 1_000_000 + EPOCH;
    history.is_ok_and(|history| history.mtime() >= started)
}
