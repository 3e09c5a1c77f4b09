//! User sequences: WeChat's own example, eviction, growth, and crashes at random.

use crate::common::Paper;
use mint_core::counter::section::{Evicted, section_of};
use mint_core::counter::user_bucket::{Bucket, SectionOwner, hash};
use mint_core::counter::user_table::TableHead;
use mint_core::{DrawError, Section, UserTable};
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::HashMap;

/// A server with some sections and a table of a given size.
struct Server<const PLACES: usize = 511> {
    sections: Vec<(Section, Paper)>,
    head: TableHead,
    buckets: Vec<Bucket<PLACES>>,
    step: i64,
    evictions: RefCell<u64>,
}

fn owner(section: usize) -> SectionOwner {
    7 << 16 | section as SectionOwner
}

impl<const PLACES: usize> Server<PLACES> {
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
            assert!(section.reassign(owner(index), || true));
            section.bounds.attach(page.value);
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
            let table = UserTable::whole(&self.head, &self.buckets);
            let drawn = table.draw(
                &self.sections[index].0,
                owner(index),
                id,
                want,
                |entry: Evicted| {
                    *self.evictions.borrow_mut() += 1;
                    self.sections[entry.section()].0.evict(entry);
                },
            );
            match drawn {
                Ok(first) => {
                    let (_, page) = &self.sections[index];
                    assert!(first + want.cast_signed() <= page.durable, "not on disk");
                    return first;
                }
                Err(DrawError::Crowded) => {
                    // Two sessions can find it full at the same time.
                    table.grow();
                    table.grow();
                }
                Err(DrawError::Beyond(beyond)) => {
                    let (section, page) = &mut self.sections[index];
                    let Ok(()) = section.bounds.raise(beyond, self.step, page);
                }
                Err(error) => panic!("{error:?}"),
            }
        }
    }

    fn current(&self, id: i64) -> i64 {
        let index = section_of(id, self.sections.len());
        let table = UserTable::whole(&self.head, &self.buckets);
        let (section, _) = &self.sections[index];
        table.current(section, owner(index), id).unwrap()
    }
}

/// The row `seqsvr`, `steps` of the known ids.
#[test]
fn seqsvr_continues_from_the_sections_ceiling() {
    let mut server = Server::<511>::new(1, 16, 10_000);
    assert_eq!((server.next(1, 1), server.next(2, 1)), (1, 1));
    server.restart(true);
    assert_eq!((server.next(1, 1), server.next(2, 1)), (10_001, 10_001));
    assert_eq!(server.current(1), 10_001);
    let (_, page) = &server.sections[0];
    assert_eq!(page.value, 20_001, "the next number after the ceiling");
}

/// The row `seqsvr`, `sizing`: the number of sections by ranges of ids. Ours are as many as configured, of 80 bytes
/// each.
#[test]
fn seqsvrs_sizing_is_that_of_sections_not_users() {
    assert_eq!(4_294_967_296_u64.div_ceil(100_000), 42_950);
    assert_eq!(42_950 * 8, 343_600);
    for id in [0, -1, i64::MAX, i64::MIN, 4_294_967_296] {
        assert!(section_of(id, 64) < 64);
    }
}

/// Pages on disk rely on the hash.
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

/// There is room up to three quarters of all places.
#[test]
fn no_user_is_evicted_while_there_is_room() {
    let mut server = Server::<511>::new(8, 1_024, 10_000);
    let three_quarters = 1_024 * 511 / 4 * 3;
    for id in 0..three_quarters {
        server.next(id, 1);
    }
    let far_apart = |id: i64| id.wrapping_mul(0x1234_5678_9abc_def1);
    let most = (0..three_quarters).map(|id| server.next(id, 1)).max();
    assert_eq!((*server.evictions.borrow(), most), (0, Some(2)));
    server.restart(false);
    let floor = (0..8).map(|section| server.sections[section].1.value).max();
    for round in 0..2 {
        for id in 0..three_quarters {
            let number = server.next(far_apart(id), 1);
            assert!(Some(number) <= floor.map(|floor| floor + round), "{number}");
        }
    }
    assert_eq!(*server.evictions.borrow(), 0);
}

#[test]
fn a_full_table_evicts_the_least_recently_used() {
    let mut server = Server::<511>::new(8, 16, 10_000);
    for id in 0..30_000 {
        server.next(id, 1);
    }
    let before = *server.evictions.borrow();
    assert!(before > 20_000, "{before}");
    for id in 29_000..30_000 {
        server.next(id, 1);
    }
    let evicted = *server.evictions.borrow() - before;
    assert!(evicted < 100, "{evicted} of the last thousand were evicted");
}

