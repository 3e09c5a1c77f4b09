//! Lanes and their table under every interleaving that the memory model allows.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p pg_mint_core --release --test loom ids`
//!
//! Two threads on a lane or a table are explored without a bound. Three, and those that write a page,
//! are explored with at most two preemptions each run, which is where known races of this kind live;
//! without a bound they would take days.

use crate::page::SharedPage;
use loom::sync::atomic::{AtomicI64, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;
use mint_core::{
    Ceiling, ClockAnchor, Host, Lane, LaneTable, Layout, Lookup, Micros, Nanos, ObjectIdLane,
    Policy, Run, TableCount, UuidLanes, mint,
};
use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering as Real};

/// Small enough that four ids fill a tick.
pub fn layout() -> Layout {
    "time:8 node:2 seq:2 unit:1ms epoch:1970-01-01T00:00:00Z"
        .parse()
        .unwrap()
}

const MS: Micros = 1_000;
const START: Micros = 5 * MS;
const WINDOW: Micros = 2 * MS;

/// Twitter's strictness: never ahead of the clock, no patience for a clock that stepped back.
const STRICT: Policy = Policy {
    max_ahead: 0,
    max_wait: 0,
    max_jump: Micros::MAX,
    window: WINDOW,
};
/// Borrows three ticks.
const AHEAD: Policy = Policy {
    max_ahead: 3 * MS,
    max_wait: 0,
    max_jump: Micros::MAX,
    window: WINDOW,
};

/// A clock that all threads share, and a page that holds the durable ceiling.
struct World {
    clock: AtomicI64,
    /// How far each reading moves the clock: 0 is a frozen one.
    step: Micros,
    page: SharedPage,
    ceiling: Ceiling,
    /// Whether sessions attach to the ceiling themselves.
    attach: bool,
    lane: Lane,
    /// Not loom's: stamps the order of things without ordering them.
    stamp: AtomicUsize,
}

impl World {
    fn new(step: Micros, ceiling: Ceiling) -> Arc<Self> {
        Self::with(step, ceiling, false)
    }

    /// One in which no session has read the page yet.
    fn detached(step: Micros) -> Arc<Self> {
        Self::with(step, Ceiling::default(), true)
    }

    fn with(step: Micros, ceiling: Ceiling, attach: bool) -> Arc<Self> {
        Arc::new(World {
            clock: AtomicI64::new(START),
            step,
            page: SharedPage::new(START + 1),
            ceiling,
            attach,
            lane: Lane::alone(&layout(), 1),
            stamp: AtomicUsize::new(0),
        })
    }
}

/// A ceiling attached to a page with this value.
fn starting_at(value: Micros) -> Ceiling {
    let ceiling = Ceiling::default();
    ceiling.attach(value);
    ceiling
}

struct Session<'w> {
    world: &'w World,
    anchor: ClockAnchor,
}

impl Host for Session<'_> {
    type Interrupt = ();

    fn now(&mut self) -> Micros {
        // Relaxed: a clock orders nothing but itself.
        match self.world.step {
            0 => self.world.clock.load(Ordering::Relaxed),
            step => self.world.clock.fetch_add(step, Ordering::Relaxed),
        }
    }

    fn up(&mut self) -> Micros {
        0
    }

    fn anchor(&self) -> &ClockAnchor {
        &self.anchor
    }

    fn pause(&mut self, span: Micros) -> Result<(), ()> {
        self.world.clock.fetch_add(span, Ordering::Relaxed);
        Ok(())
    }

    fn random(&mut self) -> u64 {
        0
    }

    fn stepped_back(&mut self, _: Micros) {}

    fn ceiling(&self) -> &Ceiling {
        &self.world.ceiling
    }

    /// As a session does: attach to the page first, later raise.
    fn raise(&mut self, beyond: Micros) -> Result<(), ()> {
        let world = self.world;
        if world.attach && world.ceiling.limit() == 0 {
            let value = *world.page.value.lock().unwrap();
            world.ceiling.attach(value);
        }
        let Ok(()) = world.ceiling.raise(beyond, WINDOW, &mut &world.page);
        Ok(())
    }
}

/// A run, and when it began and ended.
struct Minted {
    run: Run,
    began: usize,
    ended: usize,
}

