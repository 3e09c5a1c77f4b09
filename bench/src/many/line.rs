//! A simulation of one word of memory that many cores change by compare-and-swap.
//!
//! A core mints an id in private work, and then reads the word, computes the next id and swaps it in. The line that the
//! word is in moves from core to core, one move after the other; a swap fails if another core's came between.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The times of the simulation, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The work of a core for each id besides the word.
    pub private: f64,
    /// The clock and the next id, between reading and swapping.
    pub between: f64,
    /// A move of the line to another core.
    pub transfer: f64,
    /// An id that the session took earlier.
    pub cached: f64,
}

/// An access of a core that has the line already.
const LOCAL: f64 = 2.0;

/// The next access of a core.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Read,
    Swap { seen: u64 },
}

/// The line, its version and who has used it.
struct Line {
    version: u64,
    free_at: f64,
    /// The core that used it last, and whether others have read it since it was written.
    user: usize,
    is_shared: bool,
}

impl Line {
    /// Returns when a core has accessed the line.
    fn access(&mut self, core: usize, now: f64, writes: bool, transfer: f64) -> f64 {
        let is_own = self.user == core && !(writes && self.is_shared);
        let begin = now.max(self.free_at);
        let end = begin + if is_own { LOCAL } else { transfer };
        self.is_shared = !writes && (self.is_shared || self.user != core);
        self.user = core;
        self.free_at = end;
        end
    }
}

/// The core that gets the line next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The core that asked first: a swap fails if another core asked between its reading and its swap.
    Fair,
    /// The core that has it, until it has swapped: no swap fails.
    Kept,
}

/// Returns the ids per nanosecond of so many cores which take `many` ids with each swap.
pub fn simulate(cores: usize, times: Times, many: u32, turn: Turn) -> f64 {
    // The first ones come before there is a queue.
    const FIRST: u64 = 1_000;
    const ALL: u64 = 3_000;
    let batch = f64::from(many) * times.private + f64::from(many - 1) * times.cached;
    let mut line = Line {
        version: 0,
        free_at: 0.0,
        user: 0,
        is_shared: false,
    };
    // Picoseconds, which have an order.
    let key = |time: f64| Reverse((time * 1e3) as u64);
    let mut random = 1_u64;
    let mut jitter = || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        // Half to one and a half.
        0.5 + (random >> 40) as f64 / (1_u64 << 24) as f64
    };
    let mut events: BinaryHeap<_> = (0..cores)
        .map(|core| (key(batch * jitter()), core, Step::Read))
        .collect();
    let mut swaps = 0;
    let (mut first, mut last) = (0.0, 0.0);
    while swaps < ALL {
        let Some((Reverse(at), core, step)) = events.pop() else {
            break;
        };
        let now = at as f64 / 1e3;
        match step {
            Step::Read => {
                let read = line.access(core, now, false, times.transfer);
                let seen = line.version;
                if turn == Turn::Kept {
                    line.free_at = read + times.between;
                }
                events.push((key(read + times.between), core, Step::Swap { seen }));
            }
            Step::Swap { .. } if turn == Turn::Kept => {
                // The line is its own still, whoever waits for it since.
                let end = now + LOCAL;
                line.free_at = line.free_at.max(end);
                swaps += 1;
                last = end;
                events.push((key(end + batch * jitter()), core, Step::Read));
            }
            Step::Swap { seen } => {
                let end = line.access(core, now, true, times.transfer);
                if line.version == seen {
                    line.version += 1;
                    swaps += 1;
                    last = end;
                    events.push((key(end + batch * jitter()), core, Step::Read));
                } else {
                    // The swap has brought the line, and the new value with it.
                    let seen = line.version;
                    events.push((key(end + times.between), core, Step::Swap { seen }));
                }
            }
        }
        if swaps == FIRST {
            first = last;
        }
    }
    (swaps - FIRST) as f64 * f64::from(many) / (last - first)
}
