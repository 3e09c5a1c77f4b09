//! Settings of the size of shared memory, which is created once, at its first use. A change takes effect at the next
//! start. Until then, `mint.health()` reports it.

use crate::pg::shmem::rendezvous::size_in_use;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting};
use std::ffi::CStr;

/// A setting of the size of a segment of shared memory.
pub struct SizeSetting {
    name: &'static CStr,
    /// The name of the segment.
    pub(super) segment: &'static CStr,
    value: GucSetting<i32>,
}

impl SizeSetting {
    /// Returns a setting by its name, the name of its segment, and its default.
    pub const fn new(name: &'static CStr, segment: &'static CStr, default: i32) -> Self {
        Self {
            name,
            segment,
            value: GucSetting::<i32>::new(default),
        }
    }

    /// Defines the setting. Called once, when the library is loaded.
    pub fn define(
        &'static self,
        short_description: &'static CStr,
        long_description: &'static CStr,
        min: i32,
        max: i32,
        flags: GucFlags,
    ) {
        GucRegistry::define_int_guc(
            self.name,
            short_description,
            long_description,
            &self.value,
            min,
            max,
            GucContext::Sighup,
            flags,
        );
    }

    /// Returns the value.
    pub fn value(&self) -> i32 {
        self.value.get()
    }

    /// Returns the value as the size of an array.
    pub fn count(&self) -> usize {
        self.value().unsigned_abs() as usize
    }

    /// Returns the name of the setting, if the memory was made with another value of it.
    pub fn waits_for_restart(&self) -> Option<&'static CStr> {
        let in_use = size_in_use(self.segment)?;
        (in_use != self.value()).then_some(self.name)
    }
}
