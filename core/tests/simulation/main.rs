//! A thousand servers, or ten, and one registry of nodes, none of which can be relied on.
//!
//! Clocks are wrong, drift and jump; messages are lost and late; servers die, sleep, are cloned and restored; the
//! registry stops, forgets its leases and settings, and comes back; one member lies. Members mint with the real lanes, leases and ceilings, by their
//! own clocks, and send requests to the real [`Registry`]. No word of a node is minted twice.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod assigned;
mod events;
mod faults;
mod member;
mod queue;
mod registry;
mod request;
mod rng;
mod statistics;
mod tables;
mod time;
mod world;

use mint_core::Micros;
use mint_core::registry::lease_rules::QUARANTINE;
use registry::{REGISTRY_FAULTS, RegistryFault};
use time::{LEASE_LENGTH, SECOND};
use world::{Faults, Sim};

/// Requests per minute of a member that is always granted a lease, of thirty seconds.
const GRANTED_TRAFFIC: f64 = 6.0;
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
        sim.run(QUARANTINE + LEASE_LENGTH);
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

/// Nobody who is well waits for longer than a quarantine and a lease: each request asserts it.
#[test]
fn ten_thousand_servers_are_served_for_an_hour() {
    let began = std::time::Instant::now();
    let mut sim = Sim::new(1, 10_000, Faults::On);
    let minutes = minutes();
    sim.run(minutes * 60 * SECOND);
    let faults: u64 = sim.statistics.registry_faults.values().sum();
    let took = began.elapsed().as_secs_f64();
    let wait = sim.statistics.longest_wait as f64 / SECOND as f64;
    println!("{minutes} min: {sim}; the longest wait {wait:.1} s; {took:.1} s");
    assert!(faults >= minutes as u64 / 10, "{faults} faults");
    // Some had to wait for a quarantine.
    assert!(sim.statistics.longest_wait > QUARANTINE / 2);
}

/// Whichever copies of a registry take its place, and however often it is restarted in between, members keep their leases:
/// also where a copy lacks exactly as many restarts as it is started.
#[test]
fn members_keep_their_leases_in_any_order_of_restarts_and_restores() {
    for order in 0..1_u32 << STEPS {
        let mut sim = Sim::new(order.into(), 10, Faults::Off);
        sim.run(2 * SECOND);
        for step in 0..STEPS {
            let fault = match order >> step & 1 {
                0 => RegistryFault::Restart,
                _ => RegistryFault::Snapshot,
            };
            let back = sim.now + SECOND;
            sim.registry.fail(fault, sim.now, back, 0, &mut sim.rng);
            sim.run(LEASE_LENGTH * 2 / 5);
            // In half of the orders the copy is that of the beginning.
            if step % 2 == 1 && order & 1 == 1 {
                sim.registry.back_up();
            }
        }
        sim.run(LEASE_LENGTH);
        let idle = sim.idle_for(2 * SECOND);
        assert!(idle.is_empty(), "order {order:b}: {idle:?} mint no more");
    }
}

/// How many restarts and restores there are in an order.
const STEPS: u32 = 7;

/// The minutes that ten thousand servers run: 60, or `SIMULATION_MINUTES`.
fn minutes() -> Micros {
    std::env::var("SIMULATION_MINUTES").map_or(60, |minutes| minutes.parse().unwrap())
}

/// The number of seeds: 3, or `SIMULATION_SEEDS`.
fn seeds() -> Micros {
    std::env::var("SIMULATION_SEEDS").map_or(3, |seeds| seeds.parse().unwrap())
}
