//! A thousand servers and one registry of nodes, none of which can be relied on.
//!
//! Clocks are wrong, drift and jump; messages are lost and late; servers die, sleep, are cloned and restored; the
//! registry stops, forgets and comes back. Members mint with the real lanes, leases and ceilings, by their
//! own clocks, and send requests to the real [`Registry`]. No word of a node is minted twice.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod events;
mod faults;
mod member;
mod queue;
mod registry;
mod rng;
mod statistics;
mod time;
mod world;

use mint_core::Micros;
use registry::REGISTRY_FAULTS;
use time::SECOND;
use world::{Faults, Sim};

/// Requests per minute of a member that is always granted a lease, of ten seconds.
const GRANTED_TRAFFIC: f64 = 12.0;
/// Requests per minute of a member that is always refused.
const REFUSED_TRAFFIC: f64 = 60.0;

#[test]
fn request_traffic_does_not_depend_on_how_many_servers_there_are() {
    for servers in [10, 100, 1_000] {
        let mut sim = Sim::new(1, servers, Faults::Off);
        sim.run(4 * 60 * SECOND);
        let traffic = sim.traffic();
        println!("{servers:>5} servers: {traffic:.2} requests per server and minute");
        assert!(
            (GRANTED_TRAFFIC * 0.99..GRANTED_TRAFFIC * 1.01).contains(&traffic),
            "{traffic}"
        );
    }
}

#[test]
fn no_word_is_minted_twice_under_faults() {
    let began = std::time::Instant::now();
    for seed in 1..=seeds() {
        let mut sim = Sim::new(seed, 1_000, Faults::On);
        sim.run(6 * 60 * SECOND);
        let traffic = sim.traffic();
        sim.end_faults();
        sim.run(60 * SECOND);
        println!(
            "seed {seed}: {sim}; {traffic:.2} requests per server and minute; {:.1} s",
            began.elapsed().as_secs_f64()
        );
        assert!(traffic < REFUSED_TRAFFIC, "seed {seed}: {traffic}");
        assert!(sim.busiest() < REFUSED_TRAFFIC * 1.02, "seed {seed}");
        // Every fault happened, and often enough.
        let statistics = &sim.statistics;
        assert!(
            REGISTRY_FAULTS
                .iter()
                .all(|fault| statistics.registry_faults.contains_key(fault))
        );
        for (what, times) in statistics.frequent_events() {
            assert!(times > 10, "seed {seed}: {what} {times} times");
        }
        // All members mint again.
        let idle = sim.idle_for(15 * SECOND);
        assert!(idle.is_empty(), "seed {seed}: {idle:?} mint no more");
    }
}

/// The number of seeds: 3, or `SIMULATION_SEEDS`.
fn seeds() -> Micros {
    std::env::var("SIMULATION_SEEDS").map_or(3, |seeds| seeds.parse().unwrap())
}
