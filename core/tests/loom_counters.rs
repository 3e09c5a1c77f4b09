//! Segments and user sequences under every interleaving that the memory model allows.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p mint_core --release --test loom_counters`
//!
//! With at most two preemptions each run, which is where known races of this kind live; without a bound they
//! would take days.
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use loom::sync::atomic::{AtomicI64, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;
use mint_core::segment::Turn;
use mint_core::users::{Bucket, TableHead};
use mint_core::{Draw, Held, Page, Section, Segment, UserTable, Values};
use std::convert::Infallible;

fn explore(run: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    // A search through a bucket is many steps.
    model.max_branches = 20_000;
    model.check(run);
}

/// A sequence's page, how much of it is on disk, and its segments.
struct World {
    page: Mutex<i64>,
    durable: AtomicI64,
    segment: Segment,
}

const STEP: i64 = 3;

impl World {
    fn new() -> Arc<Self> {
        let world = World {
            page: Mutex::new(0),
            durable: AtomicI64::new(0),
            segment: Segment::default(),
        };
        world.segment.claim(1);
        Arc::new(world)
    }

    /// As the extension does: takes and fills while it holds the page.
    fn fill(&self, owner: u32) {
        let mut page = self.page.lock().unwrap();
        if self.segment.lacks_next() {
            let values = Values {
                first: *page + 1,
                increment: 1,
                count: STEP.unsigned_abs(),
            };
            *page += STEP;
            self.segment.fill(owner, values, page.unsigned_abs(), 0);
        }
    }

    fn draw(&self) -> Option<i64> {
        loop {
            match self.segment.draw(1, 1) {
                Draw::Got { first, fetch, .. } => {
                    assert!(
                        first <= self.durable.load(Ordering::Acquire),
                        "{first} is not on disk"
                    );
                    if fetch {
                        self.fill(1);
                    }
                    return Some(first);
                }
                Draw::NotMine => return None,
                Draw::Short { .. } => {
                    let flush = |position: u64| {
                        let position = position.cast_signed();
                        self.durable.fetch_max(position, Ordering::AcqRel);
                    };
                    match self.segment.turn(1, flush) {
                        Turn::Done => {}
                        Turn::NotMine => return None,
                        Turn::Lacking => self.fill(1),
                    }
                }
            }
        }
    }
}

fn unique(mut drawn: Vec<i64>) {
    drawn.sort_unstable();
    let count = drawn.len();
    drawn.dedup();
    assert_eq!(count, drawn.len(), "twice in {drawn:?}");
}

#[test]
fn two_sessions_draw_across_boundaries() {
    explore(|| {
        let world = World::new();
        let other = {
            let world = Arc::clone(&world);
            thread::spawn(move || [world.draw(), world.draw(), world.draw()])
        };
        let mut drawn = vec![world.draw(), world.draw()];
        drawn.extend(other.join().unwrap());
        unique(drawn.into_iter().map(Option::unwrap).collect());
    });
}

/// Somebody takes the memory for another sequence while a session draws.
#[test]
fn a_claim_ends_drawing_and_mixes_nothing_up() {
    explore(|| {
        let world = World::new();
        // One is left, and the next segment is there.
        let (first, second) = (world.draw(), world.draw());
        let other = {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                let page = world.page.lock().unwrap();
                world.segment.claim(2);
                let values = Values {
                    first: 900,
                    increment: 1,
                    count: 2,
                };
                assert!(world.segment.fill(2, values, 0, 0));
                drop(page);
                assert_eq!(world.segment.turn(2, |_| ()), Turn::Done);
                match world.segment.draw(2, 1) {
                    Draw::Got { first, .. } => first,
                    draw => panic!("{draw:?}"),
                }
            })
        };
        let mut drawn = vec![first, second];
        drawn.extend([world.draw(), world.draw()]);
        let drawn: Vec<i64> = drawn.into_iter().flatten().collect();
        assert!(drawn.iter().all(|&value| value < 900), "{drawn:?}");
        unique(drawn);
        assert_eq!(other.join().unwrap(), 900);
    });
}

/// Of a bucket, to fill it soon.
const PLACES: usize = 3;

struct Users {
    page: Mutex<i64>,
    durable: AtomicI64,
    section: Section,
    head: TableHead,
    buckets: Vec<Bucket<PLACES>>,
}

/// Whoever locks the table, in its server.
struct Paper<'a>(&'a Users);

impl Page for Paper<'_> {
    type Position = i64;
    type Failure = Infallible;

    fn update(
        &mut self,
        decide: impl FnOnce(i64) -> Option<i64>,
    ) -> Result<(i64, i64), Infallible> {
        let mut page = self.0.page.lock().unwrap();
        *page = decide(*page).unwrap_or(*page);
        Ok((*page, *page))
    }

    fn flush(&mut self, position: i64) -> Result<(), Infallible> {
        self.0.durable.fetch_max(position, Ordering::AcqRel);
        Ok(())
    }

    fn set_back(&mut self, from: i64, to: i64) {
        panic!("nobody sets the page back, from {from} to {to}");
    }
}

