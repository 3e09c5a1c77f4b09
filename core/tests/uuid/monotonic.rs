//! The lanes of UUIDs and ObjectIDs under a scripted clock, and from many threads.

use mint_core::uuid::version;
use mint_core::{Nanos, ObjectId, ObjectIdLane, Uuid, UuidLanes};
use std::collections::HashSet;
use std::fmt::Debug;

const SECOND: Nanos = 1_000_000_000;
/// 2026-01-01T00:00:00Z.
const NOW: Nanos = 1_767_225_600 * SECOND;
const SEED: u64 = 0x0123_4567_89ab_cdef;
/// A clock that stands, creeps, steps back by a bit and by an hour, and comes back.
const CLOCK: [Nanos; 9] = [
    NOW,
    NOW,
    NOW + 99,
    NOW - 1,
    NOW - 2 * SECOND,
    NOW - 3_600 * SECOND,
    NOW + SECOND,
    NOW + SECOND / 2,
    NOW + 2 * SECOND,
];

fn assert_ascending<T: Ord + Debug>(ids: &[T]) {
    for pair in ids.windows(2) {
        assert!(pair[0] < pair[1], "{pair:?}");
    }
}

/// The ids of a scripted clock, each reading `each` times.
fn minted_ids<T>(each: usize, mint: impl Fn(Nanos) -> T) -> Vec<T> {
    let readings = CLOCK.iter().flat_map(|&now| [now].repeat(each));
    readings.map(mint).collect()
}

#[test]
fn version_6_ascends_whatever_the_clock_does() {
    let lanes = UuidLanes::new(SEED);
    assert_ascending(&minted_ids(1_000, |now| lanes.v6(now, None)));
}

#[test]
fn version_1_ascends_as_version_6_and_shares_its_ticks() {
    let lanes = UuidLanes::new(SEED);
    let ids = minted_ids(1_000, |now| [lanes.v1(now, None), lanes.v6(now, None)]);
    let sorted: Vec<Uuid> = (ids.iter())
        .flat_map(|[one, six]| [version::v1_to_v6(one).unwrap(), *six])
        .collect();
    assert_ascending(&sorted);
}

#[test]
fn version_7_ascends_whatever_the_clock_and_the_random_bits_do() {
    let lanes = UuidLanes::new(SEED);
    let random = std::cell::Cell::new(u64::MAX);
    assert_ascending(&minted_ids(10_000, |now| {
        random.set(random.get().wrapping_mul(0x9e37_79b9_7f4a_7c15));
        lanes.v7(now, random.get())
    }));
}

#[test]
fn object_ids_ascend_whatever_the_clock_does() {
    let lane = ObjectIdLane::new(SEED);
    assert_ascending(&minted_ids(1_000, |now| lane.objectid(now).unwrap()));
}

#[test]
fn the_first_ids_carry_the_clocks_time() {
    let lanes = UuidLanes::new(SEED);
    let lane = ObjectIdLane::new(SEED);
    let at = NOW + 123_456_789;
    assert_eq!(version::time(&lanes.v1(at, None)), Some(at / 1_000));
    let lanes = UuidLanes::new(SEED);
    assert_eq!(version::time(&lanes.v6(at, None)), Some(at / 1_000));
    assert_eq!(
        version::time(&lanes.v7(at, 0)),
        Some(at / 1_000_000 * 1_000)
    );
    assert_eq!(lane.objectid(at).unwrap().time(), NOW / 1_000);
    // 0.456789 ms in 4096ths.
    assert_eq!(lanes.v7(at + SECOND, 0).as_u64_pair().0 & 0xfff, 1_871);
}

#[test]
fn version_7_keeps_the_random_bits() {
    let lanes = UuidLanes::new(SEED);
    let random = 0x3edc_ba98_7654_3210;
    assert_eq!(lanes.v7(NOW, random).as_u64_pair().1, random | 1 << 63);
}

#[test]
fn a_start_draws_node_and_clock_sequence() {
    let [one, two] = [SEED, !SEED].map(|seed| UuidLanes::new(seed).v1(NOW, None));
    let [a, b] = [one, two].map(|id| version::node(&id).unwrap());
    assert_ne!(a, b);
    assert!(
        [a, b].iter().all(|node| node[0] & 1 == 1),
        "no multicast bit"
    );
    assert_ne!(version::clock_sequence(&one), version::clock_sequence(&two));
    let node = [0, 0x50, 0x56, 0x21, 0x93, 0x95];
    let given = UuidLanes::new(SEED).v1(NOW, Some(node));
    assert_eq!(version::node(&given), Some(node));
    assert_eq!(
        version::clock_sequence(&given),
        version::clock_sequence(&one)
    );
}

