//! What was computed of values that come again and again, lent to one call of a function at a time.

use std::cell::{Cell, UnsafeCell};

/// Entries direct-mapped by their keys, with the one of the call before at hand.
pub struct Lent<K: 'static, V: 'static, const N: usize> {
    entries: [UnsafeCell<(K, V)>; N],
    recent: Cell<usize>,
}

// SAFETY: as of `Local`.
unsafe impl<K, V, const N: usize> Sync for Lent<K, V, N> {}

impl<K: PartialEq, V, const N: usize> Lent<K, V, N> {
    /// Entries that no key matches.
    pub const fn new(blank: [UnsafeCell<(K, V)>; N]) -> Self {
        Self {
            entries: blank,
            recent: Cell::new(0),
        }
    }

    /// The value of a key, which `make` computes unless it is there; an error in it leaves nothing behind. It is lent
    /// until the next call: whatever needs two, or one for longer, copies.
    #[inline]
    pub fn get(
        &'static self,
        key: K,
        hash: impl Fn(&K) -> usize,
        make: impl FnOnce(&K) -> V,
    ) -> &'static V {
        // SAFETY: a backend is one thread, and a function of SQL holds one value at a time.
        let (known, value) = unsafe { &*self.entries[self.recent.get() % N].get() };
        if *known == key {
            return value;
        }
        self.other(key, hash, make)
    }

    /// The value of another key than that of the call before.
    #[cold]
    fn other(
        &'static self,
        key: K,
        hash: impl Fn(&K) -> usize,
        make: impl FnOnce(&K) -> V,
    ) -> &'static V {
        let place = hash(&key) % N;
        let entry = self.entries[place].get();
        // SAFETY: as above; what was lent of this entry before is not used any more.
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
