//! `torture MINUTES`: one random fault after another on a server under load. Prints a line for each and a table at the
//! end. Fails at the first id that was issued twice.
//!
//! Two kinds of servers take turns: `TORTURE=faults` runs only single servers, `TORTURE=fleet` only a registry of nodes
//! with six members. `TORTURE=ha` alone runs clusters under Patroni, which takes root, and `TORTURE=citus` alone clusters
//! of Citus, which the tree of `PG_CONFIG` must have.
//! `MINT_SEED` repeats the choices of a run, which prints its seed; `MINT_FAULTS` limits the faults of a fleet, as in the
//! story `servers::every_fault`, and those of a cluster, by their names in `patroni/faults.rs`.

use mint_cluster::citus;
use mint_cluster::citus::cluster::Number;
use mint_cluster::patroni::cluster::{Cluster, Mode};
use mint_cluster::patroni::faults::{self, while_minting};
use mint_cluster::patroni::outages::Outages;
use mint_cluster::registry::fleet::Fleet;
use mint_cluster::registry::gaps::Gaps;
use mint_cluster::registry::survival::{self, survive};
use mint_cluster::torture::{Clock, Fault, Torture};
use mint_cluster::{Registry, Rng};
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

/// A standby can lag by half a window, which must not be too short on a busy machine.
const WIDE: &str = "pg_mint.ceiling_window = '2s'";

/// The times that a cluster of Citus goes through all faults.
const CITUS_ROUNDS: usize = 3;
/// The ways in which its nodes get their numbers, in turn.
const CITUS_NUMBERS: [Number; 3] = [Number::Group, Number::Citus, Number::Unset];
/// Number of faults of a fleet, before the next one.
const FLEET_FAULTS: usize = 15;
const MEMBERS: usize = 6;

/// A run, and the statistics of it so far.
struct Run {
    kinds: String,
    rng: Rng,
    begun: Instant,
    end: Duration,
    /// The faults that fleets have still to go through, before all of them again.
    left: Vec<survival::Fault>,
    gaps: Gaps,
    /// Number of ids that clients saw.
    ids: usize,
    outages: Outages,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let minutes = arguments.next().map_or(Some(10), |text| text.parse().ok());
    let (Some(minutes @ 1..), None) = (minutes, arguments.next()) else {
        eprintln!("usage: torture [MINUTES]");
        std::process::exit(2);
    };
    let mut run = Run {
        kinds: std::env::var("TORTURE").unwrap_or_default(),
        rng: Rng::from_environment(),
        begun: Instant::now(),
        end: Duration::from_secs(60 * minutes),
        left: Vec::new(),
        gaps: Gaps::default(),
        ids: 0,
        outages: Outages::default(),
    };
    for (server, settings) in (1_usize..).zip(SETTINGS.iter().cycle()) {
        if run.is_over() {
            break;
        }
        if run.kinds == "ha" {
            run.cluster(server);
            continue;
        }
        if run.kinds == "citus" {
            run.citus(server);
            continue;
        }
        if run.includes("faults") {
            run.faults(server, settings);
        }
        if run.includes("fleet") {
            run.fleet(server);
        }
    }
    if !run.outages.is_empty() {
        println!("\n{}", run.outages);
    }
    if !run.gaps.is_empty() {
        println!("\n{}", run.gaps);
    }
    let exceptions = match run.kinds.as_str() {
        "ha" => " by primaries with the leader key, but where the table says so of a fixed node",
        _ => "",
    };
    println!("\n{} ids, and none was issued twice{exceptions}", run.ids);
    if !run.left.is_empty() {
        println!("not reached in this round: {:?}", run.left);
    }
}

impl Run {
    fn seconds(&self) -> u64 {
        self.begun.elapsed().as_secs()
    }

    fn is_over(&self) -> bool {
        self.begun.elapsed() >= self.end
    }

    /// Returns whether servers of this kind have a turn.
    fn includes(&self, kind: &str) -> bool {
        self.kinds.is_empty() || self.kinds == kind
    }

