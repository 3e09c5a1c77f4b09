//! Minting against clocks that stand still, step back, jump and run out.

use crate::common::{DEFAULTS, HOUR, MS, SECOND, STRICT, Script};
use mint_core::MintError::{BeforeEpoch, BelowFloor, ClockBehind, ClockJumped, Exhausted};
use mint_core::{Micros, Policy};

const YEAR: Micros = 8_766 * HOUR;

#[test]
fn strict_twitter_refuses_a_clock_1_ms_behind_and_continues_after_it() {
    let ids = Script::new("twitter", STRICT).schedule(&[1, 1, 0, 1]);
    let refused = Err(ClockBehind {
        ahead: MS,
        need: MS,
    });
    assert_eq!(ids, [Ok(4_194_304), Ok(4_194_305), refused, Ok(4_194_306)]);
}

#[test]
fn defaults_borrow_where_strictness_refuses() {
    let ids = Script::new("twitter", DEFAULTS).schedule(&[1, 1, 0, 1]);
    assert_eq!(ids, [4_194_304, 4_194_305, 4_194_306, 4_194_307].map(Ok));
}

/// The published copies of these two repeat ids on these schedules.
#[test]
fn schedules_that_made_others_repeat_make_no_duplicates() {
    for policy in [STRICT, DEFAULTS] {
        for (layout, clock) in [
            ("taobao", &[100, 100, 99, 100, 100][..]),
            ("goflake", &[100, 100, 100, 99, 100, 100]),
        ] {
            let answers = Script::new(layout, policy).schedule(clock);
            let ids: Vec<_> = answers.iter().flatten().collect();
            assert!(ids.is_sorted_by(|a, b| a < b), "{layout}: {ids:?}");
            let refused = usize::from(policy.max_ahead == 0);
            assert_eq!(ids.len(), clock.len() - refused, "{layout}");
        }
    }
}

#[test]
fn a_full_tick_waits_for_the_next_one_only() {
    let mut script = Script::new("twitter", STRICT);
    script.set(MS);
    for sequence in 0..4096 {
        assert_eq!(script.next(), Ok(1 << 22 | sequence));
    }
    assert!(script.world.pauses.is_empty());
    assert_eq!(script.next(), Ok(2 << 22));
    assert_eq!(script.world.pauses, [MS]);
    assert_eq!((script.lane.waits(), script.lane.largest_step()), (1, 0));
}

/// A pause that ends early finds the tick still full.
#[test]
fn a_tick_that_rolls_over_twice_in_one_millisecond_waits_twice() {
    let mut script = Script::new("twitter", STRICT);
    script.set(2 * MS);
    script.world.nap = MS / 2;
    for _ in 0..4096 {
        script.next().unwrap();
    }
    assert_eq!(script.next(), Ok(3 << 22));
    assert_eq!(script.world.pauses, [MS, MS / 2]);
    assert_eq!(script.lane.waits(), 1, "one call waited");
}

#[test]
fn waits_for_capacity_never_fail_without_max_wait() {
    let second = "time:31 shard:19 seq:13 unit:1s epoch:2024-01-01T00:00:00Z";
    for max_ahead in [0, 2 * SECOND] {
        for layout in ["sonyflake", second] {
            let mut script = Script::new(
                layout,
                Policy {
                    max_ahead,
                    ..STRICT
                },
            );
            let unit = script.layout.unit();
            script.set(7 * unit);
            let free = (max_ahead / unit + 1) * (script.layout.seq.max() as i64 + 1);
            for _ in 0..free {
                script.next().unwrap();
            }
            assert!(script.world.pauses.is_empty());
            script.next().unwrap();
            assert_eq!(script.world.pauses, [unit], "{layout}");
        }
    }
}

/// Returns a lane at ten hours whose clock was then set back by `step`.
fn set_back(step: Micros) -> Script {
    let mut script = Script::new("twitter", DEFAULTS);
    script.set(10 * HOUR);
    script.next().unwrap();
    script.set(10 * HOUR - step);
    script
}

#[test]
fn an_hour_back_fails_at_once_and_says_how_long_it_would_take() {
    let mut script = set_back(HOUR);
    assert_eq!(
        script.next(),
        Err(ClockBehind {
            ahead: HOUR,
            need: HOUR - 2 * SECOND
        })
    );
    assert!(script.world.pauses.is_empty());
    assert_eq!((script.lane.waits(), script.lane.largest_step()), (0, HOUR));
}

#[test]
fn three_seconds_back_waits_one_and_mints_the_next_id() {
    let mut script = set_back(3 * SECOND);
    assert_eq!(script.next(), Ok((10 * HOUR / MS) << 22 | 1));
    assert_eq!(script.world.pauses, [SECOND]);
    assert_eq!(
        (script.lane.waits(), script.lane.largest_step()),
        (1, 3 * SECOND)
    );
}

#[test]
fn waits_end_exactly_at_max_wait() {
    assert!(set_back(7 * SECOND).next().is_ok());
    let need = 5 * SECOND + 1;
    assert_eq!(
        set_back(7 * SECOND + 1).next(),
        Err(ClockBehind {
            ahead: need + 2 * SECOND,
            need
        })
    );
}

