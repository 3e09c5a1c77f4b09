//! Open ticks beside mint(): on equal lanes both return the same id, wherever an open tick returns one.

use crate::common::{DEFAULTS, HOUR, MS, Paper, SECOND, STRICT, Script};
use crate::layouts::layouts;
use mint_core::{BUILTINS, Ceiling, Layout, Lease, Micros, OpenTick, Policy, mint_at_once};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use std::cell::Cell;

/// Ticks of few words and of many, short and long ones, and one that ends soon after the epoch.
const TEXTS: [&str; 6] = [
    "time:36 shard:4 seq:2 unit:10ms epoch:2020-02-03T04:05:06.789123Z",
    "time:40 shard:4 seq:3 unit:7919us epoch:2020-02-03T04:05:06.789123Z",
    "time:40 shard:4 seq:1 unit:1us epoch:2020-02-03T04:05:06.789123Z",
    "time:31 shard:19 seq:13 unit:1s epoch:2024-01-01T00:00:00Z",
    "time:20 shard:10 seq:30 unit:600s epoch:2024-01-01T00:00:00Z",
    "time:10 shard:4 seq:2 unit:1ms epoch:2024-01-01T00:00:00Z",
];
#[derive(Debug, Clone, Copy)]
enum Event {
    Mint,
    Clock(Micros),
    Pass(Micros),
    /// The clock is set by so many microseconds from the end of the open tick, or from where it is `max_ahead` away.
    Edge(bool, Micros),
    /// The limit and the floor of the ceiling are so far from the open tick's start.
    Bounds(Micros, Micros),
    Unbounded,
    /// The lease is from and until so far from the open tick's start.
    Lease(Micros, Micros),
    NoLease,
    /// Another session mints so many words.
    Other(u64),
}

fn offsets() -> impl Strategy<Value = Micros> {
    prop_oneof![
        3 => -2..=2_i64,
        2 => -20 * MS..20 * MS,
        1 => -5 * SECOND..5 * SECOND,
        1 => -3 * HOUR..3 * HOUR,
    ]
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        10 => Just(Event::Mint),
        2 => offsets().prop_map(Event::Clock),
        3 => offsets().prop_map(|by| Event::Pass(by.abs())),
        3 => (any::<bool>(), -2..=2_i64).prop_map(|(end, by)| Event::Edge(end, by)),
        2 => (offsets(), offsets()).prop_map(|(limit, floor)| Event::Bounds(limit, floor)),
        2 => Just(Event::Unbounded),
        1 => (offsets(), offsets()).prop_map(|(from, until)| Event::Lease(from, until)),
        1 => Just(Event::NoLease),
        1 => (1..9_u64).prop_map(Event::Other),
    ]
}

fn any_layout() -> impl Strategy<Value = Layout> {
    let texts = TEXTS.map(|text| text.parse().unwrap());
    let known: Vec<Layout> = (BUILTINS.iter().map(|builtin| builtin.layout))
        .chain(texts)
        .collect();
    prop_oneof![3 => select(known), 1 => layouts(64)]
}

/// Two servers to which the same happens, but for how they mint.
struct Pair {
    by_mint: Script,
    quick: Script,
    shard: u64,
    /// The last word that was minted.
    word: Option<u64>,
}

impl Pair {
    fn new(layout: &Layout, policy: Policy, age: Micros) -> Self {
        let script = || {
            let mut script = Script::new(&layout.to_string(), policy);
            script.set(age);
            script
        };
        Pair {
            by_mint: script(),
            quick: script(),
            shard: layout.shard.max().min(1),
            word: None,
        }
    }

    fn start(&self) -> Micros {
        let word = self.word.unwrap_or_default();
        self.quick.layout.word_start_saturating(word)
    }

