//! Random histories of a sequence with segments: no value is drawn twice, or before it is on disk.

use crate::segments::Server;
use mint_core::{Rules, SequenceState, Values};
use proptest::prelude::*;
use std::collections::HashSet;

#[derive(Debug, Clone, Copy)]
enum Event {
    Next(u32),
    Range(u64),
    Nextval(u32),
    SetvalUp(i64),
    Crash { lost: bool },
    Step(u64),
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (1..60_u32).prop_map(Event::Next),
        2 => (2..40_u64).prop_map(Event::Range),
        2 => (1..5_u32).prop_map(Event::Nextval),
        1 => (1..100_i64).prop_map(Event::SetvalUp),
        2 => any::<bool>().prop_map(|lost| Event::Crash { lost }),
        1 => (1..30_u64).prop_map(Event::Step),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_drawn_twice_nor_before_it_is_on_disk(
        increment in prop_oneof![Just(1_i64), Just(2), Just(7), Just(-1), Just(-3)],
        step in 1..30_u64,
        events in prop::collection::vec(events(), 1..60),
    ) {
        let rules = Rules { increment, min: -100_000, max: 100_000, cycle: false };
        let mut server = Server::new(rules, 0, step);
        let mut seen = HashSet::new();
        for event in events {
            let drawn: Vec<Values> = match event {
                Event::Next(times) => (0..times).filter_map(|_| server.draw(1)).collect(),
                Event::Range(count) => server.draw(count).into_iter().collect(),
                Event::Nextval(times) => (0..times)
                    .filter_map(|_| server.nextval())
                    .map(|first| Values { first, increment, count: 1 })
                    .collect(),
                Event::SetvalUp(by) => {
                    server.page.last = (server.page.last + by * increment).clamp(-100_000, 100_000);
                    server.durable = server.page;
                    vec![]
                }
                Event::Crash { lost } => {
                    server.crash(lost);
                    vec![]
                }
                Event::Step(step) => {
                    server.steps = (step, step);
                    vec![]
                }
            };
            for values in drawn {
                for index in 0..values.count {
                    let value = values.get(index);
                    prop_assert!((-100_000..=100_000).contains(&value));
                    prop_assert!(seen.insert(value), "{value} again");
                    prop_assert!(
                        server.durable.called && value * increment.signum() <= server.durable.last * increment.signum(),
                        "{value} is not on disk: {:?}", server.durable
                    );
                }
            }
        }
    }

    /// A step taken at once has the values that `nextval` gives one by one.
    #[test]
    fn a_step_is_what_nextval_gives(
        increment in prop_oneof![-9..0_i64, 1..9_i64],
        min in -20..0_i64,
        max in 1..20_i64,
        cycle: bool,
        steps in prop::collection::vec(1..8_u64, 1..12),
    ) {
        let rules = Rules { increment, min, max, cycle };
        let start = SequenceState { last: 0, called: false };
        let (mut fast, mut slow) = (start, start);
        for step in steps {
            let Some(values) = rules.take(fast, 1, step) else {
                prop_assert_eq!(slow_next(&rules, &mut slow), None);
                break;
            };
            prop_assert!((1..=step).contains(&values.count));
            for index in 0..values.count {
                prop_assert_eq!(Some(values.get(index)), slow_next(&rules, &mut slow));
            }
            fast = SequenceState { last: values.last(), called: true };
        }
    }
}

/// Returns the next value as PostgreSQL's documents describe `nextval`.
fn slow_next(rules: &Rules, state: &mut SequenceState) -> Option<i64> {
    let next = if state.called {
        state.last + rules.increment
    } else {
        state.last
    };
    let inside = (rules.min..=rules.max).contains(&next);
    let next = match (inside, rules.cycle, rules.increment > 0) {
        (true, ..) => next,
        (false, false, _) => return None,
        (false, true, true) => rules.min,
        (false, true, false) => rules.max,
    };
    *state = SequenceState {
        last: next,
        called: true,
    };
    Some(next)
}
