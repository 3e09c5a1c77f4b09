//! Random choices that a seed repeats.

use crate::report::say;
use std::time::{SystemTime, UNIX_EPOCH};

/// Marsaglia's xorshift64.
pub struct Rng(u64);

impl Rng {
    /// Starts from `MINT_SEED`, or else from the clock. Says the seed, so that a failed run can be repeated.
    #[must_use]
    pub fn from_environment() -> Self {
        let given = std::env::var("MINT_SEED")
            .ok()
            .and_then(|text| text.parse().ok());
        let seed = given.unwrap_or_else(|| {
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(1, |age| age.as_secs())
        });
        say(format!("MINT_SEED={seed}"));
        Self::seeded(seed)
    }

    /// Starts from a seed: the same seed gives the same choices.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        // Spreads the bits of small seeds, which differ in the last few only.
        Self(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % end
    }

    /// Returns one of the choices.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Puts the items into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for place in (1..items.len()).rev() {
            items.swap(place, self.below(place + 1));
        }
    }
}
