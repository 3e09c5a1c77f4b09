//! Lists of callbacks, called in the order in which they were added.

use super::local::Local;

/// Up to eight functions, each added once when the library is loaded.
pub struct Callbacks<F>([Local<Option<F>>; 8]);

impl<F: Copy> Callbacks<F> {
    pub const fn new() -> Self {
        Self([const { Local::new(None) }; 8])
    }

    /// Adds a function.
    pub fn add(&self, callback: F) {
        let free = self.0.iter().find(|slot| slot.get().is_none());
        debug_assert!(free.is_some(), "more callbacks than slots");
        if let Some(slot) = free {
            slot.set(Some(callback));
        }
    }

    /// Returns every function.
    pub fn all(&self) -> impl Iterator<Item = F> {
        self.0.iter().map_while(Local::get)
    }
}
