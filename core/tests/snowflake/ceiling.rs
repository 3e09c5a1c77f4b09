//! The durable ceiling: scripted clocks, crashes and pages that others write.

use crate::common::{DEFAULTS, HOUR, MS, SECOND, STRICT, Script};
use mint_core::MintError::{BelowFloor, ClockBehind, ClockJumped};
use mint_core::{Ceiling, Layout, Micros};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::HashSet;

/// Ids of an earlier server end with the tick in which the floor lies.
#[test]
fn a_floor_inside_a_tick_begins_with_the_next_tick() {
    for unit in [10 * MS, SECOND] {
        let layout = format!(
            "time:40 shard:4 seq:8 unit:{}ms epoch:2020-02-03T04:05:06.789123Z",
            unit / MS
        );
        for (past, tick) in [(0, 5), (1, 6), (unit - 1, 6), (unit, 6), (unit + 1, 7)] {
            let mut script = Script::new(&layout, DEFAULTS);
            script.start_at(script.layout.epoch() + 5 * unit + past);
            script.set(4 * unit);
            assert_eq!(script.run(1).unwrap().first >> 8, tick, "{unit} {past}");
        }
    }
}

/// After a restart the wait has nothing to do with a clock that was set back.
#[test]
fn a_lane_just_behind_its_floor_waits_longer_than_max_wait() {
    let mut script = Script::new("twitter", STRICT);
    script.start_at(script.layout.epoch() + 10 * SECOND);
    script.set(10 * SECOND - 740 * MS);
    assert_eq!(script.next(), Ok(10_000 << 22));
    assert_eq!(script.world.pauses, [740 * MS]);
    assert!(script.world.steps.is_empty());
}

#[test]
fn on_default_settings_a_restart_mints_at_once() {
    let mut script = Script::new("twitter", DEFAULTS);
    script.start_at(script.layout.epoch() + 10 * SECOND);
    script.set(10 * SECOND - 740 * MS);
    assert_eq!(script.next(), Ok(10_000 << 22));
    assert!(script.world.pauses.is_empty());
}

/// No ceiling runs an hour ahead, so the clock was set back while the server was down.
#[test]
fn a_clock_far_behind_its_floor_is_an_error_at_once() {
    let mut script = Script::new("twitter", DEFAULTS);
    script.start_at(script.layout.epoch() + 2 * HOUR);
    script.set(HOUR);
    let error = BelowFloor {
        behind: HOUR,
        need: HOUR - 2 * SECOND,
    };
    assert_eq!(script.next(), Err(error));
    assert!(script.world.pauses.is_empty());
    assert_eq!(
        script.lane.last(),
        0,
        "the floor has not spread to the lane"
    );
}

/// A server starts before its clock is set. The step to the right time is not a jump to be confirmed, and a later one
/// is.
#[test]
fn a_clock_that_could_not_mint_is_not_trusted() {
    for policy in [DEFAULTS, STRICT] {
        let mut script = Script::new("twitter", policy);
        script.start_at(script.layout.epoch() + 1_000 * HOUR);
        script.set(HOUR);
        assert!(matches!(script.next(), Err(BelowFloor { .. })));
        script.set(1_030 * HOUR);
        assert_eq!(script.next(), Ok((1_030 * HOUR / MS) << 22));
        script.set(1_040 * HOUR);
        assert_eq!(script.next(), Err(ClockJumped { by: 10 * HOUR }));
    }
}

/// A clock slightly below the floor counts as a clock that has minted.
#[test]
fn a_clock_that_could_mint_is_trusted() {
    let mut script = Script::new("twitter", DEFAULTS);
    script.start_at(script.layout.epoch() + 1_000 * HOUR);
    script.set(1_000 * HOUR - SECOND);
    assert!(script.next().is_ok());
    script.set(1_010 * HOUR);
    assert_eq!(
        script.next(),
        Err(ClockJumped {
            by: 10 * HOUR + SECOND
        })
    );
}

