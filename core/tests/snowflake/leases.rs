//! Minting within leases of id time, case by case.

use crate::common::{DEFAULTS, HOUR, MS, SECOND, STRICT, Script};
use mint_core::MintError::{BeforeLease, BelowFloor, ClockBehind, LeaseEnded};
use mint_core::{Lane, Lease, Micros, Policy, Run};

pub const LAYOUTS: [&str; 5] = [
    "twitter",
    "sonyflake",
    "time:36 shard:4 seq:10 unit:1s epoch:2020-02-03T04:05:06.789123Z",
    "time:36 shard:4 seq:2 unit:10ms epoch:2020-02-03T04:05:06.789123Z",
    "time:40 shard:4 seq:3 unit:7919us epoch:2020-02-03T04:05:06.789123Z",
];

/// Runs ahead as by default, and never waits.
pub const IMPATIENT: Policy = Policy {
    max_wait: 0,
    ..DEFAULTS
};

impl Script {
    /// Returns the starts of the first and the last tick of a run, after the epoch.
    pub fn starts(&self, run: Run) -> (Micros, Micros) {
        let age = |word| self.layout.word_start_saturating(word) - self.layout.epoch();
        (age(run.first), age(run.first + run.count - 1))
    }

    /// Mints runs of `want` until nothing is left of the lease. Returns the first start and the last.
    fn exhaust(&mut self, want: u64) -> (Micros, Micros) {
        let mut all: Option<(Micros, Micros)> = None;
        loop {
            match self.run(want) {
                Ok(run) => {
                    let (first, last) = self.starts(run);
                    let (begin, end) = all.unwrap_or((first, last));
                    all = Some((begin.min(first), end.max(last)));
                }
                Err(LeaseEnded { until }) => {
                    let lease = self.world.lease.as_ref().unwrap();
                    assert_eq!(until, lease.until());
                    return all.expect("something was minted");
                }
                Err(error) => panic!("{error:?}"),
            }
        }
    }
}

#[test]
fn a_lease_is_minted_from_its_first_tick_to_its_last() {
    for layout in LAYOUTS {
        for (past, length) in [
            (0, 10 * SECOND),
            (1, 10 * SECOND),
            (123_456, 10 * SECOND + 1),
        ] {
            for want in [1, 5_000, u64::MAX] {
                let mut script = Script::new(layout, IMPATIENT);
                let unit = script.layout.unit();
                let (from, until) = (1_000 * unit + past, 1_000 * unit + past + length);
                script.lend(from, until);
                script.set(from);
                let end = (until - 1) / unit * unit;
                if want == 1 {
                    // The first and the last, and not all between them.
                    let run = script.run(1).unwrap();
                    let first = (from + unit - 1) / unit * unit;
                    assert_eq!(script.starts(run), (first, first), "{layout}");
                    script.set(end);
                    script.world.up += end - from;
                } else {
                    script.policy.max_ahead = HOUR;
                }
                let (first, last) = script.exhaust(want);
                assert!(first >= from, "{layout} {past} {want}");
                assert_eq!(last, end, "{layout} {past} {want}: not to the last tick");
            }
        }
    }
}

/// A run is cut at the end of the lease, so that a large run loses no ids.
#[test]
fn a_large_run_near_the_end_is_a_smaller_one() {
    let mut script = Script::new("twitter", IMPATIENT);
    script.lend(HOUR, HOUR + 10 * MS);
    script.set(HOUR + 8 * MS);
    let mut counts = Vec::new();
    while let Ok(run) = script.run(u64::MAX) {
        counts.push(run.count);
    }
    assert_eq!(counts.iter().sum::<u64>(), 2 * 4_096);
    assert_eq!(counts[..3], [4_096, 2_048, 1_024]);
}

