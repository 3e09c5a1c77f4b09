//! Orphans: processes that outlive their postmaster, as after `kill -9` of it. Tools for failover take a server whose
//! postmaster is gone for one that is off, and let another server issue what the orphan would.

use crate::pg::backend::local::Local;
use crate::pg::error;
use crate::pg::ports::PostmasterIsAliveInternal;
use pgrx::pg_sys;
use std::ffi::c_int;

/// Whether the postmaster of this process has ended. A system call.
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

/// What this process does when it ends as an orphan.
static ON_END: Local<Option<fn()>> = Local::new(None);

/// Runs `work` when this process ends as an orphan. **For a worker**, once.
pub fn on_end(work: fn()) {
    ON_END.set(Some(work));
    // SAFETY: a function of this library, which lives as long as the process.
    unsafe { pg_sys::before_shmem_exit(Some(ending), 0_usize.into()) };
}

unsafe extern "C-unwind" fn ending(_: c_int, _: pg_sys::Datum) {
    if let Some(work) = ON_END.get()
        && is_orphan()
    {
        work();
    }
}
