//! State of this backend. A backend is one thread, so it needs no lock.

use std::cell::{Cell, OnceCell};

/// A value that only this process reads and writes.
pub struct Local<T>(Cell<T>);

// SAFETY: a backend is one thread; the postmaster and every process that it forks have a copy each.
unsafe impl<T> Sync for Local<T> {}

impl<T> Local<T> {
    pub const fn new(value: T) -> Self {
        Self(Cell::new(value))
    }

    pub fn set(&self, value: T) {
        self.0.set(value);
    }
}

impl<T: Copy> Local<T> {
    #[inline]
    pub fn get(&self) -> T {
        self.0.get()
    }
}

/// A value that this process makes once, and lends from then on.
pub struct Once<T>(OnceCell<T>);

// SAFETY: as of `Local`.
unsafe impl<T> Sync for Once<T> {}

impl<T> Once<T> {
    pub const fn new() -> Self {
        Self(OnceCell::new())
    }

    /// The value, which `make` makes on the first call. An error in it leaves nothing behind.
    #[inline]
    pub fn get_or(&self, make: impl FnOnce() -> T) -> &T {
        match self.0.get() {
            Some(value) => value,
            None => self.fill(make()),
        }
    }

    /// If two have made it, one within the other, the first one counts.
    #[cold]
    fn fill(&self, value: T) -> &T {
        self.0.get_or_init(|| value)
    }
}
