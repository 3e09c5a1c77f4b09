//! Random bits: the CSPRNG of a process, ChaCha with 12 rounds, seeded from the operating system.
//!
//! `draw_words` and `fill` stay in this crate: a caller compiled for size would make the loops of ChaCha slow.

use rand::rngs::{ChaCha12Rng, SysError, SysRng};
use rand::{Rng, RngExt, SeedableRng};

/// A generator of random bits.
#[derive(Debug)]
pub struct RandomBits {
    cipher: ChaCha12Rng,
    /// Words that were drawn at once.
    words: [u64; 32],
    /// The number of words that are used.
    used: usize,
}

impl RandomBits {
    /// Returns a generator with a seed of the operating system.
    ///
    /// # Errors
    /// The operating system has no random bytes.
    pub fn seeded() -> Result<Self, SysError> {
        Ok(Self {
            cipher: ChaCha12Rng::try_from_rng(&mut SysRng)?,
            words: [0; 32],
            used: usize::MAX,
        })
    }

    /// Returns the next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        if let Some(&word) = self.words.get(self.used) {
            self.used += 1;
            return word;
        }
        self.draw_words()
    }

    /// Draws words, and returns the first.
    #[inline(never)]
    fn draw_words(&mut self) -> u64 {
        self.cipher.fill(&mut self.words);
        self.used = 1;
        self.words[0]
    }

    /// Fills `bytes`.
    #[inline(never)]
    pub fn fill(&mut self, bytes: &mut [u8]) {
        self.cipher.fill_bytes(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_word_comes_twice() -> Result<(), SysError> {
        let mut both = [RandomBits::seeded()?, RandomBits::seeded()?];
        let words: HashSet<u64> = (0..2_000).map(|i| both[i % 2].bits()).collect();
        assert_eq!(words.len(), 2_000);
        Ok(())
    }
}
