//! Settings of the size of shared memory, which is made once: a change counts from the next start of the server, and
//! the session that makes it is told so.

use crate::pg::backend::local::Local;
use crate::pg::error::{LogLevel, tell};
use crate::pg::shmem::is_made;
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

/// Check hook: every value is valid. Tells who changes the file by ALTER SYSTEM, and writes to the log when the server
/// reads a changed file again; of the processes that do, only the postmaster.
#[pg_guard]
unsafe extern "C-unwind" fn check<T: SizeSetting>(
    value: *mut c_int,
    _extra: *mut *mut c_void,
    source: pg_sys::GucSource::Type,
) -> bool {
    // SAFETY: the server passes the address of a number.
    let is_change = unsafe { *value } != T::setting().get();
    if is_change && LOADED.get() && source == pg_sys::GucSource::PGC_S_FILE {
        // SAFETY: reads variables of the server.
        let (in_statement, in_postmaster) = unsafe {
            let in_statement = !pg_sys::debug_query_string.is_null();
            (in_statement, !pg_sys::IsUnderPostmaster)
        };
        if in_postmaster {
            say(LogLevel::Log, T::NAME);
        } else if in_statement && is_made(T::SEGMENT) {
            say(LogLevel::Warning, T::NAME);
        }
    }
    true
}

fn say(level: LogLevel, name: &CStr) {
    let name = name.to_string_lossy();
    tell(
        level,
        format!("parameter \"{name}\" takes effect at the next start of the server"),
        "Shared memory is made at the first use after a start, and keeps its size.",
    );
}
