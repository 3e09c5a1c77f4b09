//! Concealers of the keys that this session has used.

use crate::pg::backend::local::Cached;
use crate::pg::error::OrReport;
use mint_core::Concealer;
use std::ops::Deref;
use std::rc::Rc;

/// A key, and the concealer that was computed from it.
pub struct Entry {
    key: Vec<u8>,
    concealer: Concealer,
}

impl Deref for Entry {
    type Target = Concealer;

    #[inline]
    fn deref(&self) -> &Concealer {
        &self.concealer
    }
}

/// Returns the concealer of a key.
#[inline]
pub fn concealer(key: &[u8]) -> Rc<Entry> {
    /// Direct-mapped by the first byte of the key.
    static ENTRIES: [Cached<Entry>; 4] = [const { Cached::new() }; 4];
    let index = usize::from(key.first().copied().unwrap_or(0)) % ENTRIES.len();
    ENTRIES[index].get_matching(|entry| entry.key == key, || compute(key))
}

#[cold]
fn compute(key: &[u8]) -> Entry {
    Entry {
        concealer: Concealer::new(key).or_report(),
        key: key.to_owned(),
    }
}