/// Mints `times` runs and checks each against the bounds.
fn session(world: &World, times: usize, want: u64, policy: &Policy) -> Vec<Minted> {
    let layout = layout();
    let unbounded = world.ceiling.limit() == Micros::MAX;
    let mut host = Session {
        world,
        anchor: ClockAnchor::new(),
    };
    let one = |_| {
        let began = world.stamp.fetch_add(1, Real::SeqCst);
        let run = mint(&world.lane, &layout, want, policy, &mut host)
            .expect("a clock that never steps back refuses nothing");
        let ended = world.stamp.fetch_add(1, Real::SeqCst);
        let start = |word: u64| layout.tick_start(word >> layout.seq.width).unwrap();
        let last = start(run.first + run.count - 1);
        assert!(
            unbounded || last < world.page.durable.load(Ordering::Acquire),
            "past what is on disk"
        );
        assert!(start(run.first) >= world.ceiling.floor(), "below the floor");
        Minted { run, began, ended }
    };
    (0..times).map(one).collect()
}

/// Runs share no word, and one begun after another ended is above it; so each thread ascends.
fn check(runs: &[Minted]) {
    for (i, a) in runs.iter().enumerate() {
        for (j, b) in runs.iter().enumerate().filter(|&(j, _)| j != i) {
            let below = a.run.first + a.run.count <= b.run.first;
            let above = b.run.first + b.run.count <= a.run.first;
            assert!(below || above, "{:?} and {:?} overlap", a.run, b.run);
            assert!(
                below || a.ended > b.began,
                "run {j} began after {i} and is not above it"
            );
        }
    }
}

/// Each thread mints `times` runs of `want`; one more follows when all have ended.
fn race(threads: usize, times: usize, want: u64, policy: Policy, world: fn() -> Arc<World>) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = (threads > 2).then_some(2);
    explore(model, threads, times, want, policy, world);
}

/// As [`race`], over sessions that also write a page.
fn race_to_raise(times: usize, want: u64, world: fn() -> Arc<World>) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    explore(model, 2, times, want, AHEAD, world);
}

fn explore(
    model: loom::model::Builder,
    threads: usize,
    times: usize,
    want: u64,
    policy: Policy,
    world: fn() -> Arc<World>,
) {
    model.check(move || {
        let world = world();
        let others: Vec<_> = (1..threads)
            .map(|_| {
                let world = world.clone();
                thread::spawn(move || session(&world, times, want, &policy))
            })
            .collect();
        let mut runs = session(&world, times, want, &policy);
        runs.extend(others.into_iter().flat_map(|thread| thread.join().unwrap()));
        runs.extend(session(&world, 1, want, &policy));
        check(&runs);
    });
}

#[test]
fn two_threads_on_a_frozen_clock_never_repeat_a_word() {
    race(2, 2, 1, AHEAD, || World::new(0, Ceiling::unbounded()));
}

#[test]
fn two_strict_threads_on_a_ticking_clock_never_see_it_step_back() {
    race(2, 2, 1, STRICT, || World::new(MS, Ceiling::unbounded()));
}

#[test]
fn two_strict_threads_on_a_frozen_clock_wait_for_the_next_tick_only() {
    race(2, 2, 2, STRICT, || World::new(0, Ceiling::unbounded()));
}

#[test]
fn two_threads_mint_runs_that_do_not_overlap() {
    race(2, 2, 3, AHEAD, || World::new(MS / 2, Ceiling::unbounded()));
}

#[test]
fn three_threads_on_a_frozen_clock_never_repeat_a_word() {
    race(3, 1, 2, AHEAD, || World::new(0, Ceiling::unbounded()));
}

#[test]
fn three_strict_threads_on_a_ticking_clock_never_see_it_step_back() {
    race(3, 1, 1, STRICT, || World::new(MS, Ceiling::unbounded()));
}

#[test]
fn no_run_passes_a_ceiling_that_others_raise_or_starts_below_its_floor() {
    race_to_raise(1, 8, || World::new(MS / 2, starting_at(START + 1)));
}

/// The second run of each is past half of the window, so one of the two writes ahead.
#[test]
fn writing_ahead_publishes_nothing_that_is_not_on_disk() {
    race_to_raise(2, 3, || World::new(MS / 2, starting_at(START + 1)));
}

#[test]
fn a_ceiling_is_never_seen_without_its_floor() {
    race_to_raise(1, 2, || World::detached(0));
}

