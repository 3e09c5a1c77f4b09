//! Instructions of the core's hot paths, counted by valgrind: the same on every run of a build, whatever else
//! the machine does. `make instructions`. More than the limit beside a path is a regression.

use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use mint_core::counter::section::Evicted;
use mint_core::counter::user_bucket::{Bucket, SectionOwner};
use mint_core::counter::user_table::TableHead;
use mint_core::{
    Ceiling, ClockAnchor, HashPartition, Host, Lane, LaneTable, Layout, Lookup, Micros, Page,
    Policy, Section, TableCount, UserTable, Wait, mint, mint_fitting,
};
use std::convert::Infallible;
use std::hint::black_box;

/// Each path is taken so often; the counts are of all together.
const TIMES: u64 = 1_000;

const POLICY: Policy = Policy {
    max_ahead: 2_000_000,
    max_wait: 5_000_000,
    max_jump: 3_600_000_000,
    window: 500_000,
};

/// A clock that moves by `step` whenever it is read, and nothing else.
struct Clock {
    at: Micros,
    step: Micros,
    anchor: ClockAnchor,
    ceiling: Ceiling,
}

impl Host for Clock {
    type Interrupt = Infallible;

    #[inline]
    fn now(&mut self) -> Micros {
        self.at += self.step;
        self.at
    }

    fn up(&mut self) -> Micros {
        self.at
    }

    fn anchor(&self) -> &ClockAnchor {
        &self.anchor
    }

    fn pause(&mut self, wait: Wait) -> Result<(), Infallible> {
        self.at += wait.span;
        Ok(())
    }

    fn stepped_back(&mut self, _: Micros) {}

    fn random(&mut self) -> u64 {
        0
    }

    #[inline]
    fn ceiling(&self) -> &Ceiling {
        &self.ceiling
    }

    fn raise(&mut self, _: Micros) -> Result<(), Infallible> {
        Ok(())
    }
}

fn layout(text: &str) -> Layout {
    text.parse().expect("a layout")
}

/// A lane that has minted, and its clock.
fn lane(step: Micros) -> (Layout, Lane, Clock) {
    let layout = layout("time:41 shard:4 seq:18 unit:1ms epoch:2024-01-01T00:00:00Z");
    let mut clock = Clock {
        at: layout.epoch() + 1_000_000_000,
        step,
        anchor: ClockAnchor::new(),
        ceiling: Ceiling::unbounded(),
    };
    let lane = Lane::outside_table(&layout, 1);
    mint(&lane, &layout, 1, &POLICY, &mut clock).expect("a first id");
    (layout, lane, clock)
}

#[library_benchmark]
#[bench::same_tick(lane(0))]
#[bench::a_new_tick_each_time(lane(1_000))]
fn next_id((layout, lane, mut clock): (Layout, Lane, Clock)) -> i64 {
    let mut last = 0;
    for _ in 0..TIMES {
        if let Ok(run) = mint(black_box(&lane), black_box(&layout), 1, &POLICY, &mut clock) {
            last = layout.id(1, run.first);
        }
    }
    last
}

#[library_benchmark]
#[bench::of_16(lane(0))]
fn next_fitting((layout, lane, mut clock): (Layout, Lane, Clock)) -> u64 {
    let Ok(partition) = HashPartition::new(black_box(16), black_box(3)) else {
        return 0;
    };
    let mut last = 0;
    for _ in 0..TIMES {
        let fits = |word| partition.has_number(layout.id(1, word));
        if let Ok(Some(word)) = mint_fitting(black_box(&lane), &layout, &POLICY, &mut clock, fits) {
            last = word;
        }
    }
    last
}

fn table(lanes: u64) -> (TableCount, Vec<Lane>, Layout, u64) {
    let layout = layout("instagram");
    let slots: Vec<Lane> = (0..16_384).map(|_| Lane::default()).collect();
    let count = TableCount::default();
    for node in 0..lanes {
        let _ = LaneTable::new(&count, &slots, 8_192, SECRET).insert(&layout, node, 1);
    }
    (count, slots, layout, lanes)
}