#[test]
fn a_clock_before_1970_is_1970_where_the_id_has_no_earlier() {
    let lanes = UuidLanes::new(SEED);
    let lane = ObjectIdLane::new(SEED);
    assert_eq!(version::time(&lanes.v7(-SECOND, 0)), Some(0));
    assert_eq!(lane.objectid(-SECOND).unwrap().time(), 0);
    assert_eq!(version::time(&lanes.v1(-SECOND, None)), Some(-1_000_000));
}

#[test]
fn an_object_ids_counter_continues_over_seconds() {
    let lane = ObjectIdLane::new(SEED);
    let [a, b] = [0, 5].map(|later| lane.objectid(NOW + later * SECOND).unwrap());
    assert_eq!(b.counter(), a.counter() + 1);
    assert_eq!(b.time() - a.time(), 5_000_000);
    assert_eq!(a.0[4..9], b.0[4..9]);
}

#[test]
fn a_counter_that_comes_round_takes_the_next_second_unless_it_is_that_already() {
    for (later, seconds) in [(0, 1), (1, 1), (2, 2)] {
        let lane = ObjectIdLane::new(0xff_fffe);
        let last = lane.objectid(NOW).unwrap();
        assert_eq!(last.counter(), 0xff_ffff);
        let next = lane.objectid(NOW + later * SECOND).unwrap();
        assert_eq!(next.counter(), 0);
        assert_eq!(next.time() - last.time(), seconds * 1_000_000);
    }
}

#[test]
fn object_ids_end_in_2106() {
    const LAST: Nanos = 4_294_967_295 * SECOND;
    let lane = ObjectIdLane::new(0xff_fffd);
    let ids = [LAST, LAST].map(|now| lane.objectid(now).unwrap());
    assert_ascending(&ids);
    // The counter would come round into a second that the field does not have.
    assert_eq!(lane.objectid(LAST), None);
    assert_eq!(lane.objectid(LAST + SECOND), None);
    assert_eq!(ObjectIdLane::new(SEED).objectid(LAST + SECOND), None);
    // The last id issued stays the last.
    assert_eq!(lane.objectid(NOW), None);
}

#[test]
fn legacy_object_ids_share_the_counter() {
    let lane = ObjectIdLane::new(SEED);
    let new = lane.objectid(NOW).unwrap();
    let old = lane.objectid_legacy(NOW, [1, 2, 3], 0x0405).unwrap();
    assert_eq!(old.counter(), new.counter() + 1);
    assert_eq!(old.legacy_machine(), 0x01_0203);
    assert_eq!(old.legacy_pid(), 0x0405);
    // md5("localhost") begins with 421aa90e.
    assert_eq!(
        mint_core::objectid::legacy_machine(b"localhost"),
        [0x42, 0x1a, 0xa9]
    );
}

const WINDOW: Nanos = (1 << 32) * 100;

#[test]
fn version_2_has_64_ids_in_a_window_and_borrows_the_next() {
    let lanes = UuidLanes::new(SEED);
    let mint = |now| lanes.v2(now, 1, 501, None);
    let ids: Vec<Uuid> = std::iter::from_fn(|| mint(NOW)).collect();
    assert_eq!(ids.len(), 128);
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 128);
    let windows: HashSet<_> = ids.iter().map(|id| version::time(id).unwrap()).collect();
    assert_eq!(windows.len(), 2);
    assert!(ids.iter().all(|id| version::local(id) == Some((1, 501))));
    assert!(ids.iter().all(|id| version::version(id) == Some(2)));
    // Others have their own.
    assert!(lanes.v2(NOW, 1, 502, None).is_some());
    // A clock that steps back issues none again; the next window brings 64 more.
    assert_eq!(mint(NOW - WINDOW), None);
    assert_eq!(std::iter::from_fn(|| mint(NOW + WINDOW)).count(), 64);
}

#[test]
fn a_million_local_ids_find_room_in_a_window() {
    let lanes = UuidLanes::new(SEED);
    let ids = (0..1_000_000).map(|local_id| lanes.v2(NOW, 0, local_id, None));
    assert!(ids.into_iter().all(|id| id.is_some()));
}

/// The number of ids that each of several threads draws; the interpreter of arm64.sh is slow.
const EACH: i64 = if cfg!(miri) { 5 } else { 20_000 };

