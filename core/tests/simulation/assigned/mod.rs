//! An assigned node, its server, copies of that server's disk, and a registry that loses commits.
//!
//! A copy has the disk of its original and a memory of its own. Messages are lost and late; servers crash, sleep, stop and are cut
//! off; the registry comes back without its last commits and with another clock; operators evict the server, and give the node
//! to another. Times are short, so that a fault often meets another one.

mod faults;
mod registry;
mod server;
mod statistics;
mod world;

use crate::time::SECOND;
use mint_core::registry::lease_rules::QUARANTINE;
use statistics::Statistics;
use world::World;

/// How long each world has faults, and how long it takes until all is well.
const FAULTS: i64 = 900 * SECOND;
const PEACE: i64 = 2 * QUARANTINE;

/// Each request asserts that no lost answer has cost the lease, and each grant that its term overlaps with no other's.
#[test]
fn of_all_copies_of_a_server_one_keeps_its_node() {
    let mut all = Statistics::default();
    for seed in 1..=worlds() {
        let mut world = World::new(seed);
        world.run(FAULTS);
        world.end_faults();
        world.run(PEACE);
        world.assert_one_goes_on();
        all.add(&world.statistics);
    }
    println!("{} worlds: {:?}", worlds(), all.counts());
    for (what, times) in all.counts() {
        assert!(*times > worlds() / 10, "{what}: {times} times");
    }
}

/// The number of worlds: 400, or `SIMULATION_WORLDS`.
fn worlds() -> u64 {
    std::env::var("SIMULATION_WORLDS").map_or(400, |worlds| worlds.parse().unwrap())
}