    /// Runs a server through one fault after another.
    fn faults(&mut self, server: usize, settings: &[&str]) {
        if self.is_over() {
            return;
        }
        println!(
            "{:>6} s  server {server}: {}",
            self.seconds(),
            settings.join(", ")
        );
        let mut torture = Torture::begin("torture", settings);
        for _ in 0..FAULTS {
            let (mut fault, clock) = (self.rng.pick(Fault::ALL), self.rng.pick(Clock::ALL));
            if fault == Fault::Failover && !settings.contains(&WIDE) {
                fault = Fault::PowerCut;
            }
            torture.survive(fault, clock);
            if self.is_over() {
                break;
            }
        }
        self.ids += torture.ids();
    }

    /// Runs a registry and its members through one fault after another: all of them in a random order, and again.
    fn fleet(&mut self, server: usize) {
        if self.is_over() {
            return;
        }
        println!("server {server}, of a fleet");
        let rng = Rng::seeded(self.rng.below(1 << 30) as u64);
        let Some(registry) = Registry::start("a registry") else {
            std::process::exit(1);
        };
        let mut fleet = Fleet::start(registry, MEMBERS, rng);
        let clients = fleet.clients();
        let answers = clients.while_minting(|| {
            for _ in 0..FLEET_FAULTS {
                if self.left.is_empty() {
                    self.left = survival::Fault::all();
                    self.rng.shuffle(&mut self.left);
                }
                let Some(fault) = self.left.pop() else { break };
                let gap = survive(&mut fleet, fault, &clients);
                self.gaps.add(fault, gap);
                println!(
                    "{:>6} s  {:<90}no id for {:>5.1} s{:>12} ids",
                    self.seconds(),
                    fault.to_string(),
                    gap.as_secs_f64(),
                    clients.count()
                );
                if self.is_over() {
                    break;
                }
            }
        });
        self.ids += fleet.assert_sound(&answers);
    }

    /// Runs a cluster under Patroni through all faults in a random order; the next one has nodes of the other kind.
    fn cluster(&mut self, server: usize) {
        let mode = [Mode::Fixed, Mode::Auto][(server - 1) % 2];
        println!("server {server}, of a cluster under Patroni with {mode}");
        let Some(cluster) = Cluster::start("a cluster under Patroni", mode) else {
            std::process::exit(1);
        };
        let mut left = faults::Fault::chosen();
        self.rng.shuffle(&mut left);
        while_minting(&cluster, |survival| {
            for fault in left {
                let counts = survival.survive(fault);
                self.outages.add(fault, mode, counts);
                println!(
                    "{:>6} s  {:<55}{:<14}no id for {:>5.1} s{:>10} ids, {} twice; deposed: {}, {} twice",
                    self.seconds(),
                    fault.to_string(),
                    mode,
                    counts.silence.as_secs_f64(),
                    survival.check.ids(),
                    counts.twice,
                    counts.deposed,
                    counts.deposed_twice
                );
                if self.is_over() {
                    break;
                }
            }
            self.ids += survival.check.ids();
        });
    }

    /// Runs a cluster of Citus through all faults in a random order, several times; the next one gets its numbers in another
    /// way.
    fn citus(&mut self, server: usize) {
        let number = CITUS_NUMBERS[(server - 1) % CITUS_NUMBERS.len()];
        println!("server {server}, of a cluster of Citus with pg_mint.node: {number:?}");
        let rng = Rng::seeded(self.rng.below(1 << 30) as u64);
        let Some(mut torture) = citus::torture::Torture::begin(rng, number) else {
            std::process::exit(1);
        };
        let before = self.ids;
        for _ in 0..CITUS_ROUNDS {
            let mut left = citus::torture::Fault::ALL.to_vec();
            self.rng.shuffle(&mut left);
            for fault in left {
                if self.is_over() {
                    return;
                }
                if !torture.is_possible(fault) {
                    continue;
                }
                torture.survive(fault);
                self.ids = before + torture.ids;
                println!(
                    "{:>6} s  {fault:<51}{:>12} ids{:>8} refused",
                    self.seconds(),
                    self.ids,
                    torture.refusals
                );
            }
        }
    }
}
