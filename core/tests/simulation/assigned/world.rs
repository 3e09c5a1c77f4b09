//! The servers of one node, the registry, and what happens to them.

use super::registry::{Answer, Host, Refusal, Request};
use super::server::{Disk, Server};
use super::statistics::Statistics;
use crate::rng::Rng;
use crate::time::{MS, SECOND, START};
use mint_core::registry::assigned_rules::Stranger;
use mint_core::registry::lease_rules::request_interval;
use mint_core::{Denial, LeaseTerm, Micros};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

const REQUEST_TIMEOUT: Micros = 3 * SECOND;
const LENGTH: Micros = 10 * SECOND;
#[derive(Debug)]
pub enum Event {
    Ask,
    Arrive(u64, Request),
    Answer(u64, Answer),
    Timeout(u64),
    Start,
    Fault,
}

/// A server, and one of its lives.
pub type Life = (usize, u32);

pub struct World {
    seed: u64,
    pub now: Micros,
    pub rng: Rng,
    pub has_faults: bool,
    /// One in how many faults of the registry happens.
    pub calm: u64,
    events: BinaryHeap<Reverse<(Micros, u64)>>,
    due: BTreeMap<u64, (Life, Event)>,
    last_number: u64,
    pub registry: Host,
    pub servers: Vec<Server>,
    /// The terms that servers hold or held, by life.
    pub held: Vec<(Life, LeaseTerm)>,
    /// Who had the last grant, as the registry committed it, whatever it has lost since.
    holder: Option<Life>,
    /// Whether keys are lost for good, or the registry has forgotten what an operator said: then it can know nobody.
    pub is_key_lost: bool,
    granted_at: Option<(Micros, Life)>,
    pub statistics: Statistics,
}

