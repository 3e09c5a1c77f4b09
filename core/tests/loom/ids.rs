//! Lanes under every interleaving that the memory model allows.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p pg_mint_core --release --test loom ids`
//!
//! Two threads on a lane are explored without a bound. Three, and those that write a page, are explored with at most
//! two preemptions each run, which is where known races of this kind live; without a bound they would take days.

use crate::page::SharedPage;
use crate::world::{AHEAD, Clock, MS, START, Session, WINDOW, World, layout};
use loom::sync::atomic::Ordering;
use loom::sync::{Arc, Mutex};
use loom::thread;
use mint_core::{Ceiling, Micros, Policy, Run, mint};
use std::sync::atomic::Ordering as Real;

/// Twitter's strictness: never ahead of the clock, no wait for a clock that stepped back.
const STRICT: Policy = Policy {
    max_ahead: 0,
    max_wait: 0,
    max_jump: Micros::MAX,
    window: WINDOW,
};
/// Returns a world whose ceiling is in use, with a clock that moves by `step` at each reading.
fn world(step: Micros, ceiling: Ceiling) -> Arc<World> {
    Arc::new(World::new(Clock::stepping(step), ceiling))
}

/// Returns a world in which no session has read the page yet.
fn detached(step: Micros) -> Arc<World> {
    Arc::new(World {
        attach: true,
        ..World::new(Clock::stepping(step), Ceiling::default())
    })
}

/// Returns a ceiling attached to a page with this value.
fn starting_at(value: Micros) -> Ceiling {
    let ceiling = Ceiling::default();
    ceiling.attach(value);
    ceiling
}

/// A run, and the stamps of its beginning and end.
struct Minted {
    run: Run,
    began: usize,
    ended: usize,
}

/// Mints `times` runs and checks each against the bounds.
fn session(world: &World, times: usize, want: u64, policy: &Policy) -> Vec<Minted> {
    let layout = layout();
    let unbounded = world.ceiling.limit() == Micros::MAX;
    let mut host = Session::new(world);
    let one = |_| {
        let began = world.stamp.fetch_add(1, Real::SeqCst);
        let run = mint(&world.lanes[0], &layout, want, policy, &mut host)
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

/// Asserts that runs share no word, and that a run begun after another one ended is above it; so each thread ascends.
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
fn race(threads: usize, times: usize, want: u64, policy: Policy, new_world: fn() -> Arc<World>) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = (threads > 2).then_some(2);
    explore(model, threads, times, want, policy, new_world);
}

/// As [`race`], over sessions that also write a page.
fn race_to_raise(times: usize, want: u64, new_world: fn() -> Arc<World>) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    explore(model, 2, times, want, AHEAD, new_world);
}

fn explore(
    model: loom::model::Builder,
    threads: usize,
    times: usize,
    want: u64,
    policy: Policy,
    new_world: fn() -> Arc<World>,
) {
    model.check(move || {
        let world = new_world();
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
    race(2, 2, 1, AHEAD, || world(0, Ceiling::unbounded()));
}

#[test]
fn two_strict_threads_on_a_ticking_clock_never_see_it_step_back() {
    race(2, 2, 1, STRICT, || world(MS, Ceiling::unbounded()));
}

#[test]
fn two_strict_threads_on_a_frozen_clock_wait_for_the_next_tick_only() {
    race(2, 2, 2, STRICT, || world(0, Ceiling::unbounded()));
}

#[test]
fn two_threads_mint_runs_that_do_not_overlap() {
    race(2, 2, 3, AHEAD, || world(MS / 2, Ceiling::unbounded()));
}

#[test]
fn three_threads_on_a_frozen_clock_never_repeat_a_word() {
    race(3, 1, 2, AHEAD, || world(0, Ceiling::unbounded()));
}

#[test]
fn three_strict_threads_on_a_ticking_clock_never_see_it_step_back() {
    race(3, 1, 1, STRICT, || world(MS, Ceiling::unbounded()));
}

#[test]
fn no_run_passes_a_ceiling_that_others_raise_or_starts_below_its_floor() {
    race_to_raise(1, 8, || world(MS / 2, starting_at(START + 1)));
}

/// The second run of each is past half of the window, so one of the two writes ahead.
#[test]
fn writing_ahead_publishes_nothing_that_is_not_on_disk() {
    race_to_raise(2, 3, || world(MS / 2, starting_at(START + 1)));
}

#[test]
fn a_ceiling_is_never_seen_without_its_floor() {
    race_to_raise(1, 2, || detached(0));
}

/// Crashes the server at any time. The next one finds the page as it is on disk then, and a clock set back to the
/// beginning, and repeats no id that a client has seen.
fn crash(threads: usize, times: usize, want: u64, step: Micros) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(move || {
        let crashing = detached(step);
        // The world and the ids stay as they were at the crash.
        let seen = Arc::new(Mutex::new(Vec::new()));
        let minting: Vec<_> = (1..threads)
            .map(|_| {
                let (world, seen) = (crashing.clone(), seen.clone());
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
            (seen.clone(), crashing.page.durable.load(Ordering::Acquire))
        };
        let next = world(0, starting_at(durable));
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

/// A database is created under the oid of a dropped one: the limit is on disk before a session mints, for the first
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
            assert!(is_on_disk(), "the limit of the other page is not on disk");
            let limit = world.ceiling.limit();
            let Ok(()) = world.ceiling.raise(limit, 10, &mut &world.page);
            assert!(is_on_disk(), "the raised limit is not on disk");
        };
        let other = {
            let world = Arc::clone(&world);
            thread::spawn(move || session(&world))
        };
        session(&world);
        other.join().unwrap();
    });
}
