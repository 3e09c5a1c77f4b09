//! The table of lanes under every interleaving that the memory model allows.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p pg_mint_core --release --test loom lane_table`
//!
//! Two threads are explored without a bound, three with at most two preemptions each run.

use crate::world::{AHEAD, Clock, Session, World, layout};
use loom::sync::{Arc, Mutex};
use loom::thread;
use mint_core::{Ceiling, Lane, LaneTable, Lookup, TableCount, mint};

/// A table of lanes, and the lock that protects its growth.
struct Lanes {
    count: TableCount,
    slots: Vec<Lane>,
    limit: u32,
    lock: Mutex<()>,
}

impl Lanes {
    fn new(slots: usize, limit: u32) -> Self {
        let slots = (0..slots).map(|_| Lane::default()).collect();
        Lanes {
            count: TableCount::default(),
            slots,
            limit,
            lock: Mutex::new(()),
        }
    }

    fn table(&self) -> LaneTable<'_> {
        LaneTable::new(&self.count, &self.slots, self.limit, [5, 6])
    }

    /// Looks a lane up without the lock and inserts it under the lock, as a session does.
    fn lane(&self, shard: u64) -> &Lane {
        let layout = layout();
        let shared = || self.table().find_shared(&layout, shard);
        match self.table().find(&layout, shard) {
            Lookup::Found(lane) => lane,
            _ => match shared() {
                Lookup::Found(lane) => lane,
                _ => {
                    let _guard = self.lock.lock().unwrap();
                    self.table()
                        .insert(&layout, shard, 0)
                        .expect("there is room")
                }
            },
        }
    }

    /// Mints an id of each shard in turn. Returns the shards, with the addresses of their lanes, and the ids.
    fn visit(&self, shards: &[u64]) -> Vec<(u64, usize, i64)> {
        let world = World::new(Clock::stepping(0), Ceiling::unbounded());
        let mut host = Session::new(&world);
        let mut one = |&shard: &u64| {
            let lane = self.lane(shard);
            let run = mint(lane, &layout(), 1, &AHEAD, &mut host).unwrap();
            (
                shard,
                std::ptr::from_ref(lane) as usize,
                layout().id(shard, run.first),
            )
        };
        shards.iter().map(&mut one).collect()
    }
}

/// Each thread visits its shards, and then one thread visits all once more. One key has one lane, no id is minted twice,
/// and there are `lanes` lanes.
fn visit(slots: usize, limit: u32, lanes: usize, plans: &'static [&'static [u64]]) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = (plans.len() > 2).then_some(2);
    model.check(move || {
        let table = Arc::new(Lanes::new(slots, limit));
        let others: Vec<_> = plans[1..]
            .iter()
            .map(|plan| {
                let table = table.clone();
                thread::spawn(move || table.visit(plan))
            })
            .collect();
        let mut seen = table.visit(plans[0]);
        seen.extend(others.into_iter().flat_map(|thread| thread.join().unwrap()));
        seen.extend(plans.iter().flat_map(|plan| table.visit(plan)));
        for (i, a) in seen.iter().enumerate() {
            for b in &seen[..i] {
                assert_ne!(a.2, b.2, "id {} twice", a.2);
                assert!(a.0 != b.0 || a.1 == b.1, "shard {} has two lanes", a.0);
            }
        }
        assert_eq!(table.table().lanes().count(), lanes);
    });
}

#[test]
fn two_threads_find_one_lane_for_one_key() {
    visit(2, 1, 1, &[&[1], &[1]]);
}

#[test]
fn two_threads_with_different_keys_get_different_lanes() {
    visit(4, 2, 2, &[&[1, 2], &[2, 1]]);
}

#[test]
fn two_threads_that_both_find_the_table_full_share_the_shared_lane() {
    visit(4, 1, 2, &[&[1, 2], &[1, 3]]);
}

/// The shard whose lane is the last to fit is looked up while it is made, and the shared one too.
#[test]
fn a_node_with_the_last_lane_of_its_own_never_gets_the_shared_one() {
    visit(2, 1, 2, &[&[1, 2], &[1]]);
}

#[test]
fn three_threads_find_one_lane_for_one_key() {
    visit(2, 1, 1, &[&[1], &[1], &[1]]);
}

#[test]
fn three_threads_fill_a_table_and_never_split_a_node() {
    visit(4, 1, 2, &[&[1], &[2], &[1]]);
}
