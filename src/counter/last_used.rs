//! Per-session entries of relations, of which the last call's is at hand.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// An entry for each oid, which lasts as long as the session. Mutable parts of an entry are [`Local`](crate::pg::backend::local::Local).
pub struct LastUsed<T: 'static> {
    nothing: &'static T,
    recent: Cell<&'static T>,
    all: RefCell<BTreeMap<u32, &'static T>>,
}

// SAFETY: as for `Local`.
unsafe impl<T> Sync for LastUsed<T> {}

impl<T> LastUsed<T> {
    /// Returns an empty list of entries; `nothing` stands for a missing one.
    pub const fn new(nothing: &'static T) -> Self {
        Self {
            nothing,
            recent: Cell::new(nothing),
            all: RefCell::new(BTreeMap::new()),
        }
    }

    /// Returns the entry of the last call, or `nothing`.
    #[inline]
    pub fn recent(&self) -> &'static T {
        self.recent.get()
    }

    /// Sets the entry that [`LastUsed::recent`] returns.
    pub fn set_recent(&self, entry: &'static T) {
        self.recent.set(entry);
    }

    /// Makes [`LastUsed::recent`] return `nothing`.
    pub fn forget_recent(&self) {
        self.recent.set(self.nothing);
    }

    /// Returns the entry of a relation.
    pub fn get(&self, relation: u32) -> Option<&'static T> {
        self.all.borrow().get(&relation).copied()
    }

    /// Adds or replaces the entry of a relation; references to a replaced one stay valid.
    pub fn put(&self, relation: u32, entry: T) -> &'static T {
        let entry: &T = Box::leak(Box::new(entry));
        self.all.borrow_mut().insert(relation, entry);
        entry
    }

    /// Calls `work` with each entry.
    pub fn each(&self, work: impl FnMut(&'static T)) {
        self.all.borrow().values().copied().for_each(work);
    }
}
