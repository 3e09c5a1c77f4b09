//! A text in shared memory that one worker writes and sessions read.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering, fence};

/// A text of at most `N` bytes, empty in zeroed memory. One process writes it at a time, while `edition` is odd.
#[repr(C)]
pub struct Note<const N: usize> {
    edition: AtomicU32,
    length: AtomicU32,
    bytes: [AtomicU8; N],
}

impl<const N: usize> Note<N> {
    /// Returns the text, if there is one; none also if the worker takes long to write it.
    pub fn get(&self) -> Option<String> {
        for _ in 0..1_000 {
            let edition = self.edition.load(Ordering::Acquire);
            let length = self.length.load(Ordering::Relaxed) as usize;
            let bytes = self.bytes.iter().take(length);
            let bytes: Vec<u8> = bytes.map(|byte| byte.load(Ordering::Relaxed)).collect();
            fence(Ordering::Acquire);
            if edition & 1 == 0 && self.edition.load(Ordering::Relaxed) == edition {
                let text = || String::from_utf8_lossy(&bytes).into_owned();
                return (!bytes.is_empty()).then(text);
            }
            std::thread::yield_now();
            pgrx::check_for_interrupts!();
        }
        None
    }

    /// Sets the text, cut off to the room. **For the worker.**
    pub fn set(&self, text: &str) {
        let length = text.floor_char_boundary(N);
        // A worker that ended in the middle of this has left the edition odd.
        let edition = self.edition.load(Ordering::Relaxed) | 1;
        self.edition.store(edition, Ordering::Relaxed);
        fence(Ordering::Release);
        for (cell, byte) in self.bytes.iter().zip(text[..length].bytes()) {
            cell.store(byte, Ordering::Relaxed);
        }
        self.length.store(length as u32, Ordering::Relaxed);
        self.edition
            .store(edition.wrapping_add(1), Ordering::Release);
    }
}
