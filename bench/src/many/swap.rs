//! The time of a compare-and-swap on this machine: by one core, by two cores at once, and for the line to move.

use crate::stats::percentile;
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// A word in lines that nothing else is in.
#[repr(align(256))]
struct Word(AtomicU64);

/// Nanoseconds on this machine.
pub struct Costs {
    /// Reading the clock.
    pub clock: f64,
    /// A swap of one core alone.
    pub alone: f64,
    /// A move of the line to another core.
    pub transfer: f64,
    /// A swap that succeeds, while another core swaps as fast as it can.
    pub contended: f64,
}

/// Swaps of a round, which takes less time than the scheduler gives a thread.
const TIMES: u64 = 20_000;

impl Costs {
    /// Measures each of them in rounds for a while, and returns the tenth percentile: a round in which something else had
    /// a core says nothing.
    pub fn measure(span: Duration) -> Self {
        let fast = |measure: fn() -> f64| {
            let began = Instant::now();
            let mut rounds = Vec::new();
            while rounds.is_empty() || began.elapsed() < span {
                rounds.push(measure());
            }
            percentile(&rounds, 10.0)
        };
        Self {
            clock: fast(|| {
                time_each(|| {
                    black_box(SystemTime::now());
                })
            }),
            alone: fast(|| {
                let word = Word(AtomicU64::new(0));
                time_each(|| raise(&word))
            }),
            transfer: fast(transfer),
            contended: fast(time_contended),
        }
    }
}

fn time_each(mut work: impl FnMut()) -> f64 {
    let began = Instant::now();
    (0..TIMES).for_each(|_| work());
    began.elapsed().as_nanos() as f64 / TIMES as f64
}

/// Reads the word and swaps in the next one until that succeeds.
fn raise(Word(word): &Word) {
    let mut last = word.load(Ordering::Acquire);
    while let Err(found) =
        word.compare_exchange(last, last + 1, Ordering::AcqRel, Ordering::Acquire)
    {
        last = found;
    }
}

/// Two threads take turns to count on: in each turn the line moves twice, for the reading and for the writing.
fn transfer() -> f64 {
    const TURNS: u64 = 1_000;
    let turns = |Word(word): &Word, own: u64| {
        for turn in (own..TURNS).step_by(2) {
            let mut spins = 0;
            while word.load(Ordering::Acquire) != turn {
                spins += 1;
                if spins > 10_000 {
                    // The other thread has no core.
                    std::thread::yield_now();
                }
                std::hint::spin_loop();
            }
            word.store(turn + 1, Ordering::Release);
        }
    };
    two_at_once(turns) / TURNS as f64 / 2.0
}

fn time_contended() -> f64 {
    two_at_once(|word, _| (0..TIMES).for_each(|_| raise(word))) / (2 * TIMES) as f64
}

/// Returns the nanoseconds of two threads that work on one word.
fn two_at_once(work: impl Fn(&Word, u64) + Sync) -> f64 {
    let (word, start) = (Word(AtomicU64::new(0)), Barrier::new(2));
    std::thread::scope(|scope| {
        let threads = [0, 1].map(|own| {
            let (word, start, work) = (&word, &start, &work);
            scope.spawn(move || {
                start.wait();
                let began = Instant::now();
                work(word, own);
                began.elapsed().as_nanos() as f64
            })
        });
        let taken = threads.map(|thread| thread.join().expect("a thread"));
        taken[0].max(taken[1])
    })
}
