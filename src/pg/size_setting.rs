//! Settings of the size of shared memory, which is created once, at its first use: a later change counts from the next
//! start of the server, and the session that makes it is told so.

use crate::pg::backend::local::Local;
use crate::pg::error::{LogLevel, tell};
use crate::pg::shmem::rendezvous::{compare, size_in_use};
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, pg_guard, pg_sys};
use std::ffi::{CStr, c_int, c_void};

/// A setting of the size of a segment of shared memory.
pub trait SizeSetting {
    /// The name of the setting.
    const NAME: &'static CStr;
    /// The name of the segment.
    const SEGMENT: &'static CStr;

    /// Returns the value.
    fn setting() -> &'static GucSetting<i32>;
}

/// Whether the library is loaded: until then the server sets what its files say, and nothing is changed.
static LOADED: Local<bool> = Local::new(false);

/// Defines a setting. Called once, when the library is loaded.
pub fn define<T: SizeSetting>(
    short_description: &'static CStr,
    long_description: &'static CStr,
    min: i32,
    max: i32,
    flags: GucFlags,
) {
    // SAFETY: the hook is of the type that the server calls.
    unsafe {
        GucRegistry::define_int_guc_with_hooks(
            T::NAME,
            short_description,
            long_description,
            T::setting(),
            min,
            max,
            GucContext::Sighup,
            flags,
            Some(check::<T>),
            None,
            None,
        );
    }
}

/// Called once, when all settings are defined.
pub fn loaded() {
    LOADED.set(true);
}

/// Returns the value of a setting.
pub fn value<T: SizeSetting>() -> i32 {
    T::setting().get()
}

/// Returns the name of a setting, if the memory was made with another value of it.
pub fn waits_for_restart<T: SizeSetting>() -> Option<&'static CStr> {
    let in_use = size_in_use(T::SEGMENT)?;
    (in_use != value::<T>()).then_some(T::NAME)
}

/// Check hook: every value is valid. Warns in an ALTER SYSTEM whose value is not that of the memory, and writes to the
/// log when a changed file is read again: in the first process that does so with a place in shared memory, as the
/// postmaster and the one that writes the log have none. A parallel worker takes over what its leader has read.
#[pg_guard]
unsafe extern "C-unwind" fn check<T: SizeSetting>(
    value: *mut c_int,
    _extra: *mut *mut c_void,
    source: pg_sys::GucSource::Type,
) -> bool {
    // The default counts when a line was removed from the file.
    let is_of_file = [
        pg_sys::GucSource::PGC_S_FILE,
        pg_sys::GucSource::PGC_S_DEFAULT,
    ]
    .contains(&source);
    // SAFETY: reads variables of the server, which passes the address of a number.
    let (value, in_statement, is_reader) = unsafe {
        let in_statement = !pg_sys::debug_query_string.is_null();
        let is_reader = !pg_sys::MyProc.is_null() && !pg_sys::InitializingParallelWorker;
        (*value, in_statement, is_reader)
    };
    if LOADED.get() && is_of_file && is_reader {
        let resize = compare(T::SEGMENT, value, !in_statement);
        if in_statement && resize.differs {
            say(LogLevel::Warning, T::NAME);
        } else if !in_statement && resize.is_news {
            say(LogLevel::Log, T::NAME);
        }
    }
    true
}

#[track_caller]
fn say(level: LogLevel, name: &CStr) {
    let name = name.to_string_lossy();
    tell(
        level,
        format!("parameter \"{name}\" takes effect at the next start of the server"),
        "Shared memory is created at the first use after a start, and keeps its size.",
        "Restart the server.",
    );
}
