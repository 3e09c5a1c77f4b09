//! State of this backend. A backend is one thread, so it needs no lock.

use std::cell::{Cell, OnceCell, RefCell, UnsafeCell};
use std::rc::Rc;

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

    /// Sets it, and returns what it was.
    pub fn replace(&self, value: T) -> T {
        self.0.replace(value)
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

/// A value that this process makes when it needs it, and makes anew once it no longer holds.
pub struct Cached<T>(RefCell<Option<Rc<T>>>);

// SAFETY: as of `Local`.
unsafe impl<T> Sync for Cached<T> {}

impl<T> Cached<T> {
    pub const fn new() -> Self {
        Self(RefCell::new(None))
    }

    /// The value, which `make` makes if there is none. An error in it leaves nothing behind.
    pub fn get_or(&self, make: impl FnOnce() -> T) -> Rc<T> {
        let known = self.0.borrow().clone();
        known.unwrap_or_else(|| {
            let value = Rc::new(make());
            self.0.replace(Some(Rc::clone(&value)));
            value
        })
    }

    /// The value, if it is that one; else the one that `make` makes, which takes its place.
    pub fn get_that(&self, is_it: impl FnOnce(&T) -> bool, make: impl FnOnce() -> T) -> Rc<T> {
        let known = self
            .0
            .borrow()
            .as_ref()
            .filter(|known| is_it(known))
            .cloned();
        known.unwrap_or_else(|| {
            self.clear();
            self.get_or(make)
        })
    }

    /// Forgets it.
    pub fn clear(&self) {
        self.0.replace(None);
    }
}

/// A value that this process changes in place.
pub struct InPlace<T>(UnsafeCell<T>);

// SAFETY: as of `Local`.
unsafe impl<T> Sync for InPlace<T> {}

impl<T> InPlace<T> {
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Lends the value.
    ///
    /// # Safety
    /// `work` does not come back here, not even by a callback of the server.
    #[inline]
    pub unsafe fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: a backend is one thread, and as the caller says nothing else of it is lent.
        work(unsafe { &mut *self.0.get() })
    }
}