#[test]
fn a_clock_that_stands_still_is_not_waited_for_beyond_max_wait() {
    let mut script = set_back(3 * SECOND);
    (script.world.stuck, script.world.nap) = (true, SECOND / 2);
    assert_eq!(
        script.next(),
        Err(ClockBehind {
            ahead: 3 * SECOND,
            need: SECOND
        })
    );
    assert_eq!(script.world.up - HOUR, 4 * SECOND + SECOND / 2);
}

#[test]
fn a_clock_years_ahead_is_refused_until_accepted() {
    let mut script = Script::new("twitter", DEFAULTS);
    script.set(YEAR);
    let before = script.next().unwrap();
    script.set(11 * YEAR);
    assert_eq!(script.next(), Err(ClockJumped { by: 10 * YEAR }));
    assert_eq!(
        script.layout.id(0, script.lane.last()),
        before,
        "the lane has not moved"
    );
    assert_eq!(
        script.world.anchor.accept(script.world.at, script.world.up),
        10 * YEAR
    );
    assert!(script.next().unwrap() > before);
}

#[test]
fn a_clock_that_goes_back_and_forth_has_not_jumped() {
    let mut script = Script::new("twitter", DEFAULTS);
    script.set(10 * YEAR);
    script.next().unwrap();
    script.set(YEAR);
    assert!(matches!(script.next(), Err(ClockBehind { .. })));
    script.set(10 * YEAR);
    script.pass(2 * HOUR);
    script.next().unwrap();
}

#[test]
fn a_lane_idle_for_years_has_not_jumped() {
    let mut script = Script::new("twitter", DEFAULTS);
    script.set(YEAR);
    script.next().unwrap();
    script.pass(10 * YEAR);
    script.next().unwrap();
}

#[test]
fn the_last_tick_is_issued_in_full_and_then_time_is_exhausted() {
    for layout in [
        "instagram",
        "time:8 shard:2 seq:2 unit:1s epoch:2020-01-01T00:00:00Z",
    ] {
        let mut script = Script::new(layout, DEFAULTS);
        let last = script.layout.max_tick();
        script.set(last as i64 * script.layout.unit());
        let ids: Vec<_> = (0..=script.layout.seq.max())
            .map(|_| script.next().unwrap())
            .collect();
        assert!(ids.iter().all(|&id| id > 0) && ids.is_sorted());
        assert_eq!(
            script.next(),
            Err(Exhausted),
            "the sequence borrows no tick past the end"
        );
        script.pass(script.layout.unit());
        assert_eq!(script.next(), Err(Exhausted));
        assert!(script.world.pauses.is_empty());
    }
}

/// A clock so far past the end that its word would wrap around to a tick that is left.
#[test]
fn a_clock_far_past_the_end_does_not_wrap_around() {
    let mut script = Script::new(
        "time:8 seq:55 unit:1us epoch:2020-01-01T00:00:00Z",
        DEFAULTS,
    );
    script.set(1 << 9);
    assert_eq!(script.next(), Err(Exhausted));
}

/// The layout is not at its end: the ceiling is wrong, and says so.
#[test]
fn a_floor_past_the_end_is_not_the_end() {
    let mut script = Script::new("instagram", DEFAULTS);
    let behind = script.layout.end().unwrap() - script.layout.epoch();
    script.start_at(script.layout.end().unwrap());
    let need = behind;
    assert_eq!(script.next(), Err(BelowFloor { behind, need }));
}

#[test]
fn no_id_is_minted_before_the_epoch() {
    let mut script = Script::new("twitter", DEFAULTS);
    script.set(-1);
    assert_eq!(script.next(), Err(BeforeEpoch));
}

#[test]
fn a_run_takes_at_most_half_of_the_headroom_and_at_least_one() {
    let mut script = Script::new("twitter", STRICT);
    script.set(MS);
    let mut counts: Vec<_> = (0..14)
        .map(|_| script.run(u64::MAX).unwrap().count)
        .collect();
    // Halves of 4096, the last one alone, and half of the next tick.
    assert_eq!(counts.split_off(12), [1, 2048]);
    assert_eq!(counts, [2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1]);
    assert_eq!(script.run(0).unwrap().count, 1);
    assert_eq!(script.run(7).unwrap().count, 7);

    let mut script = Script::new("twitter", DEFAULTS);
    script.set(MS);
    assert_eq!(script.run(u64::MAX).unwrap().count, 2_001 * 4_096 / 2);
}

#[test]
fn a_random_start_stays_in_its_range_and_ascends() {
    for (layout, range) in [
        ("leaf", 128),
        ("time:41 seq:4 epoch:2020-01-01T00:00:00Z start:random", 8),
        (
            "time:41 seq:4 epoch:2020-01-01T00:00:00Z start:random(16)",
            16,
        ),
    ] {
        let mut script = Script::new(layout, STRICT);
        let starts: Vec<_> = (1..1_000)
            .map(|tick| {
                script.set(tick * MS);
                let first = script.run(1).unwrap().first;
                assert_eq!(
                    first >> script.layout.seq.width,
                    tick as u64,
                    "ascends with time"
                );
                first & script.layout.seq.max()
            })
            .collect();
        assert_eq!(starts.iter().max(), Some(&(range - 1)), "{layout}");
        assert_eq!(starts.iter().min(), Some(&0), "{layout}");
    }
}
