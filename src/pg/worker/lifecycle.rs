//! The life of the background workers: their start, changed settings, and their end.

use crate::pg::backend::local::Local;
use crate::pg::catalog::privilege::SEARCH_PATH;
use crate::pg::worker::request::Requests;
use pgrx::bgworkers::BackgroundWorker;
use pgrx::pg_sys;
use std::ffi::c_int;

/// The requests that this process serves.
static SERVED: Local<Option<&'static Requests>> = Local::new(None);

/// Makes this process, which is connected to a database, the worker that serves these requests until it ends, as itself
/// or by an error. From now on names mean the server's own. False when the requests have a worker already.
pub fn begin(requests: &'static Requests) -> bool {
    // SAFETY: strings and a function of this library, which live as long as the process.
    unsafe {
        pg_sys::SetConfigOption(
            c"search_path".as_ptr(),
            SEARCH_PATH.as_ptr(),
            pg_sys::GucContext::PGC_SUSET,
            pg_sys::GucSource::PGC_S_OVERRIDE,
        );
        SERVED.set(Some(requests));
        pg_sys::before_shmem_exit(Some(on_exit), 0_usize.into());
    }
    requests.enter()
}

unsafe extern "C-unwind" fn on_exit(_: c_int, _: pg_sys::Datum) {
    if let Some(requests) = SERVED.get() {
        requests.leave();
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
