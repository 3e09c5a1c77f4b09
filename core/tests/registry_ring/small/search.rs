//! The search through all worlds, the nearest first.

use crate::small::Small;
use crate::small::term::Term;
use crate::small::world::World;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};

/// The result of a search.
pub struct Found {
    /// The number of worlds that it has seen.
    pub worlds: usize,
    /// The steps to an overlap.
    pub overlap: Option<Vec<String>>,
}

/// Two sums of 64 bits.
struct Print(u64, u64);

impl Hasher for Print {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        let mix = |sum: u64, factor: u64| {
            let product = u128::from(sum ^ word).wrapping_mul(u128::from(factor));
            (product as u64 ^ (product >> 64) as u64).wrapping_add(factor)
        };
        self.0 = mix(self.0, 0x9E37_79B9_7F4A_7C15);
        self.1 = mix(self.1, 0xD6E8_FEB8_6659_FD93).rotate_left(23);
    }

    fn write_u8(&mut self, word: u8) {
        self.write_u64(u64::from(word) + 1);
    }

    fn write_i16(&mut self, word: i16) {
        self.write_u64(u64::from(word.cast_unsigned()) + 1);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64 + 1);
    }

    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64 + 1);
    }
}

fn print(world: &World) -> u128 {
    let mut print = Print(1, 2);
    world.hash(&mut print);
    u128::from(print.0) << 64 | u128::from(print.1)
}

/// Searches all worlds, or up to an overlap.
pub fn search(small: &Small) -> Found {
    let first = World::new().canonical(small);
    let mut seen = HashSet::from([print(&first)]);
    // Worlds, and where they come from: the level before.
    let mut levels: Vec<Vec<(World, u32)>> = vec![vec![(first, 0)]];
    let mut next: Vec<(World, u32)> = Vec::new();
    loop {
        let level = levels.last().unwrap();
        for (from, (world, _)) in level.iter().enumerate() {
            for (_, step) in world.next(small) {
                if step == *world {
                    continue;
                }
                let step = step.canonical(small);
                if step.is_overlap {
                    let mut steps = path(small, &levels, from);
                    steps.push(words(small, world, print(&step)));
                    return Found {
                        worlds: seen.len(),
                        overlap: Some(steps),
                    };
                }
                if seen.insert(print(&step)) {
                    next.push((step, from as u32));
                }
            }
        }
        if next.is_empty() {
            return Found {
                worlds: seen.len(),
                overlap: None,
            };
        }
        levels.push(std::mem::take(&mut next));
    }
}

fn path(small: &Small, levels: &[Vec<(World, u32)>], last: usize) -> Vec<String> {
    let mut steps = Vec::new();
    let mut index = last;
    for pair in levels.windows(2).rev() {
        let (world, from) = pair[1][index];
        steps.push(words(small, &pair[0][from as usize].0, print(&world)));
        index = from as usize;
    }
    steps.reverse();
    steps
}

/// The step from a world to another one.
fn words(small: &Small, from: &World, to: u128) -> String {
    let told = Small {
        words: true,
        ..small.clone()
    };
    let mut steps = from.next(&told).into_iter();
    let step = steps.find(|(_, world)| print(&world.canonical(small)) == to);
    step.map_or_else(String::new, |(words, world)| {
        let world = world.canonical(small);
        let terms = |terms: &[Term]| {
            let some = terms.iter().filter(|term| term.exists());
            some.map(|term| format!("{}:{}..{}", term.number, term.from, term.until))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let claims: Vec<_> = world.claims.iter().map(|claims| terms(claims)).collect();
        format!(
            "{words}; rows {}; claims {}",
            terms(&world.tables.rows),
            claims.join("/")
        )
    })
}
