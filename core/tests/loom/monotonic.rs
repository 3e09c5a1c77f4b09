//! Lanes of UUIDs and ObjectIDs under every interleaving that the memory model allows.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p pg_mint_core --release --test loom monotonic`

use loom::sync::Arc;
use loom::thread;
use mint_core::{Nanos, ObjectIdLane, UuidLanes};
use std::fmt::Debug;

/// Two threads mint: the ids of each ascend, and none is in both.
fn race_of_monotonic_lanes<L: Send + Sync + 'static, T: Ord + Clone + Debug + Send + 'static>(
    lanes: fn() -> L,
    mint: fn(&L, Nanos) -> T,
) {
    loom::model(move || {
        let lanes = Arc::new(lanes());
        let second = 1_000_000_000;
        let threads = [10 * second, 10 * second + 50].map(|now| {
            let lanes = lanes.clone();
            thread::spawn(move || [mint(&lanes, now), mint(&lanes, now)])
        });
        let mut all: Vec<T> = Vec::new();
        for thread in threads {
            let ids = thread.join().unwrap();
            assert!(ids[0] < ids[1], "{ids:?}");
            all.extend(ids);
        }
        all.sort();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{all:?}");
    });
}

#[test]
fn two_threads_never_repeat_a_uuid() {
    let lanes = || UuidLanes::new(0);
    race_of_monotonic_lanes(lanes, |lanes, now| lanes.v7(now, 0));
    race_of_monotonic_lanes(lanes, |lanes, now| lanes.v6(now, None));
    race_of_monotonic_lanes(lanes, |lanes, now| lanes.v2(now, 0, 501, None));
}

#[test]
fn two_threads_never_repeat_an_object_id() {
    // A counter about to come round.
    race_of_monotonic_lanes(|| ObjectIdLane::new(0xff_fffd), ObjectIdLane::objectid);
}
