//! Keys that this session used, ready for use.

use super::errors::OrReport;
use mint_core::Concealer;
use std::ptr;

const KEYS: usize = 4;
const LONGEST: usize = 32;

/// A key and what was computed of it.
struct Known {
    key: [u8; LONGEST],
    length: usize,
    concealer: Concealer,
}

/// Direct-mapped by the key.
static mut KNOWN: [Option<Known>; KEYS] = [const { None }; KEYS];

/// The concealer of a key. Lent until the next call.
#[inline]
pub fn concealer(key: &[u8]) -> &'static Concealer {
    let place = usize::from(key.first().copied().unwrap_or(0)) % KEYS;
    // SAFETY: a backend is one thread, and a function of SQL holds one concealer at a time.
    let slot = unsafe { &mut (*ptr::addr_of_mut!(KNOWN))[place] };
    if slot
        .as_ref()
        .is_none_or(|known| known.key.get(..known.length) != Some(key))
    {
        *slot = None;
    }
    &slot.get_or_insert_with(|| learn(key)).concealer
}

#[cold]
fn learn(key: &[u8]) -> Known {
    let concealer = Concealer::new(key).or_report();
    let mut copy = [0; LONGEST];
    copy[..key.len()].copy_from_slice(key);
    Known {
        key: copy,
        length: key.len(),
        concealer,
    }
}
