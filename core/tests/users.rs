//! User sequences: WeChat's own example, eviction, growth, and crashes at random.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::Paper;
use mint_core::users::{Bucket, Owner, TableHead, hash, section_of};
use mint_core::{Held, Section, UserTable};
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::HashMap;

/// A server with some sections and a table of a given size.
struct Server {
    sections: Vec<(Section, Paper)>,
    head: TableHead,
    buckets: Vec<Bucket>,
    step: i64,
    evictions: RefCell<u64>,
}

fn owner(section: usize) -> Owner {
    7 << 16 | section as Owner
}

impl Server {
    fn new(sections: usize, buckets: usize, step: i64) -> Self {
        let page = || Paper {
            value: 1,
            durable: 1,
            ..Paper::default()
        };
        let mut server = Self {
            sections: (0..sections)
                .map(|_| (Section::default(), page()))
                .collect(),
            head: TableHead::default(),
            buckets: (0..buckets).map(|_| Bucket::default()).collect(),
            step,
            evictions: RefCell::default(),
        };
        server.attach();
        server
    }

    fn attach(&mut self) {
        for (index, (section, page)) in self.sections.iter_mut().enumerate() {
            *section = Section::default();
            assert!(section.claim(owner(index), || true));
            section.bounds.attach(page.value, []);
        }
    }

    fn restart(&mut self, lost: bool) {
        let buckets = self.buckets.len();
        self.head = TableHead::default();
        self.buckets = (0..buckets).map(|_| Bucket::default()).collect();
        for (_, page) in &mut self.sections {
            if lost {
                page.value = page.durable;
            }
            page.durable = page.value;
        }
        self.attach();
    }

    fn next(&mut self, id: i64, want: u64) -> i64 {
        let index = section_of(id, self.sections.len());
        loop {
            let table = UserTable::new(&self.head, &self.buckets);
            let drawn = table.draw(
                &self.sections[index].0,
                owner(index),
                id,
                want,
                |of, next| {
                    *self.evictions.borrow_mut() += 1;
                    self.sections[(of & 0xffff) as usize].0.evict(next);
                },
            );
            match drawn {
                Ok(first) => {
                    let (_, page) = &self.sections[index];
                    assert!(first + want.cast_signed() <= page.durable, "not on disk");
                    return first;
                }
                Err(Held::Crowded) => table.grow(),
                Err(Held::Beyond(beyond)) => {
                    let (section, page) = &mut self.sections[index];
                    let Ok(()) = section.bounds.raise(beyond, self.step, page);
                }
                Err(held) => panic!("{held:?}"),
            }
        }
    }

    fn current(&self, id: i64) -> i64 {
        let index = section_of(id, self.sections.len());
        let table = UserTable::new(&self.head, &self.buckets);
        let (section, _) = &self.sections[index];
        table.current(section, owner(index), id).unwrap()
    }
}

/// The row `seqsvr`, `steps` of the known ids.
#[test]
fn seqsvr_goes_on_from_the_sections_ceiling() {
    let mut server = Server::new(1, 16, 10_000);
    assert_eq!((server.next(1, 1), server.next(2, 1)), (1, 1));
    server.restart(true);
    assert_eq!((server.next(1, 1), server.next(2, 1)), (10_001, 10_001));
    assert_eq!(server.current(1), 10_001);
    let (_, page) = &server.sections[0];
    assert_eq!(page.value, 20_001, "the next number after the ceiling");
}

/// The row `seqsvr`, `sizing`: sections by ranges of ids would need that many. Ours are as many as wanted, and
/// a section is 72 bytes.
#[test]
fn seqsvrs_sizing_is_that_of_sections_not_users() {
    assert_eq!(4_294_967_296_u64.div_ceil(100_000), 42_950);
    assert_eq!(42_950 * 8, 343_600);
    for id in [0, -1, i64::MAX, i64::MIN, 4_294_967_296] {
        assert!(section_of(id, 64) < 64);
    }
}

/// Pages on disk rely on it.
#[test]
fn the_hash_is_frozen() {
    assert_eq!(hash(0), 0xe220_a839_7b1d_cdaf);
    assert_eq!(
        [0, 4, -1, 1_000_000, i64::MAX].map(|id| section_of(id, 64)),
        FROZEN
    );
}
const FROZEN: [usize; 5] = [56, 36, 57, 33, 35];

