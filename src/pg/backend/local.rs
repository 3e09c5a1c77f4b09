//! State of one backend. A backend is one thread, so no lock is needed.

use std::cell::{Cell, OnceCell, RefCell, UnsafeCell};
use std::rc::Rc;

/// A value of this process.
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

    /// Sets the value, and returns the old one.
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

/// A value that this process makes once.
pub struct LocalOnce<T>(OnceCell<T>);

// SAFETY: as for `Local`.
unsafe impl<T> Sync for LocalOnce<T> {}

impl<T> LocalOnce<T> {
    pub const fn new() -> Self {
        Self(OnceCell::new())
    }

    /// Returns the value, which `make` makes on the first call. If `make` fails, the value stays unset.
    #[inline]
    pub fn get_or(&self, make: impl FnOnce() -> T) -> &T {
        match self.0.get() {
            Some(value) => value,
            None => self.fill(make()),
        }
    }

    /// Returns the value, if it was made.
    pub fn get(&self) -> Option<&T> {
        self.0.get()
    }

    /// Keeps the first value if `make` itself has made one.
    #[cold]
    fn fill(&self, value: T) -> &T {
        self.0.get_or_init(|| value)
    }
}

/// A value that this process makes when needed, until it is cleared.
pub struct Cached<T>(RefCell<Option<Rc<T>>>);

// SAFETY: as for `Local`.
unsafe impl<T> Sync for Cached<T> {}

impl<T> Cached<T> {
    pub const fn new() -> Self {
        Self(RefCell::new(None))
    }

    /// Returns the value, which `make` makes if there is none. An error in `make` changes nothing.
    pub fn get_or(&self, make: impl FnOnce() -> T) -> Rc<T> {
        let known = self.0.borrow().clone();
        known.unwrap_or_else(|| {
            let value = Rc::new(make());
            self.0.replace(Some(Rc::clone(&value)));
            value
        })
    }

    /// Returns the value if it `matches`; otherwise replaces it by that of `make`.
    pub fn get_matching(
        &self,
        matches: impl FnOnce(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> Rc<T> {
        let known = self
            .0
            .borrow()
            .as_ref()
            .filter(|known| matches(known))
            .cloned();
        known.unwrap_or_else(|| {
            self.clear();
            self.get_or(make)
        })
    }

    /// Removes the value.
    pub fn clear(&self) {
        self.0.replace(None);
    }
}

/// A value that this process changes in place.
pub struct LocalMut<T>(UnsafeCell<T>);

// SAFETY: as for `Local`.
unsafe impl<T> Sync for LocalMut<T> {}

impl<T> LocalMut<T> {
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Runs `work` on the value.
    ///
    /// # Safety
    /// `work` does not call this again, not even through a callback of the server.
    #[inline]
    pub unsafe fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: a backend is one thread, and as the caller says there is no other reference.
        work(unsafe { &mut *self.0.get() })
    }

    /// Returns the value in place.
    ///
    /// # Safety
    /// Nothing calls [`LocalMut::with`] while the reference lives, not even through a callback of the server.
    #[inline]
    pub unsafe fn get(&self) -> &T {
        // SAFETY: as the caller says.
        unsafe { &*self.0.get() }
    }
}
