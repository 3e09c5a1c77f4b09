//! Chance that can be repeated.

use std::time::{SystemTime, UNIX_EPOCH};

/// Marsaglia's xorshift64.
pub struct Dice(u64);

impl Dice {
    /// Those of `TORTURE_SEED`, or new ones, said out loud.
    #[must_use]
    pub fn thrown() -> Self {
        let given = std::env::var("TORTURE_SEED")
            .ok()
            .and_then(|text| text.parse().ok());
        let seed = given.unwrap_or_else(|| {
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(1, |age| age.as_secs())
        });
        println!("TORTURE_SEED={seed}");
        Self::seeded(seed)
    }

    /// The same ones for the same seed.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        // Seeds are small and alike.
        Self(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % end
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}
