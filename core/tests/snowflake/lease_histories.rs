//! Random histories of a server with leases: all its ids are of a lease that it had, and on disk.

use crate::common::{DEFAULTS, HOUR, MS, SECOND, STRICT, Script};
use crate::leases::{IMPATIENT, LAYOUTS};
use mint_core::MintError::{
    BeforeEpoch, BeforeLease, BelowFloor, BeyondReach, ClockBehind, ClockJumped, Exhausted,
    LeaseEnded,
};
use mint_core::{Lease, Micros, Policy};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::HashSet;

#[derive(Debug, Clone, Copy)]
enum Event {
    Mint(u64),
    Clock(Micros),
    Pass(Micros),
    /// The lease is renewed, to so far beyond the clock or short of it.
    Renew(Micros),
    /// A new lease begins so long after the last one's end, and lasts so long.
    Grant(Micros, Micros),
    /// The next renewal extends the lease by so much.
    Promise(Micros),
    Release,
    Restart(Micros),
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        8 => select(&[1, 1, 5, 1_000, 1_000_000, u64::MAX][..]).prop_map(Event::Mint),
        1 => (-2 * HOUR..2 * HOUR).prop_map(Event::Clock),
        2 => (-3 * SECOND..3 * SECOND).prop_map(Event::Clock),
        3 => (0..5 * SECOND).prop_map(Event::Pass),
        2 => (-SECOND..10 * SECOND).prop_map(Event::Renew),
        2 => (0..20 * SECOND, 1..10 * SECOND).prop_map(|(after, length)| Event::Grant(after, length)),
        1 => (0..10 * SECOND).prop_map(Event::Promise),
        1 => Just(Event::Release),
        1 => (-HOUR..HOUR).prop_map(Event::Restart),
    ]
}

/// A server, and the lease that it should have. The time after a release belongs to another server.
struct History {
    script: Script,
    from: Micros,
    until: Micros,
    /// The end of the latest tick that was minted since the last start.
    used: Micros,
    seen: HashSet<u64>,
}

impl History {
    fn new(layout: &str, policy: Policy, offset: Micros) -> Self {
        let mut script = Script::new(layout, policy);
        script.set(1_000 * HOUR);
        script.world.up = HOUR;
        script.world.window = 500 * MS;
        script.start_at(1);
        script.world.lease = Some(Lease::default());
        let start = script.world.at + offset;
        History {
            script,
            from: start,
            until: start,
            used: 0,
            seen: HashSet::new(),
        }
    }

    fn lease(&self) -> &Lease {
        self.script.world.lease.as_ref().unwrap()
    }

    fn handle(&mut self, event: Event) -> Result<(), TestCaseError> {
        match event {
            Event::Mint(want) => self.mint(want)?,
            Event::Clock(by) => self.script.world.at += by,
            Event::Pass(span) => self.script.pass(span),
            Event::Renew(by) if self.from < self.until => {
                let until = self.script.world.at.min(self.until) + by;
                self.extend(self.from, self.until.max(until));
            }
            Event::Grant(after, length) => {
                self.from = self.until + after;
                self.until = self.from + length;
                self.lease().replace(self.from, self.until);
                self.script.world.grants.clear();
            }
            Event::Promise(by) if self.from < self.until => {
                self.script.world.grants = [Some((self.from, self.until + by))].into();
            }
            Event::Release => {
                let used = self.lease().release([&self.script.lane]);
                prop_assert!(used >= self.used, "{used} is not behind {}", self.used);
                prop_assert!(used <= self.until.max(0));
                self.end();
            }
            Event::Restart(clock) => {
                let value = self.script.world.page.durable;
                self.script.restart(value);
                self.script.world.lease = Some(Lease::default());
                self.script.world.at += clock;
                self.used = 0;
                self.end();
            }
            Event::Renew(_) | Event::Promise(_) => {}
        }
        Ok(())
    }

    fn extend(&mut self, from: Micros, until: Micros) {
        (self.from, self.until) = (from, until);
        self.lease().extend(from, until);
        self.script.world.grants.clear();
    }

    fn end(&mut self) {
        self.from = self.until;
        self.script.world.grants.clear();
    }

    fn mint(&mut self, want: u64) -> Result<(), TestCaseError> {
        if let Some(Some((from, until))) = self.script.world.grants.front() {
            prop_assert!(*from == self.from && *until >= self.until);
        }
        self.script.world.renewals = 0;
        let minted = self.script.run(want);
        // A renewal was answered.
        if self.script.world.grants.is_empty() {
            self.until = self.until.max(self.lease().until());
        }
        match minted {
            Ok(run) => {
                let (first, last) = (run.first, run.first + run.count - 1);
                let starts =
                    [first, last].map(|word| self.script.layout.word_start_saturating(word));
                let term = self.from..self.until;
                prop_assert!(
                    starts.iter().all(|start| term.contains(start)),
                    "{starts:?} is not within {term:?}"
                );
                prop_assert!(starts[1] < self.script.world.page.durable, "not on disk");
                prop_assert!(self.seen.insert(first) && self.seen.insert(last) | (first == last));
                self.used = self.used.max(starts[1] + 1);
            }
            Err(
                BelowFloor { .. }
                | ClockBehind { .. }
                | ClockJumped { .. }
                | LeaseEnded { .. }
                | BeforeLease { .. }
                | BeforeEpoch,
            ) => {}
            Err(BeyondReach { .. }) => prop_assert!(false, "no lane was started"),
            Err(Exhausted) => prop_assert!(false, "the layout is exhausted"),
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn every_id_is_of_a_lease_of_its_server(
        layout in select(&LAYOUTS[..]),
        policy in select(&[DEFAULTS, STRICT, IMPATIENT][..]),
        offset in 0..SECOND,
        events in prop::collection::vec(events(), 1..60),
    ) {
        let mut history = History::new(layout, policy, offset);
        for event in events {
            history.handle(event)?;
        }
    }
}