impl World {
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng(seed);
        let disk = Disk::new(&mut rng);
        let mut world = Self {
            seed,
            now: START,
            has_faults: true,
            calm: rng.pick(&[1, 5, 30]),
            events: BinaryHeap::new(),
            due: BTreeMap::new(),
            last_number: 0,
            registry: Host::new(),
            servers: vec![Server::new(disk, &mut rng)],
            held: Vec::new(),
            holder: None,
            is_key_lost: false,
            granted_at: None,
            statistics: Statistics::default(),
            rng,
        };
        world.schedule(0, (0, 1), Event::Ask);
        world.schedule(20 * SECOND, (0, 1), Event::Fault);
        world
    }

    pub fn schedule(&mut self, after: Micros, life: Life, event: Event) {
        self.last_number += 1;
        self.events
            .push(Reverse((self.now + after, self.last_number)));
        self.due.insert(self.last_number, (life, event));
    }

    pub fn run(&mut self, span: Micros) {
        let end = self.now + span;
        while let Some(&Reverse((at, number))) = self.events.peek() {
            if at > end {
                break;
            }
            self.events.pop();
            self.now = at;
            if let Some((life, event)) = self.due.remove(&number) {
                self.handle(life, event);
            }
        }
        self.now = end;
    }

    fn handle(&mut self, life: Life, event: Event) {
        let (index, number) = life;
        match event {
            Event::Fault => return self.fault(),
            Event::Arrive(number, request) => return self.arrive(life, number, &request),
            Event::Start if self.servers[index].memory.is_none() => {
                self.servers[index].start(&mut self.rng);
                let life = self.servers[index].life;
                return self.schedule(0, (index, life), Event::Ask);
            }
            _ => {}
        }
        let server = &mut self.servers[index];
        let Some(memory) = server.memory.as_mut().filter(|_| server.life == number) else {
            return;
        };
        if server.paused_until > self.now {
            let left = server.paused_until - self.now;
            return self.schedule(left, life, event);
        }
        match event {
            Event::Ask => self.ask(life),
            Event::Timeout(number) if memory.waits_for == Some(number) => {
                memory.waits_for = None;
                self.schedule(SECOND, life, Event::Ask);
            }
            Event::Answer(number, answer) if memory.waits_for == Some(number) => {
                memory.waits_for = None;
                let granted = server.receive(&answer);
                if let Some(term) = granted {
                    self.hold(life, term);
                }
                let pause = request_interval(LENGTH, granted.is_some());
                self.schedule(pause, life, Event::Ask);
            }
            _ => {}
        }
    }

    fn ask(&mut self, life: Life) {
        let is_full = self.has_faults && self.rng.one_in(20);
        let (now, server) = (self.now, &mut self.servers[life.0]);
        let Some(request) = server.request(now, &mut self.rng, is_full) else {
            return;
        };
        let number = self.last_number + 1;
        if let Some(memory) = &mut server.memory {
            memory.waits_for = Some(number);
        }
        self.schedule(REQUEST_TIMEOUT, life, Event::Timeout(number));
        self.send(life, Event::Arrive(number, request));
    }

    /// Sends a message, which can be lost, late or double.
    fn send(&mut self, life: Life, event: Event) {
        let delay = self.rng.between(MS..30 * MS);
        if !self.has_faults {
            return self.schedule(delay, life, event);
        }
        let is_cut_off = self.servers[life.0].cut_off_until > self.now;
        if is_cut_off || self.rng.one_in(12) {
            return;
        }
        let copy = match &event {
            Event::Arrive(number, request) => Event::Arrive(*number, request.clone()),
            Event::Answer(number, answer) => Event::Answer(*number, answer.clone()),
            _ => return,
        };
        if self.rng.one_in(20) {
            let late = self.rng.between(0..8 * SECOND);
            self.schedule(late, life, copy);
        }
        let late = if self.rng.one_in(20) { 5 * SECOND } else { 0 };
        self.schedule(delay + late, life, event);
    }

    fn arrive(&mut self, life: Life, number: u64, request: &Request) {
        if self.registry.down_until > self.now {
            return;
        }
        let clock = self.registry.clock(self.now);
        let lasts = request.told.is_some_and(|told| told.is_credible(clock));
        let is_due = lasts
            && self.holder == Some(life)
            && self.registry.must_renew(self.now, &request.proof)
            && self.registry.agrees(self.now, request.clock);
        let answer = self.registry.ask(self.now, &mut self.rng, request);
        self.statistics.count(match answer.lease {
            Ok(_) => "granted",
            Err(Refusal::Stranger(Stranger::Copy)) => "told to be a copy",
            Err(Refusal::Stranger(Stranger::Other)) => "told to be another",
            Err(Refusal::Stranger(Stranger::Replaced)) => "told to be replaced",
            Err(Refusal::Denied(Denial::Quarantine { .. })) => "denied by quarantine",
            Err(Refusal::Denied(_)) => "denied as leased",
        });
        if answer.lease.is_ok() {
            if self.holder.is_some_and(|holder| holder != life) {
                self.change_hands();
            }
            self.holder = Some(life);
            self.granted_at = Some((self.now, life));
        } else {
            assert!(
                !is_due,
                "{}: a lease that lasts is not renewed: {:?} of {life:?}: {answer:?}",
                self.place(),
                request.told
            );
        }
        if self.servers[life.0].life == life.1 {
            self.send(life, Event::Answer(number, answer));
        }
    }

    /// Notes that a server holds a lease, and asserts that no other one holds or held it at the same id time.
    fn hold(&mut self, life: Life, term: LeaseTerm) {
        for (other, held) in &self.held {
            let overlap = term.from.max(held.from) < term.until.min(held.until);
            assert!(
                *other == life || !overlap,
                "{}: {life:?} holds {}, and {other:?} {}",
                self.place(),
                shown(term),
                shown(*held)
            );
        }
        match self
            .held
            .iter_mut()
            .find(|(other, held)| *other == life && held.until >= term.from)
        {
            Some((_, held)) => {
                held.from = held.from.min(term.from);
                held.until = held.until.max(term.until);
            }
            None => self.held.push((life, term)),
        }
    }

    fn place(&self) -> String {
        let at = (self.now - START) as f64 / 1e6;
        format!("seed {}, {at:.1} s", self.seed)
    }

    /// Asserts that one server has the node, and that each other one knows that it has not. Where keys are lost, an operator
    /// helps.
    pub fn assert_one_goes_on(&mut self) {
        let is_lost = self.granted_at.is_none_or(|(at, _)| at < self.now - LENGTH);
        if is_lost {
            assert!(self.is_key_lost, "{}: nobody has the node", self.place());
            self.statistics.count("an operator helped");
            self.registry.give_to_next();
            self.run(4 * LENGTH);
        }
        let (at, (winner, life)) = self.granted_at.expect("a grant");
        assert!(at >= self.now - LENGTH, "{}: nobody has it", self.place());
        assert_eq!(self.servers[winner].life, life, "{}", self.place());
        for (index, server) in self.servers.iter().enumerate() {
            let memory = server.memory.as_ref().expect("a server that is up");
            assert_eq!(
                memory.is_stranger,
                index != winner,
                "{}: {index} of {winner}",
                self.place()
            );
        }
    }
}

fn shown(term: LeaseTerm) -> String {
    let seconds = |at: Micros| (at - START) as f64 / 1e6;
    format!("{:.3} to {:.3} s", seconds(term.from), seconds(term.until))
}