impl Users {
    fn new(buckets: usize) -> Arc<Self> {
        let users = Users {
            page: Mutex::new(1),
            durable: AtomicI64::new(1),
            section: Section::default(),
            head: TableHead::default(),
            buckets: (0..buckets).map(|_| Bucket::default()).collect(),
        };
        assert!(users.section.claim(5, || true));
        users.section.bounds.attach(1, []);
        Arc::new(users)
    }

    fn next(&self, id: i64) -> i64 {
        let table = UserTable::new(&self.head, &self.buckets);
        loop {
            match table.draw(&self.section, 5, id, 1, |who| self.section.evict(who)) {
                Ok(number) => {
                    let durable = self.durable.load(Ordering::Acquire);
                    assert!(number < durable, "{number} is not on disk");
                    return number;
                }
                Err(Held::Beyond(beyond)) => {
                    let Ok(()) = self.section.bounds.raise(beyond, 2, &mut Paper(self));
                }
                Err(held) => panic!("{held:?}"),
            }
        }
    }
}

#[test]
fn two_sessions_draw_for_one_user() {
    explore(|| {
        let users = Users::new(1);
        let other = {
            let users = Arc::clone(&users);
            thread::spawn(move || [users.next(9), users.next(9)])
        };
        let mine = [users.next(9), users.next(9)];
        let others = other.join().unwrap();
        assert!(mine[0] < mine[1] && others[0] < others[1]);
        unique([mine, others].concat());
    });
}

/// Users who fill a bucket. When it is split, the others leave the first.
const CROWD: [i64; PLACES] = [0, 12, 16];

/// The table grows while a session draws for users who move.
#[test]
fn a_growing_table_loses_nobody() {
    explore(|| {
        let users = Users::new(2);
        for id in CROWD {
            users.next(id);
        }
        let grower = {
            let users = Arc::clone(&users);
            thread::spawn(move || UserTable::new(&users.head, &users.buckets).grow())
        };
        assert_eq!(users.next(CROWD[0]), 2);
        assert_eq!(users.next(CROWD[1]), 2);
        grower.join().unwrap();
        assert_eq!(users.next(CROWD[2]), 2);
        assert_eq!(users.next(CROWD[0]), 3);
    });
}

/// A newcomer takes the place of somebody who draws at that moment.
#[test]
fn who_is_evicted_while_he_draws_goes_on_above() {
    explore(|| {
        let users = Users::new(1);
        for id in CROWD {
            users.next(id);
        }
        let newcomer = {
            let users = Arc::clone(&users);
            thread::spawn(move || users.next(NEWCOMER))
        };
        let drawn = [users.next(CROWD[0]), users.next(CROWD[0])];
        assert!(1 < drawn[0] && drawn[0] < drawn[1], "{drawn:?}");
        let first = newcomer.join().unwrap();
        assert!(users.next(NEWCOMER) > first);
        assert!(users.next(CROWD[0]) > drawn[1]);
    });
}

/// His own place is that of the first of the crowd.
const NEWCOMER: i64 = 32;

/// The memory of a section goes to another while somebody draws for a user whom both have.
#[test]
fn a_section_that_takes_anothers_place_has_its_own_numbers() {
    explore(|| {
        let users = Users::new(1);
        users.next(7);
        let other = {
            let users = Arc::clone(&users);
            thread::spawn(move || {
                let table = UserTable::new(&users.head, &users.buckets);
                let draw = |owner| table.draw(&users.section, owner, 7, 1, |_| ());
                [draw(5), draw(5)].into_iter().flatten().collect::<Vec<_>>()
            })
        };
        let newer = 1 << 16 | 5;
        assert!(users.section.claim(newer, || true));
        users.section.bounds.attach(100, []);
        let table = UserTable::new(&users.head, &users.buckets);
        let draw = || loop {
            match table.draw(&users.section, newer, 7, 1, |_| ()) {
                Ok(number) => return number,
                Err(Held::Beyond(beyond)) => {
                    *users.page.lock().unwrap() = 100;
                    let Ok(()) = users.section.bounds.raise(beyond, 9, &mut Paper(&users));
                }
                Err(held) => panic!("{held:?}"),
            }
        };
        let mine = [draw(), draw()];
        assert!(100 <= mine[0] && mine[0] < mine[1], "{mine:?}");
        let theirs = other.join().unwrap();
        assert!(theirs.iter().all(|&number| number < 100), "{theirs:?}");
    });
}
