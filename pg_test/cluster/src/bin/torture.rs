//! `torture MINUTES`: one random fault after another on a server under load. Prints a line for each and a table at the
//! end. Fails at the first id that was issued twice.
//!
//! Every second server has tenants that use up what they share with their neighbors. `TORTURE=neighbors` runs those
//! alone, `TORTURE=lanes` (oids, segments, sections, ceilings) one kind of them, `TORTURE=faults` the other servers.
//! `MINT_SEED` repeats the choices of a run, which prints its seed.

use mint_cluster::Rng;
use mint_cluster::tenants::greed::Greed;
use mint_cluster::tenants::neighbors::Neighbors;
use mint_cluster::torture::{Clock, Fault, Tallies, Torture};
use std::time::{Duration, Instant};

/// Number of faults of a server, before the next server with other settings.
const FAULTS: u64 = 24;

/// The settings of the servers, in turn.
const SETTINGS: [&[&str]; 4] = [
    &["synchronous_commit = off"],
    &[WIDE, "wal_writer_delay = '10s'"],
    &[
        "pg_mint.ceiling_window = '100ms'",
        "shared_preload_libraries = 'pg_mint'",
    ],
    &[WIDE, "pg_mint.session_cache = 64"],
];

/// A standby may lag by half a window, which must not be too short on a busy machine.
const WIDE: &str = "pg_mint.ceiling_window = '2s'";

fn main() {
    let mut arguments = std::env::args().skip(1);
    let minutes = arguments.next().map_or(Some(10), |text| text.parse().ok());
    let (Some(minutes @ 1..), None) = (minutes, arguments.next()) else {
        eprintln!("usage: torture [MINUTES]");
        std::process::exit(2);
    };
    let kinds = std::env::var("TORTURE").unwrap_or_default();
    let mut rng = Rng::from_environment();
    let begun = Instant::now();
    let end = Duration::from_secs(60 * minutes);
    let mut all = Tallies::default();
    for (server, settings) in (1_usize..).zip(SETTINGS.iter().cycle()) {
        if begun.elapsed() >= end {
            break;
        }
        if kinds != "faults" {
            run_tenants(&kinds, &mut rng, server, begun, end);
        }
        if !["", "faults"].contains(&kinds.as_str()) || begun.elapsed() >= end {
            continue;
        }
        println!("server {server}: {}", settings.join(", "));
        let Some(mut torture) = Torture::begin("torture", settings) else {
            std::process::exit(1);
        };
        for _ in 0..FAULTS {
            let (mut fault, clock) = (rng.pick(&Fault::ALL), rng.pick(&Clock::ALL));
            if fault == Fault::Failover && !settings.contains(&WIDE) {
                fault = Fault::PowerCut;
            }
            torture.survive(fault, clock);
            println!(
                "{:>6} s  {fault:<30}clock {clock:<15}{:>12} ids",
                begun.elapsed().as_secs(),
                torture.ids()
            );
            if begun.elapsed() >= end {
                break;
            }
        }
        all.add(&torture.end());
    }
    println!("\n{all}\n\nno id was issued twice");
}

/// Runs a server of tenants and their neighbors, one round for each resource.
fn run_tenants(kinds: &str, rng: &mut Rng, server: usize, begun: Instant, end: Duration) {
    println!("server {server}, of neighbors");
    let mut neighbors = Neighbors::begin(Rng::seeded(rng.below(1 << 30) as u64));
    let is_wanted = |greed: &Greed| {
        ["", "neighbors"].contains(&kinds) || format!("{greed:?}").eq_ignore_ascii_case(kinds)
    };
    for greed in Greed::ALL.into_iter().filter(is_wanted) {
        // Using up all ceilings takes this long.
        let time = if greed == Greed::Ceilings { 150 } else { 20 };
        neighbors.survive(greed, Duration::from_secs(time));
        println!(
            "{:>6} s  {:<51}{:>12} values",
            begun.elapsed().as_secs(),
            format!("{greed:?}, all used up by tenants"),
            neighbors.values()
        );
        if begun.elapsed() >= end {
            break;
        }
    }
    println!(
        "          errors that tenants got: {:?}",
        neighbors.refusals
    );
}
