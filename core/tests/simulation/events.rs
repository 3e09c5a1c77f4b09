//! The handling of events, in the order of true time.

use crate::queue::{Due, Event};
use crate::request::{Answer, Request, RequestError, RequestKind};
use crate::time::{LEASE_LENGTH, MAX_SKEW, MS, SECOND, START};
use crate::world::Sim;
use mint_core::registry::lease_rules::QUARANTINE;
use mint_core::{Denial, Micros, Run};
use std::cmp::Reverse;

/// The time that a member waits for an answer.
const REQUEST_TIMEOUT: Micros = 2 * SECOND;

impl Sim {
    /// Handles the events of so much true time.
    pub fn run(&mut self, span: Micros) {
        let end = self.now + span;
        while let Some(Reverse(due)) = self.queue.peek() {
            if due.at > end {
                break;
            }
            let Some(Reverse(due)) = self.queue.pop() else {
                break;
            };
            self.now = due.at;
            self.statistics.events += 1;
            self.handle(due);
        }
        self.now = end;
        self.statistics.present += self.members.len() as f64 * span as f64 / SECOND as f64;
    }

    fn handle(&mut self, due: Due) {
        let Due { member, life, .. } = due;
        match due.event {
            Event::Replicate => {
                self.registry.replicate();
                // Sometimes the standby is far behind.
                let late = self.rng.pick(&[4, 4, 4, 60]) * SECOND;
                self.schedule(200 * MS..late, 0, Event::Replicate);
            }
            Event::BackUp => {
                self.registry.back_up();
                self.schedule(20 * SECOND..90 * SECOND, 0, Event::BackUp);
            }
            Event::FailRegistry => self.fail_registry(),
            Event::AdjustRegistryClock => {
                let clock_error = self.rng.between(-MAX_SKEW / 2..MAX_SKEW / 2);
                self.registry.set_clock_error(clock_error);
                self.schedule(SECOND..20 * SECOND, 0, Event::AdjustRegistryClock);
            }
            Event::ChangeSettings => self.change_settings(),
            Event::FailMember => self.fail_member(member),
            Event::CorrectClock => {
                self.members[member].clock_error = self.small_clock_error();
                self.members[member].well_since = self.now;
            }
            Event::Lie => self.lie(),
            Event::Arrive(number, request) => {
                self.arrive(member, life, number, &request);
            }
            event => self.handle_in_life(member, life, event),
        }
    }

    /// Handles an event of one life of a member, after a pause of the member, or drops it.
    fn handle_in_life(&mut self, member: usize, life: u32, event: Event) {
        let subject = &mut self.members[member];
        if subject.life != life {
            return;
        }
        if subject.paused_until > self.now {
            let until = subject.paused_until;
            subject.well_since = until;
            return self.schedule_at(until, member, event);
        }
        match event {
            Event::Start => {
                subject.start();
                subject.well_since = self.now;
                self.schedule_work(member);
            }
            Event::Restore(ago) => {
                subject.restore(ago);
                subject.well_since = self.now;
                self.schedule_work(member);
            }
            _ if !subject.alive => {}
            Event::Mint => self.mint(member),
            Event::Ask => self.ask(member),
            Event::Timeout(number) if subject.waits_for == Some(number) => {
                subject.waits_for = None;
                self.schedule_request(member, false);
            }
            Event::Answer(number, answer) => {
                if subject.waits_for == Some(number) {
                    subject.waits_for = None;
                    self.receive(member, answer);
                } else {
                    self.statistics.count("answers too late");
                }
            }
            _ => {}
        }
    }

    fn mint(&mut self, member: usize) {
        let up = self.now - START + 3_600 * SECOND;
        // Mostly one layout, so that lanes of the others are far behind.
        let other = match self.rng.one_in(15) {
            true => self.rng.below(self.layouts.len() as u64) as usize,
            false => 0,
        };
        let place = (member + other) % self.layouts.len();
        let want = self.rng.pick(&[1, 1_000_000, u64::MAX]);
        let layout = (place, &self.layouts[place]);
        let subject = &mut self.members[member];
        let run = subject.mint(self.now, up, &mut self.rng, layout, want);
        if let Some((node, run)) = run {
            self.record(place, node, run, member);
        }
        let pause = self.mint_interval;
        self.schedule(pause / 3..pause * 5 / 3, member, Event::Mint);
    }

