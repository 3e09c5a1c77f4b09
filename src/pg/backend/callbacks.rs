//! Functions that want to hear of something, in the order in which they asked.

use super::local::Local;

/// Up to eight functions. Each asks once, when the library is loaded.
pub struct Callbacks<F>([Local<Option<F>>; 8]);

impl<F: Copy> Callbacks<F> {
    pub const fn new() -> Self {
        Self([const { Local::new(None) }; 8])
    }

    /// Adds a function.
    pub fn add(&self, callback: F) {
        let free = self.0.iter().find(|place| place.get().is_none());
        debug_assert!(free.is_some(), "more callbacks than places");
        if let Some(place) = free {
            place.set(Some(callback));
        }
    }

    /// Every function.
    pub fn all(&self) -> impl Iterator<Item = F> {
        self.0.iter().map_while(Local::get)
    }
}
