//! A lease that is extended and released while sessions mint under it, under every interleaving.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p pg_mint_core --release --test loom leases`
//!
//! Two threads are explored without a bound, three with at most two preemptions each run.

use crate::world::{Clock, MS, START as NOW, Session, World, layout};
use loom::sync::Arc;
use loom::thread;
use mint_core::snowflake::mint::Refusal;
use mint_core::{Ceiling, Lease, Micros, OpenTick, Policy, Run, mint};

/// Runs ahead to the end of these leases.
const POLICY: Policy = Policy {
    max_ahead: 20 * MS,
    max_wait: 0,
    max_jump: Micros::MAX,
    window: MS,
};

/// Returns a world with this lease, an unbounded ceiling and a stopped clock.
fn world(from: Micros, until: Micros) -> Arc<World> {
    let lease = Lease::default();
    lease.extend(from, until);
    Arc::new(World {
        lease: Some(lease),
        ..World::new(Clock::Stopped, Ceiling::unbounded())
    })
}

fn lease(world: &World) -> &Lease {
    world.lease.as_ref().unwrap()
}

/// Mints up to `times` runs of `want`, until the lease ends.
fn session(world: &World, lane: usize, times: usize, want: u64) -> Vec<Run> {
    let mut host = Session::new(world);
    let mut one = || mint(&world.lanes[lane], &layout(), want, &POLICY, &mut host);
    let mut runs = Vec::new();
    for _ in 0..times {
        match one() {
            Ok(run) => {
                runs.push(run);
                runs.extend(follow(world, lane, run));
            }
            Err(Refusal::Interrupted(())) => {}
            Err(Refusal::Refused(error)) => panic!("{error:?}"),
        }
    }
    runs
}

/// Mints the word after a run from its tick, if there is one.
fn follow(world: &World, lane: usize, run: Run) -> Option<Run> {
    let (layout, last) = (layout(), run.first + run.count - 1);
    let place = (&world.lanes[lane], world.lease.as_ref());
    let tick = OpenTick::new(&layout, place, (0, last), POLICY.max_ahead)?;
    let id = tick.next(|| &world.ceiling, || NOW)?;
    let (_, first) = layout.shard_and_word(id).unwrap();
    Some(Run { first, count: 1 })
}

fn words(runs: &[Run]) -> impl Iterator<Item = u64> {
    runs.iter().flat_map(|run| run.first..run.first + run.count)
}

/// Explores sessions on these lanes beside `other`, and passes their runs to `check`.
fn explore<T: 'static>(
    sessions: &'static [usize],
    new_world: fn() -> Arc<World>,
    other: fn(&World) -> T,
    check: fn(T, &World, Vec<Run>),
) {
    let many = sessions.len() > 1;
    let times = if many { 1 } else { 2 };
    let mut model = loom::model::Builder::new();
    model.preemption_bound = many.then_some(2);
    model.check(move || {
        let world = new_world();
        let minting: Vec<_> = sessions
            .iter()
            .map(|&lane| {
                let world = world.clone();
                thread::spawn(move || session(&world, lane, times, 5))
            })
            .collect();
        let outcome = other(&world);
        let runs = minting
            .into_iter()
            .flat_map(|thread| thread.join().unwrap());
        let runs = runs.collect();
        check(outcome, &world, runs);
    });
}

fn release(sessions: &'static [usize]) {
    explore(
        sessions,
        || world(NOW, NOW + 3 * MS),
        |world| lease(world).release(&world.lanes),
        |used, world, mut runs| {
            for lane in 0..2 {
                runs.extend(session(world, lane, 1, 1));
            }
            let start = words(&runs)
                .map(|word| layout().word_start_saturating(word))
                .max();
            assert!(
                start < Some(used),
                "{start:?} was minted, and the lease released at {used}"
            );
            let mine = start.map_or(NOW, |start| start + 1);
            assert_eq!(used, mine, "more was kept than was used");
        },
    );
}

#[test]
fn nothing_is_minted_after_the_release() {
    release(&[0]);
}

#[test]
fn nothing_is_minted_by_two_after_the_release() {
    release(&[0, 0]);
}

#[test]
fn nothing_is_minted_from_two_lanes_after_the_release() {
    release(&[0, 1]);
}

/// The lease is extended by a millisecond; then it is lost, and another begins, after one of another server.
fn extend(sessions: &'static [usize]) {
    explore(
        sessions,
        || world(NOW, NOW + MS),
        |world| {
            lease(world).extend(NOW, NOW + 2 * MS);
            lease(world).extend(NOW + 4 * MS, NOW + 5 * MS);
        },
        |(), world, mut runs| {
            runs.extend(session(world, 0, 1, 1));
            for word in words(&runs) {
                let start = layout().word_start_saturating(word) - NOW;
                let mine = (0..2 * MS).contains(&start) || (4 * MS..5 * MS).contains(&start);
                assert!(mine, "{start} is another server's");
            }
        },
    );
}

#[test]
fn no_end_is_seen_without_its_beginning() {
    extend(&[0]);
}

#[test]
fn no_end_is_seen_by_two_without_its_beginning() {
    extend(&[0, 0]);
}