#[test]
fn users_spread_evenly_over_sections() {
    let mut counts = [0; 64];
    for id in 0..640_000 {
        counts[section_of(id, 64)] += 1;
    }
    let (least, most) = (counts.iter().min(), counts.iter().max());
    assert!(least > Some(&9_000) && most < Some(&11_000), "{counts:?}");
}

#[test]
fn hardly_anybody_is_evicted_while_there_is_room() {
    let mut server = Server::new(8, 8_192, 10_000);
    for id in 0..100_000 {
        server.next(id, 1);
    }
    let evictions = *server.evictions.borrow();
    assert!(evictions < 6_000, "{evictions}");
    let most = (0..100_000).map(|id| server.next(id, 1)).max();
    assert!(most < Some(100), "{most:?}");
}

/// Users are spread over all the memory there is before those who were used lately have to leave.
#[test]
fn a_table_that_is_full_evicts_who_was_not_used_for_longest() {
    let mut server = Server::new(8, 256, 10_000);
    for id in 0..20_000 {
        server.next(id, 1);
    }
    assert!(*server.evictions.borrow() > 10_000);
    let before = *server.evictions.borrow();
    for id in 19_000..20_000 {
        server.next(id, 1);
    }
    let evicted = *server.evictions.borrow() - before;
    assert!(
        evicted < 100,
        "{evicted} of the last thousand were not there any more"
    );
}

#[test]
fn who_was_evicted_goes_on_above() {
    let mut server = Server::new(1, 1, 1_000);
    for _ in 0..50 {
        server.next(-7, 1);
    }
    assert_eq!(server.current(-7), 50);
    for id in 0..30 {
        server.next(id, 1);
    }
    assert!(*server.evictions.borrow() >= 10);
    assert!(server.current(-7) >= 50);
    assert!(server.next(-7, 1) > 50);
}

#[test]
fn numbers_end_before_64_bits_do() {
    let mut server = Server::new(1, 1, 1_000);
    server.sections[0].1.value = i64::MAX - 10;
    server.restart(false);
    let table = UserTable::new(&server.head, &server.buckets);
    let held = table.draw(&server.sections[0].0, owner(0), 1, 100, |_, _| ());
    assert_eq!(held, Err(Held::UsedUp));
    assert_eq!(server.next(1, 5), i64::MAX - 10);
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Next(i64, u64),
    Current(i64),
    Crash {
        lost: bool,
    },
    /// Somebody calls nextval or setval on the section's sequence.
    Foreign(usize, i64),
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        12 => (0..60_i64, 1..4_u64).prop_map(|(id, want)| Event::Next(id, want)),
        2 => (0..60_i64, 20..200_u64).prop_map(|(id, want)| Event::Next(id, want)),
        3 => (0..60_i64).prop_map(Event::Current),
        1 => any::<bool>().prop_map(|lost| Event::Crash { lost }),
        1 => (0..3_usize, 1..50_i64).prop_map(|(section, by)| Event::Foreign(section, by)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn each_user_only_ever_goes_up(
        buckets in prop_oneof![Just(1_usize), Just(2), Just(8)],
        step in 2..40_i64,
        story in prop::collection::vec(events(), 1..400),
    ) {
        let mut server = Server::new(3, buckets, step);
        let mut last: HashMap<i64, i64> = HashMap::new();
        for event in story {
            match event {
                Event::Next(id, want) => {
                    let first = server.next(id, want);
                    let before = last.insert(id, first + want.cast_signed() - 1).unwrap_or(0);
                    prop_assert!(first > before, "user {id}: {first} after {before}");
                }
                Event::Current(id) => {
                    let got = last.get(&id).copied().unwrap_or(0);
                    prop_assert!(server.current(id) >= got);
                }
                Event::Crash { lost } => server.restart(lost),
                Event::Foreign(section, by) => {
                    let page = &mut server.sections[section].1;
                    page.value += by;
                    page.durable = page.value;
                }
            }
        }
    }
}