/// Each write is on disk half a window before an id relies on it, as a standby needs it.
#[test]
fn a_minute_of_minting_writes_the_page_twice_a_second() {
    let mut script = Script::new("twitter", DEFAULTS);
    script.set(HOUR);
    script.start_at(1);
    for _ in 0..60_000 {
        script.next().unwrap();
        let ahead = script.world.page.durable - script.world.at;
        assert!((250 * MS..=750 * MS).contains(&ahead), "{ahead} ahead");
        assert_eq!(script.world.page.covered, script.world.page.durable);
        script.pass(MS);
    }
    let page = &script.world.page;
    assert!((119..=122).contains(&page.writes), "{} writes", page.writes);
    assert_eq!(page.flushes, page.writes);
}

#[test]
fn an_idle_minute_writes_nothing() {
    let mut script = Script::new("twitter", DEFAULTS);
    script.set(HOUR);
    script.start_at(1);
    script.next().unwrap();
    let before = script.world.page.writes;
    script.pass(60 * SECOND);
    assert_eq!(script.world.page.writes, before);
    script.next().unwrap();
    assert_eq!(script.world.page.writes, before + 1);
}

#[test]
fn a_page_that_was_set_back_is_raised_again_and_said() {
    let mut script = Script::new("twitter", DEFAULTS);
    script.set(HOUR);
    script.start_at(1);
    script.next().unwrap();
    let written = script.world.page.value;
    script.world.page.value = 9_000;
    script.pass(SECOND);
    script.next().unwrap();
    let page = &script.world.page;
    assert!(page.value > written);
    assert_eq!(page.set_back, [(9_000, page.value)]);
}

/// A dump is restored into a server that has minted already: its ids are below the ceiling, and nothing is minted there
/// any more.
#[test]
fn a_value_from_elsewhere_becomes_the_floor() {
    let mut script = Script::new("twitter", DEFAULTS);
    script.set(HOUR);
    script.start_at(1);
    script.next().unwrap();
    let foreign = script.world.page.value + SECOND;
    script.world.page.value = foreign;
    script.pass(600 * MS);
    script.next().unwrap();
    let tick = (script.lane.last() >> 12).cast_signed() * MS + script.layout.epoch();
    assert!(tick >= foreign, "{tick} is below {foreign}");
    assert!(script.world.page.set_back.is_empty());
}

/// A database is created under the oid of a dropped one: its page is brought up to the limit that was published for the
/// other page before an id is minted.
#[test]
fn a_page_that_took_the_place_of_another_is_brought_up_to_it() {
    let ceiling = Ceiling::default();
    ceiling.attach(5 * SECOND);
    let mut page = crate::common::Paper {
        value: 1,
        ..crate::common::Paper::default()
    };
    ceiling.attach(page.value);
    let Ok(()) = ceiling.bring_up(&mut page);
    assert_eq!(ceiling.floor(), 5 * SECOND);
    assert_eq!((page.value, page.durable), (5 * SECOND, 5 * SECOND));
    assert_eq!(page.set_back, [(1, 5 * SECOND)]);
}

/// A page above the published limit came from another server, with ids below it.
#[test]
fn a_page_from_elsewhere_raises_the_floor_when_it_is_attached() {
    let ceiling = Ceiling::default();
    ceiling.attach(5 * SECOND);
    ceiling.attach(7 * SECOND);
    assert_eq!(ceiling.floor(), 7 * SECOND);
    assert_eq!((ceiling.limit(), ceiling.value()), (5 * SECOND, 5 * SECOND));
}

/// Somebody sets the page an hour ahead. The limit that is published, and that others are told, is a window above the time
/// that is needed.
#[test]
fn a_page_far_ahead_is_not_that_of_others() {
    let ceiling = Ceiling::default();
    let mut page = crate::common::Paper::default();
    ceiling.attach(5 * SECOND);
    for beyond in [5 * SECOND, 6 * SECOND] {
        page.value = HOUR;
        let Ok(()) = ceiling.raise(beyond, 500 * MS, &mut page);
        assert_eq!(ceiling.value(), beyond + 500 * MS);
        assert_eq!(page.covered, ceiling.value());
        assert_eq!(ceiling.floor(), HOUR);
    }
    assert_eq!(page.value, HOUR);
}

