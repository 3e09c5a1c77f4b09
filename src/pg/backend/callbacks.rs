//! Lists of callbacks, called in the order in which they were added, and callbacks at the end of this process.

use super::local::Local;
use crate::pg::error::report;
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::ffi::c_int;

/// Up to sixteen functions, each added once when the library is loaded.
pub struct Callbacks<F>([Local<Option<F>>; 16]);

impl<F: Copy> Callbacks<F> {
    pub const fn new() -> Self {
        Self([const { Local::new(None) }; 16])
    }

    /// Adds a function. The library is not loaded if there is no place for it.
    pub fn add(&self, callback: F) {
        let Some(free) = self.0.iter().find(|slot| slot.get().is_none()) else {
            report(
                Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
                "out of callback slots",
            )
            .raise()
        };
        free.set(Some(callback));
    }

    /// Returns every function.
    pub fn all(&self) -> impl Iterator<Item = F> {
        self.0.iter().map_while(Local::get)
    }
}

/// Runs `work` when this process ends, while it still has shared memory.
pub fn on_exit(work: fn()) {
    // SAFETY: a function of this library, which lives as long as the process.
    unsafe { pg_sys::before_shmem_exit(Some(run), (work as usize).into()) };
}

/// Runs the work of [`on_exit`], as its callback.
unsafe extern "C-unwind" fn run(_: c_int, work: pg_sys::Datum) {
    // SAFETY: the address of a function, as it was registered.
    let work: fn() = unsafe { std::mem::transmute(work.value()) };
    work();
}