#[test]
fn without_a_lease_of_its_own_a_server_mints_nothing() {
    for at in [0, HOUR] {
        let mut script = Script::new("twitter", IMPATIENT);
        script.world.lease = Some(Lease::default());
        script.set(at);
        assert_eq!(script.next(), Err(LeaseEnded { until: 0 }));
        assert_eq!((script.lane.last(), script.world.renewals), (0, 1));
    }
    // Also where 1970, the beginning of a lease of zeroed memory, is in the future.
    let epoch = "time:41 shard:4 seq:10 unit:1ms epoch:1965-01-01T00:00:00Z";
    let mut script = Script::new(epoch, IMPATIENT);
    script.world.lease = Some(Lease::default());
    script.set(HOUR);
    assert!(matches!(script.next(), Err(BeforeLease { from: 0, .. })));
    script.world.at = -SECOND;
    assert_eq!(script.next(), Err(LeaseEnded { until: 0 }));
}

#[test]
fn an_ended_lease_is_waited_for_as_long_as_max_wait() {
    let mut script = Script::new("twitter", DEFAULTS);
    script.lend(HOUR, HOUR + SECOND);
    script.set(HOUR + SECOND);
    let until = script.world.at;
    let before = script.world.up;
    assert_eq!(script.next(), Err(LeaseEnded { until }));
    let waited = script.world.up - before;
    assert_eq!(waited, DEFAULTS.max_wait + script.world.renewing);
    // One call has waited, and not 51.
    assert_eq!((script.world.renewals, script.world.waiting_calls), (51, 1));
    assert_eq!((script.lane.waits(), script.lane.waited()), (1, waited));
    assert_eq!((script.lane.last(), script.lane.largest_step()), (0, 0));
}

#[test]
fn minting_continues_after_a_renewal_in_time() {
    for (unanswered, policy) in [(0, STRICT), (0, DEFAULTS), (20, DEFAULTS)] {
        let mut script = Script::new("twitter", policy);
        script.lend(HOUR, HOUR + SECOND);
        script.set(HOUR + SECOND);
        let (from, until) = (script.world.at - SECOND, script.world.at + 9 * SECOND);
        script.world.grants.extend(vec![None; unanswered]);
        script.world.grants.push_back(Some((from, until)));
        let run = script.run(1).unwrap();
        let waited = (unanswered as Micros + 1) * script.world.renewing;
        let at = HOUR + SECOND + waited;
        // The clock's reading after the wait.
        let (start, _) = script.starts(run);
        assert_eq!(start, at, "{unanswered}");
        assert_eq!(script.world.renewals, unanswered + 1);
        assert_eq!((script.lane.waits(), script.lane.waited()), (1, waited));
    }
}

/// The lane counts a call that first renews and then pauses once, with the time of both.
#[test]
fn a_renewal_and_a_pause_are_one_wait() {
    let mut script = Script::new("twitter", DEFAULTS);
    script.lend(HOUR, HOUR + SECOND);
    script.set(HOUR + SECOND);
    let from = script.world.at + script.world.renewing + 3 * SECOND;
    let granted = Some((from, from + 10 * SECOND));
    script.world.grants.push_back(granted);
    script.next().unwrap();
    assert_eq!(script.world.pauses, [SECOND]);
    let waited = script.world.renewing + SECOND;
    assert_eq!((script.lane.waits(), script.lane.waited()), (1, waited));
}

/// After a long pause, the new lease begins at the reading of the registry's clock.
#[test]
fn a_new_lease_mints_from_its_own_beginning() {
    let mut script = Script::new("twitter", DEFAULTS);
    script.lend(HOUR, HOUR + SECOND);
    script.set(HOUR);
    script.next().unwrap();
    script.pass(30 * SECOND);
    let from = script.world.at + 500 * MS;
    script
        .world
        .grants
        .push_back(Some((from, from + 10 * SECOND)));
    let run = script.run(1).unwrap();
    assert_eq!(script.starts(run).0, HOUR + 30 * SECOND + 500 * MS);
    assert!(script.world.pauses.is_empty());
}

