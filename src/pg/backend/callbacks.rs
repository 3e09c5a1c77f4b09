//! Lists of callbacks, called in the order in which they were added.

use super::local::Local;
use crate::pg::error::report;
use pgrx::PgSqlErrorCode as Code;

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
