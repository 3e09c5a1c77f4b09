//! `torture MINUTES`: one fault after another, chosen by chance, on a server under load, for so long. Prints a line for
//! each, and at the end a table of what was survived. Ends with an error at the first id that was issued twice.
//!
//! Every second server has tenants who take what they can from their neighbors. `TORTURE=neighbours` runs those alone,
//! `TORTURE=lanes` (oids, segments, sections, ceilings) one kind of them, `TORTURE=faults` the other servers.
//! `TORTURE_SEED` repeats the choices of a run, which says its seed.

use mint_cluster::Dice;
use mint_cluster::tenants::greed::Greed;
use mint_cluster::tenants::neighbors::Neighbours;
use mint_cluster::torture::{Clock, Fault, Ordeal, Tallies};
use std::time::{Duration, Instant};

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
    let kinds = std::env::var("TORTURE").unwrap_or_default();
    let mut dice = Dice::thrown();
    let begun = Instant::now();
    let end = Duration::from_secs(60 * minutes);
    let mut all = Tallies::default();
    for (server, settings) in (1_usize..).zip(SETTINGS.iter().cycle()) {
        if begun.elapsed() >= end {
            break;
        }
        if kinds != "faults" {
            greed(&kinds, &mut dice, server, begun, end);
        }
        if !["", "faults"].contains(&kinds.as_str()) || begun.elapsed() >= end {
            continue;
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

/// A server of tenants and their neighbors, a round of each kind of greed.
fn greed(kinds: &str, dice: &mut Dice, server: usize, begun: Instant, end: Duration) {
    println!("server {server}, of neighbors");
    let mut neighbours = Neighbours::begin(Dice::seeded(dice.below(1 << 30) as u64));
    let is_wanted = |greed: &Greed| {
        ["", "neighbours"].contains(&kinds) || format!("{greed:?}").eq_ignore_ascii_case(kinds)
    };
    for greed in Greed::ALL.into_iter().filter(is_wanted) {
        // As many ceilings as there are take this long.
        let time = if greed == Greed::Ceilings { 150 } else { 20 };
        neighbours.survive(greed, Duration::from_secs(time));
        println!(
            "{:>6} s  {:<51}{:>12} values",
            begun.elapsed().as_secs(),
            format!("{greed:?}, all used up by tenants"),
            neighbours.values()
        );
        if begun.elapsed() >= end {
            break;
        }
    }
    println!(
        "          what tenants were told: {:?}",
        neighbours.refusals
    );
}