/// The server dies at any time. The next one finds the page as it is on disk then, and a clock that is set
/// back to the beginning; and still it repeats nothing that a client has seen.
fn crash(threads: usize, times: usize, want: u64, step: Micros) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(move || {
        let world = World::detached(step);
        // Both as they were when the server crashed, and not a word later.
        let seen = Arc::new(Mutex::new(Vec::new()));
        let minting: Vec<_> = (1..threads)
            .map(|_| {
                let (world, seen) = (world.clone(), seen.clone());
                thread::spawn(move || {
                    for _ in 0..times {
                        let minted = session(&world, 1, want, &AHEAD);
                        seen.lock().unwrap().extend(minted.iter().map(|m| m.run));
                    }
                })
            })
            .collect();
        let (seen_then, durable) = {
            let seen = seen.lock().unwrap();
            (seen.clone(), world.page.durable.load(Ordering::Acquire))
        };
        let next = World::with(0, starting_at(durable), false);
        *next.page.value.lock().unwrap() = durable;
        next.page.durable.store(durable, Ordering::Release);
        for minted in session(&next, 1, 2, &AHEAD) {
            for before in &seen_then {
                assert!(
                    before.first + before.count <= minted.run.first,
                    "{before:?} was seen before the crash, {:?} after it",
                    minted.run
                );
            }
        }
        for thread in minting {
            thread.join().unwrap();
        }
    });
}

#[test]
fn a_crash_while_one_session_raises_the_ceiling_repeats_nothing() {
    crash(2, 2, 3, MS / 2);
}

#[test]
fn a_crash_while_two_sessions_raise_the_ceiling_repeats_nothing() {
    crash(3, 1, 3, MS / 2);
}

/// A page under bounds that were published for another one.
struct Replaced {
    page: SharedPage,
    ceiling: Ceiling,
}

/// As of a database that is made under the oid of one that was dropped: all that may be minted is on disk, for the first
/// session that attaches and for the others.
#[test]
fn bounds_of_another_page_are_on_disk_before_a_session_mints_under_them() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let world = Arc::new(Replaced {
            page: SharedPage {
                may_be_set_back: true,
                ..SharedPage::new(1)
            },
            ceiling: starting_at(100),
        });
        let session = |world: &Replaced| {
            let value = *world.page.value.lock().unwrap();
            world.ceiling.attach(value);
            let Ok(()) = world.ceiling.bring_up(&mut &world.page);
            let is_on_disk = || {
                let limit = world.ceiling.limit();
                world.page.durable.load(Ordering::Acquire) >= limit
            };
            assert!(is_on_disk(), "what was published for the other page");
            let limit = world.ceiling.limit();
            let Ok(()) = world.ceiling.raise(limit, 10, &mut &world.page);
            assert!(is_on_disk(), "what was raised");
        };
        let other = {
            let world = Arc::clone(&world);
            thread::spawn(move || session(&world))
        };
        session(&world);
        other.join().unwrap();
    });
}

/// A table in what would be shared memory, and its lock.
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

    /// As a session does: look without the lock, insert under it.
    fn lane(&self, node: u64) -> &Lane {
        let layout = layout();
        let shared = || self.table().find_shared(&layout, node);
        match self.table().find(&layout, node) {
            Lookup::Found(lane) => lane,
            _ => match shared() {
                Lookup::Found(lane) => lane,
                _ => {
                    let _held = self.lock.lock().unwrap();
                    self.table()
                        .insert(&layout, node, 0)
                        .expect("there is room")
                }
            },
        }
    }

    /// For each node in turn its lane, and an id minted from it.
    fn visit(&self, nodes: &[u64]) -> Vec<(u64, usize, i64)> {
        let world = World::new(0, Ceiling::unbounded());
        let mut host = Session {
            world: &world,
            anchor: ClockAnchor::new(),
        };
        let mut one = |&node: &u64| {
            let lane = self.lane(node);
            let run = mint(lane, &layout(), 1, &AHEAD, &mut host).unwrap();
            (
                node,
                std::ptr::from_ref(lane) as usize,
                layout().id(node, run.first),
            )
        };
        nodes.iter().map(&mut one).collect()
    }
}

/// Each thread visits its nodes; then one thread visits all once more. One key has one lane, no
/// id comes twice, and `lanes` lanes are there.
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
                assert!(a.0 != b.0 || a.1 == b.1, "node {} has two lanes", a.0);
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

/// The node whose lane is the last to fit is looked up while it is made, and the shared one too.
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

/// The lanes of UUIDs and ObjectIDs: both threads' ids ascend, and none is in both.
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
