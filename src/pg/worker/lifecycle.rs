//! What every background worker of ours does when it begins, goes on and ends.

use pgrx::bgworkers::BackgroundWorker;
use pgrx::pg_sys;

/// Begins, connected to a database: from now on names mean the server's own, and `on_exit` is called when the process
/// ends, as itself or by an error. Returns its number.
pub fn begin(on_exit: unsafe extern "C-unwind" fn(std::ffi::c_int, pg_sys::Datum)) -> i32 {
    // SAFETY: strings and a function of ours; reads a plain number.
    unsafe {
        pg_sys::SetConfigOption(
            c"search_path".as_ptr(),
            crate::pg::catalog::privilege::SEARCH_PATH.as_ptr(),
            pg_sys::GucContext::PGC_SUSET,
            pg_sys::GucSource::PGC_S_OVERRIDE,
        );
        pg_sys::before_shmem_exit(Some(on_exit), 0_usize.into());
        pg_sys::MyProcPid
    }
}

/// Whether the server wants the worker to end.
pub fn is_asked_to_end() -> bool {
    // SAFETY: a flag that the handler of a signal sets.
    unsafe { (&raw const pg_sys::ShutdownRequestPending).read_volatile() != 0 }
}

/// Reads the settings again, if they have changed. Between transactions only.
pub fn reload() {
    if BackgroundWorker::sighup_received() {
        // SAFETY: as the server's own workers do.
        unsafe { pg_sys::ProcessConfigFile(pg_sys::GucContext::PGC_SIGHUP) };
    }
}
