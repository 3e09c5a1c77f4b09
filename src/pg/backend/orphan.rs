//! Orphans: processes that outlive their postmaster, as after `kill -9`. Tools for failover take a server without a
//! postmaster for one that is off, and let another server issue the ids that the orphan would.

use crate::pg::error;
use crate::pg::ports::PostmasterIsAliveInternal;
use pgrx::pg_sys;

/// Returns whether the postmaster of this process has ended. A system call.
pub fn is_orphan() -> bool {
    // SAFETY: reads a variable that is set when the process starts, and the pipe that the postmaster holds open.
    unsafe { pg_sys::IsUnderPostmaster && !PostmasterIsAliveInternal() }
}

/// Ends an orphan, with the error that an idle session of it ends with.
pub fn refuse() {
    if is_orphan() {
        error::end_process("terminating connection due to unexpected postmaster exit");
    }
}