#[library_benchmark]
#[bench::of_one(table(1))]
#[bench::of_8192(table(8_192))]
fn find_lane((count, slots, layout, lanes): (TableCount, Vec<Lane>, Layout, u64)) -> u64 {
    let table = LaneTable::new(&count, &slots, 8_192, SECRET);
    let mut found = 0;
    for node in 0..TIMES {
        if let Lookup::Found(lane) = table.find(black_box(&layout), black_box(node % lanes)) {
            found += lane.last() + 1;
        }
    }
    found
}

#[library_benchmark]
#[bench::twitter(layout("twitter"))]
fn decode(layout: Layout) -> u64 {
    (0..TIMES)
        .filter_map(|id| black_box(&layout).decode(black_box(id as i64) << 22).ok())
        .map(|parts| parts.shard)
        .sum()
}

#[library_benchmark]
#[bench::twitter(layout("twitter"))]
fn min_id(layout: Layout) -> i64 {
    let at = layout.epoch();
    (0..TIMES as i64)
        .filter_map(|ms| black_box(&layout).min_id(at + ms * 1_000).ok().flatten())
        .map(|id| id & 1)
        .sum()
}

const SECRET: [u64; 2] = [0x8e5d_9f3a_1b7c_6e21, 0x3c6e_f372_fe94_f82b];

/// The page of a section.
struct Paper(i64);

impl Page for Paper {
    type Position = ();
    type Failure = Infallible;

    fn update(&mut self, decide: impl FnOnce(i64) -> Option<i64>) -> Result<(i64, ()), Infallible> {
        self.0 = decide(self.0).unwrap_or(self.0);
        Ok((self.0, ()))
    }

    fn flush(&mut self, (): ()) -> Result<(), Infallible> {
        Ok(())
    }

    fn set_back(&mut self, _: i64, _: i64) {}
}

const OWNER: SectionOwner = 1 << 16;

/// Takes an evicted entry. The compiler merges closures that are alike: with that of [`user_next`], valgrind would count
/// the draws of its setup, too.
fn forget(_: Evicted) {}

/// A section with so many users, all of whom have drawn.
fn users(many: i64) -> (Section, TableHead, Vec<Bucket>, i64) {
    let (section, head) = (Section::default(), TableHead::default());
    let buckets: Vec<Bucket> = (0..1_024).map(|_| Bucket::default()).collect();
    section.reassign(OWNER, || true);
    section.bounds.attach(1);
    let Ok(()) = section.bounds.raise(1, 1 << 20, &mut Paper(1));
    let table = UserTable::whole(&head, &buckets);
    for id in 0..many {
        if table.draw(&section, OWNER, id, 1, forget).is_err() {
            table.grow();
        }
    }
    (section, head, buckets, many)
}

#[library_benchmark]
#[bench::of_one(users(1))]
#[bench::of_250000(users(250_000))]
fn user_next((section, head, buckets, many): (Section, TableHead, Vec<Bucket>, i64)) -> i64 {
    let table = UserTable::whole(&head, &buckets);
    (0..TIMES as i64)
        .filter_map(|id| {
            let id = black_box(id * 97 % many);
            table.draw(black_box(&section), OWNER, id, 1, forget).ok()
        })
        .sum()
}

/// At most so many instructions for all of the calls.
fn at_most(per_call: u64) -> LibraryBenchmarkConfig {
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(Callgrind::default().hard_limits([(EventKind::Ir, per_call * TIMES)]));
    config
}

library_benchmark_group!(name = minting, config = at_most(150), benchmarks = next_id);
library_benchmark_group!(
    name = fitting,
    config = at_most(1_400),
    benchmarks = next_fitting
);
library_benchmark_group!(name = lookup, config = at_most(60), benchmarks = find_lane);
library_benchmark_group!(
    name = users_draw,
    config = at_most(190),
    benchmarks = user_next
);
library_benchmark_group!(name = decoding, config = at_most(95), benchmarks = decode);
library_benchmark_group!(name = bounds, config = at_most(180), benchmarks = min_id);

main!(library_benchmark_groups = [minting, fitting, lookup, users_draw, decoding, bounds]);
