//! Segments under every interleaving that the memory model allows.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p pg_mint_core --release --test loom counters`
//!
//! With at most two preemptions each run, which is where known races of this kind live; without a bound they
//! would take days.

use loom::sync::atomic::{AtomicI64, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;
use mint_core::counter::segment::Switch;
use mint_core::{Draw, Segment, Values};

fn explore(run: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(run);
}

/// A sequence's page, its value on disk, and its segments.
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
        world.segment.reassign(1);
        Arc::new(world)
    }

    /// Takes values and fills the segment under the page's lock, as the extension does.
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
                    match self.segment.switch(1, flush) {
                        Switch::Done => {}
                        Switch::NotMine => return None,
                        Switch::Unfilled => self.fill(1),
                    }
                }
            }
        }
    }
}

fn assert_unique(mut drawn: Vec<i64>) {
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
        assert_unique(drawn.into_iter().map(Option::unwrap).collect());
    });
}

/// The memory is given to another sequence during a draw.
#[test]
fn a_claim_ends_drawing_and_mixes_no_values() {
    explore(|| {
        let world = World::new();
        // One value is left, and the next segment is filled.
        let (first, second) = (world.draw(), world.draw());
        let other = {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                let page = world.page.lock().unwrap();
                let left = world.segment.reassign(2);
                let values = Values {
                    first: 900,
                    increment: 1,
                    count: 2,
                };
                assert!(world.segment.fill(2, values, 0, 0));
                let taken = *page;
                drop(page);
                assert_eq!(world.segment.switch(2, |_| ()), Switch::Done);
                match world.segment.draw(2, 1) {
                    Draw::Got { first, .. } => (first, left, taken),
                    draw => panic!("{draw:?}"),
                }
            })
        };
        let mut drawn = vec![first, second];
        drawn.extend([world.draw(), world.draw()]);
        let drawn: Vec<i64> = drawn.into_iter().flatten().collect();
        assert!(drawn.iter().all(|&value| value < 900), "{drawn:?}");
        let (first, left, taken) = other.join().unwrap();
        assert_eq!(first, 900);
        // The switch reports all values that were taken until then and not drawn. A session that comes too late
        // takes more, which are lost.
        let drawn_last = drawn.iter().max().copied().unwrap();
        assert_eq!(left.cast_signed(), taken - drawn_last);
        assert_unique(drawn);
    });
}
