//! Settings of the size of shared memory, which is created once, at its first use: a later change counts from the next
//! start of the server, as `mint.health()` says until then.

use crate::pg::shmem::rendezvous::size_in_use;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting};
use std::ffi::CStr;

/// A setting of the size of a segment of shared memory.
pub trait SizeSetting {
    /// The name of the setting.
    const NAME: &'static CStr;
    /// The name of the segment.
    const SEGMENT: &'static CStr;

    /// Returns the value.
    fn setting() -> &'static GucSetting<i32>;
}

/// Defines a setting. Called once, when the library is loaded.
pub fn define<T: SizeSetting>(
    short_description: &'static CStr,
    long_description: &'static CStr,
    min: i32,
    max: i32,
    flags: GucFlags,
) {
    GucRegistry::define_int_guc(
        T::NAME,
        short_description,
        long_description,
        T::setting(),
        min,
        max,
        GucContext::Sighup,
        flags,
    );
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