#[test]
fn a_future_lease_is_waited_for_or_refused() {
    for (ahead, waits) in [
        (2 * SECOND, Some(0)),
        (5 * SECOND, Some(3 * SECOND)),
        (7 * SECOND, Some(5 * SECOND)),
        (7 * SECOND + MS, None),
        (HOUR, None),
    ] {
        let mut script = Script::new("twitter", DEFAULTS);
        script.lend(HOUR, HOUR + 10 * SECOND);
        script.set(HOUR - ahead);
        let from = script.layout.epoch() + HOUR;
        if let Some(waits) = waits {
            assert_eq!(script.next(), Ok((HOUR / MS) << 22), "{ahead}");
            assert_eq!(script.world.pauses.iter().sum::<Micros>(), waits);
        } else {
            let need = ahead - 2 * SECOND;
            assert_eq!(script.next(), Err(BeforeLease { from, need }));
            assert!(script.world.pauses.is_empty());
            assert_eq!(script.lane.last(), 0);
        }
        assert_eq!(script.world.steps, [], "the clock was not set back");
    }
}

/// No tick of an hour starts within a lease of ten seconds, but one starts within a lease that is renewed.
#[test]
fn a_coarse_tick_has_to_start_within_the_lease() {
    let hours = "time:30 shard:4 seq:4 unit:3600s epoch:2020-02-03T04:05:06.789123Z";
    let mut script = Script::new(hours, DEFAULTS);
    script.lend(5 * HOUR + SECOND, 5 * HOUR + 11 * SECOND);
    script.set(5 * HOUR + 2 * SECOND);
    let from = script.layout.epoch() + 5 * HOUR + SECOND;
    let need = HOUR - 4 * SECOND;
    assert_eq!(script.next(), Err(BeforeLease { from, need }));
    script.lend(5 * HOUR + SECOND, 6 * HOUR + 9 * SECOND);
    script.set(6 * HOUR - SECOND);
    assert_eq!(script.run(1).unwrap().first, 6 << 4);
    script.lend(5 * HOUR + SECOND, 6 * HOUR + 40 * SECOND);
    script.set(6 * HOUR + 30 * SECOND);
    assert_eq!(script.run(1).unwrap().first, 6 << 4 | 1);
}

/// The nearer of two ends decides what a session extends, the later of two beginnings what the error names.
#[test]
fn the_nearer_of_lease_and_ceiling_limits_a_run() {
    let mut script = Script::new("twitter", IMPATIENT);
    let epoch = script.layout.epoch();
    script.start_at(epoch + HOUR);
    script.lend(HOUR, HOUR + SECOND);
    script.set(HOUR);
    script.next().unwrap();
    assert_eq!((script.world.page.writes, script.world.renewals), (1, 0));
    // A session that reaches both ends does not raise the ceiling for nothing.
    let durable = script.world.page.durable;
    script.set(HOUR + SECOND);
    let until = epoch + HOUR + SECOND;
    assert_eq!(script.next(), Err(LeaseEnded { until }));
    assert_eq!(script.world.page.durable, durable);
    script.lend(HOUR, HOUR + 10 * SECOND);
    script.next().unwrap();
    assert_eq!(script.world.page.writes, 2);

    for (floor, from) in [(HOUR, HOUR + SECOND), (HOUR + SECOND, HOUR)] {
        let mut script = Script::new("twitter", IMPATIENT);
        script.start_at(epoch + floor);
        script.lend(from, 2 * HOUR);
        script.set(HOUR / 2);
        let (behind, need) = (HOUR / 2 + SECOND, HOUR / 2 - SECOND);
        let expected = if floor > from {
            BelowFloor { behind, need }
        } else {
            let from = epoch + from;
            BeforeLease { from, need }
        };
        assert_eq!(script.next(), Err(expected));
        script.set(HOUR);
        let run = script.run(1).unwrap();
        assert_eq!(script.starts(run).0, HOUR + SECOND);
    }
}

/// A clock that is ahead ends the lease early, and one that is set back continues from the last id.
#[test]
fn a_clock_may_be_wrong_within_the_lease() {
    let mut script = Script::new("twitter", IMPATIENT);
    script.lend(HOUR, HOUR + 10 * SECOND);
    script.set(HOUR + 11 * SECOND);
    assert!(matches!(script.next(), Err(LeaseEnded { .. })));
    script.set(HOUR + 9 * SECOND);
    let last = script.next().unwrap();
    script.set(HOUR + 8 * SECOND);
    assert_eq!(script.next(), Ok(last + 1));
    script.set(HOUR + 2 * SECOND);
    assert!(matches!(script.next(), Err(ClockBehind { .. })));
}

