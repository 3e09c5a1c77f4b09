//! What a session knows of relations that it has used, with the one of the call before at hand.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// An entry for each oid, which lasts as long as the session. What changes in an entry is a [`super::local::Local`].
pub struct LastUsed<T: 'static> {
    nothing: &'static T,
    recent: Cell<&'static T>,
    all: RefCell<BTreeMap<u32, &'static T>>,
}

// SAFETY: as of `Local`.
unsafe impl<T> Sync for LastUsed<T> {}

impl<T> LastUsed<T> {
    /// Nothing is known yet, which the entry `nothing` says.
    pub const fn new(nothing: &'static T) -> Self {
        Self {
            nothing,
            recent: Cell::new(nothing),
            all: RefCell::new(BTreeMap::new()),
        }
    }

    /// The entry of the call before.
    #[inline]
    pub fn recent(&self) -> &'static T {
        self.recent.get()
    }

    /// The entry of the next call.
    pub fn set_recent(&self, entry: &'static T) {
        self.recent.set(entry);
    }

    /// No entry is at hand.
    pub fn forget_recent(&self) {
        self.recent.set(self.nothing);
    }

    /// The entry of a relation.
    pub fn get(&self, relation: u32) -> Option<&'static T> {
        self.all.borrow().get(&relation).copied()
    }

    /// Makes the entry of a relation, or puts another in its place; a caller that has the old one keeps that.
    pub fn put(&self, relation: u32, entry: T) -> &'static T {
        let entry: &T = Box::leak(Box::new(entry));
        self.all.borrow_mut().insert(relation, entry);
        entry
    }

    /// Every entry.
    pub fn each(&self, work: impl FnMut(&'static T)) {
        self.all.borrow().values().copied().for_each(work);
    }
}
