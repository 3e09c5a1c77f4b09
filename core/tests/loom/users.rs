//! User sequences under every interleaving that the memory model allows.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p pg_mint_core --release --test loom users`
//!
//! With at most two preemptions each run, or three where the race needs them; without a bound they would take
//! days.

use crate::page::SharedPage;
use loom::sync::Arc;
use loom::sync::atomic::Ordering;
use loom::thread;
use mint_core::counter::user_bucket::{Bucket, SectionOwner};
use mint_core::counter::user_table::TableHead;
use mint_core::{DrawError, Section, UserTable};

fn explore(preemptions: usize, run: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    // A search through a bucket is many steps.
    model.max_branches = 20_000;
    model.check(run);
}

/// Few, so that a bucket is soon full.
const PLACES: usize = 3;

struct Users {
    /// The section's page.
    page: SharedPage,
    section: Section,
    head: TableHead,
    buckets: Vec<Bucket<PLACES>>,
}

impl Users {
    fn new(buckets: usize) -> Arc<Self> {
        let users = Users {
            page: SharedPage::new(1),
            section: Section::default(),
            head: TableHead::default(),
            buckets: (0..buckets).map(|_| Bucket::default()).collect(),
        };
        assert!(users.section.reassign(OWNER, || true));
        users.section.bounds.attach(1);
        Arc::new(users)
    }

    /// Draws the next `want` numbers of a user, and raises the ceiling by `step` if it has to.
    fn draw(&self, owner: SectionOwner, id: i64, want: u64, step: i64) -> Result<i64, DrawError> {
        let table = UserTable::whole(&self.head, &self.buckets);
        let evict = |entry| self.section.evict(entry);
        for _ in 0..20 {
            match table.draw(&self.section, owner, id, want, evict) {
                Err(DrawError::Beyond(beyond)) => {
                    let Ok(()) = self.section.bounds.raise(beyond, step, &mut &self.page);
                }
                Ok(number) => {
                    let durable = self.page.durable.load(Ordering::Acquire);
                    assert!(number < durable, "{number} is not on disk");
                    return Ok(number);
                }
                error => return error,
            }
        }
        panic!("user {id} gets no {want} numbers, however often the ceiling is raised")
    }

    fn next(&self, id: i64) -> i64 {
        self.draw(OWNER, id, 1, 2).unwrap()
    }

    /// Gives the memory of the section to another section, which is at this number.
    fn hand_over(&self, value: i64) {
        assert!(self.section.reassign(NEWER, || true));
        self.section.bounds.attach(value);
        *self.page.value.lock().unwrap() = value;
    }
}

const OWNER: SectionOwner = 5;
/// The owner of another section in the same place.
const NEWER: SectionOwner = 1 << 16 | 5;

/// Users that fill a bucket. When it is split, the first one stays, and the others move.
const CROWD: [i64; PLACES] = [0, 12, 16];
/// Its home place is that of the first user of the crowd.
const NEWCOMER: i64 = 32;

#[test]
fn two_sessions_draw_for_one_user() {
    explore(2, || {
        let users = Users::new(1);
        let other = {
            let users = Arc::clone(&users);
            thread::spawn(move || [users.next(9), users.next(9)])
        };
        let mine = [users.next(9), users.next(9)];
        let others = other.join().unwrap();
        assert!(mine[0] < mine[1] && others[0] < others[1]);
        let mut all = [mine, others].concat();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 4, "twice in {all:?}");
    });
}

/// The table grows while a session draws for users that move.
#[test]
fn a_growing_table_loses_no_user() {
    explore(2, || {
        let users = Users::new(2);
        for id in CROWD {
            users.next(id);
        }
        let grower = {
            let users = Arc::clone(&users);
            thread::spawn(move || UserTable::whole(&users.head, &users.buckets).grow())
        };
        assert_eq!(users.next(CROWD[0]), 2);
        assert_eq!(users.next(CROWD[1]), 2);
        grower.join().unwrap();
        assert_eq!(users.next(CROWD[2]), 2);
        assert_eq!(users.next(CROWD[0]), 3);
    });
}