/// A lane that can run ahead of the clock does not run past the end of its lease.
#[test]
fn borrowing_ends_with_the_lease() {
    let mut script = Script::new(
        "time:40 shard:4 seq:2 unit:1ms epoch:2020-01-01T00:00:00Z",
        DEFAULTS,
    );
    script.world.stuck = true;
    script.lend(HOUR, HOUR + 3 * MS);
    script.set(HOUR);
    for _ in 0..12 {
        script.next().unwrap();
    }
    assert!(matches!(script.next(), Err(LeaseEnded { .. })));
}

/// A clock that could not mint for lack of a lease is no reference for later readings.
#[test]
fn a_clock_far_before_the_lease_is_not_trusted() {
    let mut script = Script::new("twitter", DEFAULTS);
    script.lend(1_000 * HOUR, 1_001 * HOUR);
    script.set(HOUR);
    assert!(matches!(script.next(), Err(BeforeLease { .. })));
    script.set(1_000 * HOUR);
    assert_eq!(script.next(), Ok((1_000 * HOUR / MS) << 22));
}

#[test]
fn a_released_lease_ends_behind_all_ids() {
    let mut script = Script::new("twitter", IMPATIENT);
    let epoch = script.layout.epoch();
    script.lend(HOUR, HOUR + 10 * SECOND);
    script.set(HOUR + SECOND);
    script.next().unwrap();
    // Never used, used before this lease, and used.
    let unused = Lane::outside_table(&script.layout, 1);
    let lease = script.world.lease.as_ref().unwrap();
    let used = lease.release([&unused, &script.lane]);
    assert_eq!(used, epoch + HOUR + SECOND + 1);
    assert!(lease.until() <= lease.from(), "nothing is left");
    let again = lease.release([&unused, &script.lane]);
    assert_eq!(again, used, "once more, and no less");
    assert!(script.next().is_err());
    // Granted again, it continues at once.
    script.lend(HOUR + 2 * SECOND, HOUR + 12 * SECOND);
    script.set(HOUR + 2 * SECOND);
    let run = script.run(1).unwrap();
    assert_eq!(script.starts(run).0, HOUR + 2 * SECOND);
    assert_eq!(script.world.steps, [], "the clock was not set back");
}

/// A session that read the lane's word before the lease was released cannot mint, though it read the end before as well.
#[test]
fn a_release_closes_a_lane_to_sessions_that_have_read_it() {
    let mut script = Script::new("twitter", IMPATIENT);
    script.lend(HOUR, HOUR + 10 * SECOND);
    script.set(HOUR + SECOND);
    script.next().unwrap();
    let before = script.lane.last();
    let lease = script.world.lease.as_ref().unwrap();
    lease.release([&script.lane]);
    assert!(script.lane.last() > before);
}

#[test]
fn an_unused_lease_is_released_whole() {
    let lease = Lease::default();
    lease.extend(5 * SECOND, 9 * SECOND);
    assert_eq!(lease.release([]), 5 * SECOND);
    let mut script = Script::new("twitter", IMPATIENT);
    script.set(HOUR);
    script.next().unwrap();
    let lease = Lease::default();
    let from = script.world.at + SECOND;
    lease.extend(from, from + SECOND);
    assert_eq!(lease.release([&script.lane]), from, "minted before it");
}

#[test]
fn an_old_answer_changes_nothing() {
    let lease = Lease::default();
    lease.extend(100, 200);
    lease.extend(50, 150);
    assert_eq!((lease.from(), lease.until()), (100, 200));
    lease.extend(300, 400);
    lease.extend(100, 210);
    assert_eq!((lease.from(), lease.until()), (300, 400));
}

/// The clocks of two registries differ: an end of the one says nothing about a lease of the other.
#[test]
fn nothing_of_a_lease_is_left_in_the_next_one() {
    let lease = Lease::default();
    lease.extend(100, 900);
    lease.replace(300, 400);
    assert_eq!((lease.from(), lease.until()), (300, 400));
    lease.release([]);
    lease.replace(200, 350);
    assert_eq!((lease.from(), lease.until()), (300, 350));
    lease.replace(200, 250);
    assert!(lease.until() <= lease.from(), "{lease:?} allows an id");
}
