//! `torture MINUTES`: one fault after another, chosen by chance, on a server under load, for so long. Prints a line for
//! each, and at the end a table of what was survived. Ends with an error at the first id that was issued twice.
//!
//! `TORTURE_SEED` repeats the choices of a run, which says its seed.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mint_cluster::ordeal::{Clock, Fault, Ordeal, Tallies};

/// A server is put through so many faults before the next one, with other settings, takes its place.
const FAULTS: u64 = 24;

/// What a server may be set to, in turn.
const SETTINGS: [&[&str]; 4] = [
    &["synchronous_commit = off"],
    &[WIDE, "wal_writer_delay = '10s'"],
    &[
        "pg_mint.ceiling_window = '100ms'",
        "shared_preload_libraries = 'pg_mint'",
    ],
    &[WIDE, "pg_mint.reserve = 64"],
];

/// A standby may lag by half a window, which on a busy machine must not be too short.
const WIDE: &str = "pg_mint.ceiling_window = '2s'";

fn main() {
    let mut arguments = std::env::args().skip(1);
    let minutes = arguments.next().map_or(Some(10), |text| text.parse().ok());
    let (Some(minutes @ 1..), None) = (minutes, arguments.next()) else {
        eprintln!("usage: torture [MINUTES]");
        std::process::exit(2);
    };
    let mut dice = Dice::new();
    let begun = Instant::now();
    let end = Duration::from_secs(60 * minutes);
    let mut all = Tallies::default();
    for (server, settings) in (1..).zip(SETTINGS.iter().cycle()) {
        if begun.elapsed() >= end {
            break;
        }
        println!("server {server}: {}", settings.join(", "));
        let Some(mut ordeal) = Ordeal::begin("torture", settings) else {
            std::process::exit(1);
        };
        for _ in 0..FAULTS {
            let (mut fault, clock) = (dice.pick(&Fault::ALL), dice.pick(&Clock::ALL));
            if fault == Fault::Failover && !settings.contains(&WIDE) {
                fault = Fault::PowerCut;
            }
            ordeal.survive(fault, clock);
            println!(
                "{:>6} s  {fault:<30}clock {clock:<15}{:>12} ids",
                begun.elapsed().as_secs(),
                ordeal.ids()
            );
            if begun.elapsed() >= end {
                break;
            }
        }
        all.add(&ordeal.end());
    }
    println!("\n{all}\n\nno id was issued twice");
}

/// Chance that can be repeated: xorshift.
struct Dice(u64);

impl Dice {
    fn new() -> Self {
        let given = std::env::var("TORTURE_SEED")
            .ok()
            .and_then(|text| text.parse().ok());
        let seed = given.unwrap_or_else(|| {
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(1, |age| age.as_secs())
        });
        println!("TORTURE_SEED={seed}");
        // Seeds are small and alike.
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        choices[(self.0 >> 16) as usize % choices.len()]
    }
}