    fn change(&mut self, event: Event) {
        let start = self.start();
        let end = start.saturating_add(self.quick.layout.unit());
        for script in [&mut self.by_mint, &mut self.quick] {
            let world = &mut script.world;
            match event {
                Event::Mint => {}
                Event::Clock(by) => world.at = world.at.saturating_add(by),
                Event::Pass(by) => {
                    world.at = world.at.saturating_add(by);
                    world.up += by;
                }
                Event::Edge(true, by) => world.at = end.saturating_add(by),
                Event::Edge(false, by) => {
                    world.at = start.saturating_sub(script.policy.max_ahead) + by;
                }
                Event::Bounds(limit, floor) => {
                    world.ceiling = Ceiling::default();
                    world.page = Paper::default();
                    world.ceiling.attach(start.saturating_add(floor));
                    let limit = start.saturating_add(limit).saturating_sub(SECOND);
                    let Ok(()) = (world.ceiling).raise(limit, SECOND, &mut world.page);
                }
                Event::Unbounded => world.ceiling = Ceiling::unbounded(),
                Event::Lease(from, until) => {
                    let lease = world.lease.insert(Lease::default());
                    lease.replace(start.saturating_add(from), start.saturating_add(until));
                }
                Event::NoLease => world.lease = None,
                Event::Other(want) => {
                    let _ = script.run(want);
                }
            }
        }
    }

    /// Mints from the open tick, or else at once; the second is false where it was at once.
    fn mint_quickly(&mut self) -> Option<(u64, bool)> {
        let Script {
            layout,
            lane,
            policy,
            world,
        } = &mut self.quick;
        let open = self.word.and_then(|word| {
            let place = (&*lane, world.lease.as_ref());
            let tick = OpenTick::new(layout, place, (self.shard, word), policy.max_ahead)?;
            assert_eq!(tick.place().0, self.shard);
            let id = tick.next(|| &world.ceiling, || world.at)?;
            assert_eq!(id, layout.id(self.shard, lane.last()));
            Some((lane.last(), true))
        });
        open.or_else(|| Some((mint_at_once(lane, layout, policy, world)?, false)))
    }

    /// Mints on both. Returns how the quick one did.
    fn mint(&mut self) -> Result<Option<bool>, TestCaseError> {
        let (writes, rng) = (self.by_mint.world.page.writes, self.by_mint.world.rng);
        let minted = self.mint_quickly();
        let expected = self.by_mint.run(1);
        if let Some((word, _)) = minted {
            prop_assert_eq!(expected.as_ref().map(|run| run.first), Ok(word));
            let world = &self.by_mint.world;
            prop_assert!(world.pauses.is_empty() && world.renewals == 0);
            prop_assert_eq!(world.page.writes, writes);
        } else {
            self.quick.world.rng = rng;
            prop_assert_eq!(&self.quick.run(1), &expected);
        }
        let (lane, other) = (&self.quick.lane, &self.by_mint.lane);
        prop_assert_eq!(
            (lane.last(), lane.ids_taken()),
            (other.last(), other.ids_taken())
        );
        self.word = expected.map_or(self.word, |run| Some(run.first));
        Ok(minted.map(|(_, is_open)| is_open))
    }
}

#[test]
fn an_open_tick_mints_what_mint_does() {
    let config = ProptestConfig {
        cases: 5_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let ages = select(&[0, 1, 500 * MS, HOUR, 1_000 * HOUR][..]);
    let policies = select(&[DEFAULTS, STRICT][..]);
    let events = prop::collection::vec(events(), 60);
    let [open, at_once, steps] = [const { Cell::new(0_u32) }; 3];
    let count = |number: &Cell<u32>| number.set(number.get() + 1);
    let ran = TestRunner::new(config).run(
        &(any_layout(), policies, ages, events),
        |(layout, policy, age, events)| {
            let mut pair = Pair::new(&layout, policy, age);
            for event in events {
                pair.change(event);
                for script in [&mut pair.by_mint, &mut pair.quick] {
                    script.world.pauses.clear();
                    script.world.renewals = 0;
                }
                count(&steps);
                match pair.mint()? {
                    Some(true) => count(&open),
                    Some(false) => count(&at_once),
                    None => {}
                }
            }
            Ok(())
        },
    );
    ran.unwrap();
    let [open, at_once, steps] = [open, at_once, steps].map(|number| number.get());
    assert!(
        steps >= 200_000 && open > steps / 20 && at_once > steps / 20,
        "{open}, {at_once}, {steps}"
    );
}