#[test]
fn an_evicted_user_continues_above() {
    let mut server = Server::<20>::new(1, 1, 1_000);
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

/// Buckets of three are full and split all the time.
#[test]
fn a_table_that_grows_keeps_its_users() {
    let mut server = Server::<3>::new(4, 2_048, 1_000);
    let far_apart = |id: i64| id.wrapping_mul(0x1234_5678_9abc_def1);
    let mut last: HashMap<i64, i64> = HashMap::new();
    for round in 0..5 {
        for id in (0..2_500).map(far_apart) {
            let number = server.next(id, 1);
            let before = last.insert(id, number).unwrap_or(0);
            assert!(number > before, "round {round}: {number} after {before}");
            assert!(server.current(id) >= number);
        }
    }
}

#[test]
fn users_are_counted_by_section() {
    let mut server = Server::<511>::new(4, 2_048, 1_000);
    let mut counted = vec![0; 4];
    for id in (0..800).map(|id| id * 4) {
        server.next(id, 1);
        server.next(id, 2);
        counted[section_of(id, 4)] += 1;
    }
    let table = UserTable::whole(&server.head, &server.buckets);
    assert_eq!(*server.evictions.borrow(), 0);
    assert_eq!(table.users_by_section(4), counted);
    assert_eq!(table.users_by_section(2), counted[..2]);
}

/// Returns the id with this hash.
fn unhash(hash: u64) -> i64 {
    let id = (hash ^ (hash >> 31) ^ (hash >> 62)).wrapping_mul(0x3196_42b2_d24d_8ec3);
    let id = (id ^ (id >> 27) ^ (id >> 54)).wrapping_mul(0x96de_1b17_3f11_9089);
    let id = id ^ (id >> 30) ^ (id >> 60);
    id.wrapping_sub(0x9e37_79b9_7f4a_7c15).cast_signed()
}

/// An entry identifies a user by its section and 34 bits.
#[test]
fn users_that_share_an_entry_both_go_up() {
    // Neighboring ids have the rest of the id in common, which has 62 bits.
    let mut alike = (0..)
        .map(|upper| unhash(upper << 32 | 0x1234_5678))
        .filter(|&group| (-(1 << 61)..1 << 61).contains(&group))
        .map(|group| group << 2);
    let (one, other) = (alike.next().unwrap(), alike.next().unwrap());
    assert_eq!(hash(one >> 2) as u32, hash(other >> 2) as u32);
    let mut server = Server::<511>::new(1, 256, 1_000);
    let drawn = [one, other, other, one, one + 1].map(|id| server.next(id, 2));
    assert_eq!(drawn, [1, 3, 5, 7, 1]);
    assert!(server.current(one) >= 8 && server.current(other) >= 6);
}

/// An entry has the last 20 bits of a number: a user that stays a million behind another of its section is taken to
/// be closer to it.
#[test]
fn a_user_that_stays_far_behind_continues_above() {
    for step in [10, 1_000, 100_000_000] {
        let mut server = Server::<511>::new(1, 1, step);
        assert_eq!([server.next(1, 1), server.next(2, 1)], [1, 1]);
        let mut last = 1;
        for round in 0..5 {
            assert!(server.next(3, 300_000) > 0);
            let number = server.next(1, 1);
            assert!(number > last, "step {step}: {number} after {last}");
            assert!(round > 2 || number == last + 1, "step {step}: {number}");
            assert_eq!(server.current(1), number);
            last = number;
        }
        // At the same distance as before, plus what was left out.
        let reach = server.current(3) + 65_536 + 1;
        let skipped = (reach - 3) >> 20 << 20;
        assert_eq!(server.next(2, 1), 2 + skipped, "step {step}");
        assert_eq!(server.next(2, 1), 3 + skipped, "step {step}");
    }
}

/// The memory of a section is given to another one, which takes over none of its entries.
#[test]
fn a_section_in_anothers_place_starts_at_its_own_floor() {
    let mut server = Server::<17>::new(1, 1, 10_000);
    for id in 0..100 {
        server.next(id, 1 + id.cast_unsigned() * 17);
    }
    let (section, page) = &mut server.sections[0];
    let newer = 8 << 16;
    assert!(!section.reassign(newer, || false));
    assert_eq!(section.owner(), owner(0));
    assert!(section.reassign(newer, || true));
    section.bounds.attach(5_000_000);
    page.value = 5_000_000;
    let table = UserTable::whole(&server.head, &server.buckets);
    for id in 0..200 {
        let number = loop {
            match table.draw(section, newer, id, 1, |entry| section.evict(entry)) {
                Ok(number) => break number,
                Err(DrawError::Beyond(beyond)) => {
                    let Ok(()) = section.bounds.raise(beyond, 10_000, page);
                }
                Err(error) => panic!("{error:?}"),
            }
        };
        assert!(number >= 5_000_000, "user {id}: {number}");
        assert_eq!(table.current(section, newer, id), Ok(number));
    }
    // It does not take over the reach either.
    let newest = 9 << 16;
    assert!(section.reassign(newest, || true));
    section.bounds.attach(100);
    page.value = 100;
    let Ok(()) = section.bounds.raise(100, 10_000_000, page);
    let drawn = [(); 3].map(|()| table.draw(section, newest, 200, 1, |_| ()));
    assert_eq!(drawn, [Ok(100), Ok(101), Ok(102)]);
    assert_eq!(
        table.draw(section, owner(0), 1, 1, |_| ()),
        Err(DrawError::NotMine)
    );
    assert_eq!(table.current(section, owner(0), 1), Err(DrawError::NotMine));
}

#[test]
fn numbers_end_before_64_bits_do() {
    let mut server = Server::<511>::new(1, 1, 1_000);
    server.sections[0].1.value = i64::MAX - 10;
    server.restart(false);
    let table = UserTable::whole(&server.head, &server.buckets);
    let drawn = table.draw(&server.sections[0].0, owner(0), 1, 100, |_| ());
    assert_eq!(drawn, Err(DrawError::UsedUp));
    assert_eq!(server.next(1, 5), i64::MAX - 10);
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Next(i64, u64),
    Current(i64),
    Crash {
        lost: bool,
    },
    /// A nextval or setval on the section's sequence.
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
        let mut server = Server::<5>::new(3, buckets, step);
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