/// Sixteen threads on one lane: no id twice, and each thread's ascend.
fn from_sixteen_threads<T: Ord + Debug + Send + Clone>(mint: impl Fn(Nanos) -> T + Sync) {
    let drawn: Vec<Vec<T>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            // Their clocks differ, as those of processors do not, but readings taken before a wait do.
            .map(|thread| {
                let mint = &mint;
                scope.spawn(move || (0..EACH).map(|n| mint(NOW + n * 50 + thread)).collect())
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    drawn.iter().for_each(|ids| assert_ascending(ids));
    let mut all = drawn.concat();
    all.sort();
    assert_ascending(&all);
}

#[test]
fn sixteen_threads_on_one_lane() {
    let lanes = UuidLanes::new(SEED);
    let lane = ObjectIdLane::new(SEED);
    // The same random bits for all: they must not be what makes the ids unique.
    from_sixteen_threads(|now| lanes.v7(now, 0));
    from_sixteen_threads(|now| lanes.v6(now, None));
    from_sixteen_threads(|now| lane.objectid(now).unwrap());
    from_sixteen_threads(|now| version::v1_to_v6(&lanes.v1(now, None)));
}

#[test]
fn bounds_outside_of_the_time_field() {
    let end = (1_i64 << 48) * 1_000;
    assert_eq!(version::v7_min(i64::MIN), version::v7_min(0));
    assert_eq!(version::v7_max(-1), None);
    assert_eq!(version::v7_max(i64::MIN), None);
    assert_eq!(version::v7_max(i64::MAX), version::v7_max(end - 1));
    assert_eq!(version::v7_min(end - 999), None);
    assert!(version::v7_min(end - 1_000).is_some());
    assert_eq!(version::v7_min(i64::MAX), None);
    assert_eq!(version::v7_min_after(i64::MIN), version::v7_min(0));
    assert_eq!(version::v7_min_after(-1), version::v7_min(0));
    assert_eq!(version::v7_min_after(0), version::v7_min(1));
    assert_eq!(version::v7_min_after(end - 1_000), None);
    assert_eq!(version::v7_min_after(i64::MAX), None);
    assert_eq!(version::v7_max_before(i64::MAX), version::v7_max(end - 1));
    assert_eq!(version::v7_max_before(1), version::v7_max(0));
    assert_eq!(version::v7_max_before(0), None);
    assert_eq!(version::v7_max_before(i64::MIN), None);
    assert_eq!(version::v7_at(-1, 0), None);
    assert_eq!(version::v7_at(end, 0), None);
    assert!(version::v7_at(end - 1, 0).is_some());

    let end = (1_i64 << 32) * 1_000_000;
    assert_eq!(ObjectId::min(i64::MIN), Some(ObjectId([0; 12])));
    assert_eq!(ObjectId::max(-1), None);
    assert_eq!(ObjectId::max(i64::MAX), Some(ObjectId([0xff; 12])));
    assert_eq!(ObjectId::min(end - 999_999), None);
    assert!(ObjectId::min(end - 1_000_000).is_some());
    assert_eq!(ObjectId::min(i64::MAX), None);
    assert_eq!(ObjectId::min_after(i64::MIN), Some(ObjectId([0; 12])));
    assert_eq!(ObjectId::min_after(0), ObjectId::min(1));
    assert_eq!(ObjectId::min_after(end - 1_000_000), None);
    assert_eq!(ObjectId::min_after(i64::MAX), None);
    assert_eq!(ObjectId::max_before(i64::MAX), Some(ObjectId([0xff; 12])));
    assert_eq!(ObjectId::max_before(1), ObjectId::max(0));
    assert_eq!(ObjectId::max_before(0), None);
    assert_eq!(ObjectId::max_before(i64::MIN), None);
}

/// Seconds with ids and without, a counter that comes round while the clock is set back, a reset, and several threads.
#[test]
fn object_ids_are_counted_exactly() {
    let lane = ObjectIdLane::new(SEED);
    assert_eq!(lane.ids_minted(), 0);
    let mint = |count: u64, now: Nanos| {
        let before = lane.ids_minted();
        for _ in 0..count {
            lane.objectid(now).unwrap();
        }
        assert_eq!(lane.ids_minted(), before + count);
    };
    for second in 0..10 {
        mint(100 * second, NOW + 7 * second.cast_signed() * SECOND);
    }
    // More than one and two rounds of the counter.
    mint((1 << 24) + 5, NOW - 3_600 * SECOND);
    mint((1 << 25) + 5, NOW + 100 * SECOND);
    mint(3, NOW + 200 * SECOND);
    lane.reset_count();
    assert_eq!(lane.ids_minted(), 0);
    mint(10, NOW + 300 * SECOND);
    let threads = 4;
    let each = 100_000;
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for place in 0..each {
                    lane.objectid(NOW + (300 + place / 50) * SECOND).unwrap();
                }
            });
        }
        let mut before = 0;
        while before < 10 {
            before = before.max(lane.ids_minted());
            assert!(before <= 10 + threads * each.unsigned_abs());
        }
    });
    assert_eq!(lane.ids_minted(), 10 + threads * each.unsigned_abs());
    // Past the end of the time field nothing is counted.
    assert_eq!(lane.objectid(5_000_000_000 * SECOND), None);
    assert_eq!(lane.ids_minted(), 10 + threads * each.unsigned_abs());
}