    /// Records a run of words, and fails if one of them was minted before.
    fn record(&mut self, place: usize, node: u64, run: Run, member: usize) {
        let life = self.members[member].life;
        let last = run.first + run.count - 1;
        let place = self.place(place, node);
        let runs = &mut self.minted[place];
        let before = runs.range(..=last).next_back();
        if let Some((&first, &(end, other, then))) = before {
            assert!(
                end < run.first,
                "seed {}, {} s: server {member} in life {life} mints {}..={last} of node {node}, \
                 and server {other} in life {then} has minted {first}..={end}",
                self.seed,
                (self.now - START) as f64 / SECOND as f64,
                run.first,
            );
            if end + 1 == run.first && (other, then) == (member, life) {
                runs.insert(first, (last, member, life));
                self.statistics.ids += u128::from(run.count);
                return;
            }
        }
        runs.insert(run.first, (last, member, life));
        self.statistics.ids += u128::from(run.count);
    }

    fn ask(&mut self, member: usize) {
        self.last_number += 1;
        let number = self.last_number;
        self.assert_served(member);
        let subject = &mut self.members[member];
        let request = subject.request(self.now);
        subject.waits_for = Some(number);
        subject.asked += 1;
        self.statistics.requests += 1;
        self.schedule_at(self.now + REQUEST_TIMEOUT, member, Event::Timeout(number));
        self.send(member, Event::Arrive(number, request));
    }

    fn arrive(&mut self, member: usize, life: u32, number: u64, request: &Request) {
        if self.registry.down_until > self.now {
            return;
        }
        let answer = self.registry.ask(self.now, &mut self.rng, request);
        let what = match answer.lease {
            Ok(_) => "granted",
            Err(RequestError::Denied(Denial::Lost)) => "leases lost",
            Err(RequestError::Full) => "all in use",
            Err(RequestError::Denied(Denial::Skew { .. })) => "denied by skew",
            Err(RequestError::Denied(Denial::Quarantine { .. })) => "denied by quarantine",
            Err(RequestError::Denied(Denial::Leased { .. })) => "denied as leased",
        };
        self.statistics.count(what);
        if let (Ok(lease), RequestKind::Auto | RequestKind::Fixed(_)) =
            (&answer.lease, &request.kind)
        {
            for node in lease.nodes.clone() {
                let holder = self.holders[node as usize].replace((member, life));
                if holder.is_some_and(|(holder, _)| holder != member) {
                    self.statistics.count("nodes changed hands");
                }
            }
        }
        if self.members[member].life == life {
            self.send(member, Event::Answer(number, answer));
        }
    }

    /// Fails if a member that is well has had no lease for longer than a quarantine and a lease, with the registry up.
    fn assert_served(&mut self, member: usize) {
        let subject = &self.members[member];
        let faults = subject.well_since.max(subject.cut_off_until);
        let faults = faults
            .max(self.registry.down_until)
            .max(self.registry.failed);
        let since = subject.last_held(self.now).max(faults);
        let waited = self.now - since;
        if subject.setting.is_auto() && subject.is_exact(self.now) {
            assert!(
                waited <= QUARANTINE + LEASE_LENGTH,
                "seed {}, {} s: server {member} has had no lease for {} s",
                self.seed,
                (self.now - START) as f64 / SECOND as f64,
                waited as f64 / SECOND as f64,
            );
            self.statistics.longest_wait = self.statistics.longest_wait.max(waited);
        }
    }

    fn receive(&mut self, member: usize, answer: Answer) {
        let granted = self.members[member].receive(answer);
        self.schedule_request(member, granted);
    }
}
