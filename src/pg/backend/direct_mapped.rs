//! A direct-mapped cache of values that are computed from their keys.

use std::cell::{Cell, UnsafeCell};

/// `N` entries, with that of the last call at hand.
pub struct DirectMapped<K: 'static, V: 'static, const N: usize> {
    entries: [UnsafeCell<(K, V)>; N],
    recent: Cell<usize>,
}

// SAFETY: as of `Local`.
unsafe impl<K, V, const N: usize> Sync for DirectMapped<K, V, N> {}

impl<K: PartialEq, V, const N: usize> DirectMapped<K, V, N> {
    /// Returns a cache of entries that no key matches.
    pub const fn new(blank: [UnsafeCell<(K, V)>; N]) -> Self {
        Self {
            entries: blank,
            recent: Cell::new(0),
        }
    }

    /// Returns the value of a key, which `make` computes unless it is cached; an error in `make` changes nothing. The
    /// reference is valid until the next call: a caller that needs two values, or one for longer, copies.
    #[inline]
    pub fn get(
        &'static self,
        key: K,
        hash: impl Fn(&K) -> usize,
        make: impl FnOnce(&K) -> V,
    ) -> &'static V {
        // SAFETY: a backend is one thread, and no caller has a reference from an earlier call.
        let (cached, value) = unsafe { &*self.entries[self.recent.get() % N].get() };
        if *cached == key {
            return value;
        }
        self.get_other(key, hash, make)
    }

    /// Returns the value of another key than that of the last call.
    #[cold]
    fn get_other(
        &'static self,
        key: K,
        hash: impl Fn(&K) -> usize,
        make: impl FnOnce(&K) -> V,
    ) -> &'static V {
        let place = hash(&key) % N;
        let entry = self.entries[place].get();
        // SAFETY: as above.
        unsafe {
            if (*entry).0 != key {
                let value = make(&key);
                *entry = (key, value);
            }
            self.recent.set(place);
            &(*entry).1
        }
    }
}