/// A session that has read the level is stopped until the table has grown, and grows again.
#[test]
fn a_table_that_grew_twice_loses_no_user() {
    // In buckets 2, 1 and 3 of four.
    const APART: [i64; 3] = [0, 12, 104];
    explore(3, || {
        let users = Users::new(4);
        for id in APART {
            users.next(id);
        }
        let grower = {
            let users = Arc::clone(&users);
            thread::spawn(move || {
                let table = UserTable::whole(&users.head, &users.buckets);
                table.grow();
                table.grow();
            })
        };
        assert_eq!(users.next(APART[2]), 2);
        grower.join().unwrap();
        assert_eq!(users.next(APART[2]), 3);
    });
}

/// A new user takes the place of an entry that is being drawn from.
#[test]
fn a_user_evicted_during_a_draw_continues_above() {
    explore(2, || {
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

/// Another session takes numbers from the section's sequence: no user gets one of them, even under a limit above.
#[test]
fn what_others_took_from_the_page_is_not_issued() {
    explore(2, || {
        let users = Users::new(1);
        // With a step of 1, the page has no numbers in reserve.
        let next = |users: &Users| users.draw(OWNER, 7, 1, 1).unwrap();
        let before = next(&users);
        let other = {
            let users = Arc::clone(&users);
            thread::spawn(move || {
                let mut page = users.page.value.lock().unwrap();
                let found = *page;
                *page = 100;
                users.page.durable.fetch_max(100, Ordering::AcqRel);
                drop(page);
                let Ok(()) = users.section.bounds.raise(100, 1, &mut &users.page);
                found
            })
        };
        let drawn = [next(&users), next(&users)];
        let found = other.join().unwrap();
        assert!(before < drawn[0] && drawn[0] < drawn[1], "{drawn:?}");
        for number in drawn {
            assert!(
                number < found || number >= 100,
                "{number}, not {found} to 99"
            );
        }
    });
}

/// The memory of a section goes to another during a draw for a user of both.
#[test]
fn a_section_that_takes_anothers_place_has_its_own_numbers() {
    explore(2, || {
        let users = Users::new(1);
        users.next(7);
        let other = {
            let users = Arc::clone(&users);
            thread::spawn(move || {
                let table = UserTable::whole(&users.head, &users.buckets);
                let draw = || table.draw(&users.section, OWNER, 7, 1, |_| ());
                [draw(), draw()].into_iter().flatten().collect::<Vec<_>>()
            })
        };
        users.hand_over(100);
        let mine = [users.draw(NEWER, 7, 1, 9), users.draw(NEWER, 7, 1, 9)].map(Result::unwrap);
        assert!(100 <= mine[0] && mine[0] < mine[1], "{mine:?}");
        let theirs = other.join().unwrap();
        assert!(theirs.iter().all(|&number| number < 100), "{theirs:?}");
    });
}

/// The reach of the former section, even when it rises meanwhile, does not raise that of the new one.
#[test]
fn a_section_that_takes_anothers_place_has_its_own_reach() {
    explore(2, || {
        let users = Users::new(1);
        for id in CROWD {
            users.next(id);
        }
        users.draw(OWNER, CROWD[0], 1 << 40, 1 << 50).unwrap();
        let other = {
            let users = Arc::clone(&users);
            thread::spawn(move || {
                let table = UserTable::whole(&users.head, &users.buckets);
                let evict = |entry| users.section.evict(entry);
                let _ = table.draw(&users.section, OWNER, NEWCOMER, 1 << 48, evict);
            })
        };
        users.hand_over(100);
        other.join().unwrap();
        let next = |id, want| users.draw(NEWER, id, want, 1 << 30).unwrap();
        assert_eq!([next(36, 1), next(36, 2_000_000)], [100, 101]);
        assert!(next(36, 2_000_000) > 2_000_100);
        // The user may be mistaken for one of the former section, and take over the digits of its entry.
        assert!(next(40, 1) < 100 + (1 << 23));
    });
}