/// A floor that others have raised is lowered, but not below what was on the page.
#[test]
fn a_floor_of_others_is_lowered_down_to_the_page() {
    for (page, to, floor) in [(5, 7, 7), (5, 3, 5), (5, 11, 10)] {
        let ceiling = Ceiling::default();
        ceiling.attach(page);
        ceiling.raise_floor(10);
        ceiling.lower_floor(9, to);
        assert_eq!(ceiling.floor(), 10, "it is another floor");
        ceiling.lower_floor(10, to);
        assert_eq!(ceiling.floor(), floor);
    }
}

/// An event in the history of a server.
#[derive(Debug, Clone, Copy)]
enum Event {
    Mint(u64),
    /// The clock moves, or is set back.
    Clock(Micros),
    /// Time passes, on every clock.
    Pass(Micros),
    /// The server crashes. Writes that were not flushed are lost or were on disk by chance. The clock has moved when it
    /// starts again.
    Crash {
        lost: bool,
        clock: Micros,
    },
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (1..50_u64).prop_map(Event::Mint),
        2 => (-2 * HOUR..2 * HOUR).prop_map(Event::Clock),
        2 => (-3 * SECOND..3 * SECOND).prop_map(Event::Clock),
        4 => (0..SECOND).prop_map(Event::Pass),
        2 => (any::<bool>(), -2 * HOUR..HOUR).prop_map(|(lost, clock)| Event::Crash { lost, clock }),
        2 => (any::<bool>(), Just(-SECOND)).prop_map(|(lost, clock)| Event::Crash { lost, clock }),
    ]
}

const LAYOUTS: [&str; 4] = [
    "twitter",
    "sonyflake",
    "time:36 shard:4 seq:4 unit:1s epoch:2020-02-03T04:05:06.789123Z",
    "time:36 shard:4 seq:2 unit:10ms epoch:2020-02-03T04:05:06.789123Z",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn no_crash_and_no_clock_repeats_an_id(
        layout in select(&LAYOUTS[..]),
        strict: bool,
        story in prop::collection::vec(events(), 1..60),
    ) {
        let mut script = Script::new(layout, if strict { STRICT } else { DEFAULTS });
        script.set(1_000 * HOUR);
        script.start_at(1);
        let mut seen = HashSet::new();
        for event in story {
            match event {
                Event::Mint(want) => match script.run(want) {
                    Ok(run) => {
                        for word in run.first..run.first + run.count {
                            prop_assert!(seen.insert(word), "word {word} again");
                        }
                        let last = run.first + run.count - 1;
                        let start = script.layout.tick_start(last >> script.layout.seq.width);
                        prop_assert!(start < Some(script.world.page.durable), "not on disk");
                    }
                    Err(BelowFloor { .. } | ClockBehind { .. }) => {}
                    Err(error) => prop_assert!(
                        matches!(error, ClockJumped { .. }),
                        "{error:?}"
                    ),
                },
                Event::Clock(by) => script.world.at += by,
                Event::Pass(span) => script.pass(span),
                Event::Crash { lost, clock } => {
                    let page = &script.world.page;
                    let value = if lost { page.durable } else { page.value };
                    script.restart(value);
                    script.world.at += clock;
                }
            }
        }
    }
}

/// The bounds of the settings, for any layout.
#[test]
fn the_smallest_window_serves_the_coarsest_tick() {
    let mut script = Script::new(
        "time:30 shard:4 seq:4 unit:3600s epoch:2020-02-03T04:05:06.789123Z",
        DEFAULTS,
    );
    script.world.window = 10 * MS;
    script.set(5 * HOUR + 1);
    script.start_at(1);
    let first = script.run(1).unwrap().first;
    assert_eq!(first >> 4, 5);
    let durable = script.world.page.durable;
    assert_eq!(durable, tick(&script.layout, 5) + 10 * MS);
}

fn tick(layout: &Layout, tick: u64) -> Micros {
    layout.tick_start(tick).unwrap()
}
