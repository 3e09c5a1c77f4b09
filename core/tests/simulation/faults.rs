//! Faults of the registry and of members.

use crate::queue::Event;
use crate::registry::REGISTRY_FAULTS;
use crate::request::{RegistryLease, Request, RequestKind};
use crate::time::{MAX_SKEW, MS, SECOND};
use crate::world::{Faults, Sim};
use mint_core::registry::lease_rules::{LARGEST_SKEW, LONGEST_LEASE, SHORTEST_LEASE};
use mint_core::{Identity, Incarnation, LeaseTerm, LogPoint};
use std::cmp::Reverse;

impl Sim {
    /// Lets a fault happen to the registry. Each kind comes once before any comes again.
    pub fn fail_registry(&mut self) {
        if self.faults_left.is_empty() {
            self.faults_left = REGISTRY_FAULTS.into();
        }
        let fault = self.rng.below(self.faults_left.len() as u64) as usize;
        let fault = self.faults_left.swap_remove(fault);
        *self.statistics.registry_faults.entry(fault).or_default() += 1;
        let down = self.rng.pick(&[50 * MS, 3 * SECOND, 15 * SECOND]);
        let back = self.now + self.rng.between(0..down);
        let clock_error = self.rng.between(-MAX_SKEW / 2..MAX_SKEW / 2);
        self.registry
            .fail(fault, self.now, back, clock_error, &mut self.rng);
        let pause = self.peace;
        self.schedule(pause / 15..pause, 0, Event::FailRegistry);
    }

    /// Changes the settings of the registry.
    pub fn change_settings(&mut self) {
        // Short ones are for few servers: they multiply the requests.
        let lengths = [LONGEST_LEASE, LONGEST_LEASE, 30 * SECOND, SHORTEST_LEASE];
        let some = if self.servers > 1_000 { 3 } else { 4 };
        let length = self.rng.pick(&lengths[..some]);
        let max_skew = self.rng.pick(&[MAX_SKEW, 2 * MAX_SKEW]);
        self.registry.change_settings(length, max_skew);
        self.schedule(5 * SECOND..60 * SECOND, 0, Event::ChangeSettings);
    }

    /// Sends a lie to the registry: of a lease that it never granted, and of a history that it never had.
    pub fn lie(&mut self) {
        let far = [SECOND, LARGEST_SKEW, LONGEST_LEASE, 3_600 * SECOND];
        let far = [0; 2].map(|_| self.rng.pick(&far));
        let [before, after] = far.map(|far| self.rng.between(-far..far));
        let node = self.rng.below(self.registry.nodes());
        let identity = Identity {
            system: self.rng.below(4),
            timeline: self.rng.below(9) as u32,
            start: self.now - self.rng.between(0..SECOND),
            incarnation: Incarnation(self.rng.roll()),
        };
        let position = self.rng.roll();
        let request = Request {
            kind: RequestKind::Renew(RegistryLease {
                number: self.rng.roll(),
                nodes: node..=node,
                term: LeaseTerm {
                    from: self.now - before,
                    until: self.now + after,
                },
            }),
            clock: self.now,
            seen: Some(LogPoint { identity, position }),
        };
        if self.registry.down_until <= self.now {
            let answer = self.registry.ask(self.now, &mut self.rng, &request);
            let is_granted = answer.lease.is_ok();
            self.statistics.count(if is_granted {
                "lies trusted"
            } else {
                "lies refused"
            });
        }
        self.schedule(0..4 * SECOND, 0, Event::Lie);
    }

    /// Lets a fault happen to a member.
    pub fn fail_member(&mut self, index: usize) {
        let peace = self.peace * 18 / 5;
        self.schedule(5 * SECOND..peace, index, Event::FailMember);
        let now = self.now;
        let room = self.members.len() < self.servers;
        let member = &mut self.members[index];
        if !member.alive || member.paused_until > now {
            return;
        }
        let what = match self.rng.below(8) {
            0..3 => {
                let far = [10 * MS, 500 * MS, 3 * SECOND, 30 * SECOND, 7_200 * SECOND];
                let far = self.rng.pick(&far);
                member.clock_error += self.rng.between(-far..far);
                self.schedule(SECOND..40 * SECOND, index, Event::CorrectClock);
                "clocks jumped"
            }
            3 => {
                let long = self.rng.pick(&[3, 30, 100]) * SECOND;
                member.paused_until = now + self.rng.between(SECOND..long);
                "members paused"
            }
            4 => {
                member.cut_off_until = now + self.rng.between(SECOND..40 * SECOND);
                "members cut off"
            }
            5 => {
                member.alive = false;
                self.schedule(0..20 * SECOND, index, Event::Start);
                "members crashed"
            }
            6 if room => {
                let clock_error = self.small_clock_error();
                let mut clone = self.members[index].cloned(clock_error);
                clone.well_since = now;
                self.join(clone);
                "members cloned"
            }
            6 => {
                member.alive = false;
                let ago = self.rng.between(0..100 * SECOND);
                self.schedule(0..20 * SECOND, index, Event::Restore(ago));
                "members restored"
            }
            _ => {
                let release = member.release(now);
                member.well_since = now;
                // An answer that is under way would be taken for a new grant.
                let waited = member.waits_for.take().is_some();
                if let Some(request) = release {
                    self.send(index, Event::Arrive(0, request));
                }
                if self.rng.one_in(2) {
                    self.members[index].alive = false;
                    self.schedule(0..5 * SECOND, index, Event::Start);
                } else if waited {
                    self.schedule_request(index, false);
                }
                "releases"
            }
        };
        self.statistics.count(what);
    }

    /// Ends all faults.
    pub fn end_faults(&mut self) {
        self.faults = Faults::Off;
        self.registry.down_until = self.now;
        self.registry.set_clock_error(0);
        let now = self.now;
        for Reverse(mut due) in std::mem::take(&mut self.queue) {
            if !matches!(
                due.event,
                Event::FailRegistry
                    | Event::AdjustRegistryClock
                    | Event::ChangeSettings
                    | Event::Lie
                    | Event::FailMember
                    | Event::CorrectClock
            ) {
                due.at = due.at.min(now + 10 * SECOND);
                self.queue.push(Reverse(due));
            }
        }
        for index in 0..self.members.len() {
            let clock_error = self.small_clock_error();
            let member = &mut self.members[index];
            member.clock_error = clock_error;
            member.well_since = now;
            member.paused_until = member.paused_until.min(now);
        }
    }
}
