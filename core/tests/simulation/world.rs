//! What happens, in the order of true time.

use crate::central::{Answer, Blow, Central, No, RESERVED, Request, Wish};
use crate::member::Member;
use crate::queue::{Due, Event};
use crate::rng::Rng;
use crate::statistics::Statistics;
use mint_core::registry::lease_rules::request_interval;
use mint_core::{Denial, Identity, Layout, Micros, Registry, Run};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt;

pub const SECOND: Micros = 1_000_000;
pub const MS: Micros = 1_000;
/// When it begins, in true time.
pub const DAWN: Micros = 1_700_000_000 * SECOND;
const LENGTH: Micros = 10 * SECOND;
pub const MAX_SKEW: Micros = SECOND;
/// How long a member waits for an answer.
const PATIENCE: Micros = 2 * SECOND;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    Calm,
    Foul,
}

pub struct Sim {
    pub seed: Micros,
    pub now: Micros,
    pub rng: Rng,
    pub weather: Weather,
    pub queue: BinaryHeap<Reverse<Due>>,
    pub numbers: u64,
    pub servers: usize,
    pub members: Vec<Member>,
    pub central: Central,
    pub layouts: Vec<Layout>,
    /// Of each (layout, node): the first words of runs, with the last words, and the member and its life that minted them.
    pub minted: Vec<BTreeMap<u64, (u64, usize, u32)>>,
    pub holders: Vec<Option<(usize, u32)>>,
    pub bag: Vec<Blow>,
    pub statistics: Statistics,
}

impl fmt::Display for Sim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Statistics {
            blows,
            counts,
            ids,
            events,
            ..
        } = &self.statistics;
        write!(
            f,
            "{} servers, {ids} ids, {events} events, {blows:?}, {counts:?}",
            self.members.len()
        )
    }
}

impl Sim {
    pub fn new(seed: Micros, servers: usize, weather: Weather) -> Self {
        let identity = Identity {
            system: 1,
            timeline: 1,
            ..Identity::default()
        };
        let layouts: Vec<Layout> = [
            "time:41 node:10 seq:12 unit:1ms epoch:2010-11-04T01:42:54.657Z",
            "time:39 node:10 seq:14 unit:10ms epoch:2020-02-03T04:05:06.789123Z",
            "time:32 node:10 seq:21 unit:1s epoch:2020-02-03T04:05:06.789123Z",
        ]
        .map(|layout| layout.parse().unwrap())
        .into();
        let mut sim = Sim {
            seed,
            now: DAWN,
            rng: Rng(seed.unsigned_abs()),
            weather,
            queue: BinaryHeap::new(),
            numbers: 0,
            servers,
            members: Vec::new(),
            central: Central::new(Registry::new(LENGTH, MAX_SKEW, identity)),
            minted: vec![BTreeMap::new(); layouts.len() << 10],
            layouts,
            holders: vec![None; 1 << 10],
            bag: Vec::new(),
            statistics: Statistics::default(),
        };
        // Room for clones.
        let first = if weather == Weather::Foul {
            servers * 49 / 50
        } else {
            servers
        };
        for member in 0..first {
            let wish = sim.wish(member);
            let off = sim.small();
            let drift = sim.rng.between(-200..200);
            sim.join(Member::new(wish, off, drift));
        }
        if weather == Weather::Foul {
            for event in [
                Event::Replicate,
                Event::BackUp,
                Event::Strike,
                Event::Adjust,
            ] {
                sim.plan(SECOND..30 * SECOND, 0, event);
            }
        }
        sim
    }

    /// Every tenth asks for nodes by number, some for several, some for the same by mistake.
    fn wish(&self, member: usize) -> Wish {
        let calm = self.weather == Weather::Calm;
        if member % 10 != 3 || calm && member > 460 {
            return Wish::Auto;
        }
        let nth = member as u64 / 10;
        let first = RESERVED + nth;
        match nth {
            0..40 => Wish::Fixed(first..=first),
            40..46 => {
                let first = RESERVED + 40 + (nth - 40) * 4;
                Wish::Fixed(first..=first + 3)
            }
            46..50 => Wish::Fixed(first - 20..=first - 20),
            50..54 => {
                let first = RESERVED + 40 + (nth - 50) * 2;
                Wish::Fixed(first..=first + 1)
            }
            _ => Wish::Auto,
        }
    }

    /// How wrong a good clock is.
    pub fn small(&mut self) -> Micros {
        self.rng.between(-300 * MS..300 * MS)
    }

    pub fn join(&mut self, member: Member) {
        let index = self.members.len();
        self.members.push(member);
        if self.weather == Weather::Foul {
            self.plan(0..120 * SECOND, index, Event::Fault);
        }
        self.wake(index);
    }

    pub fn wake(&mut self, index: usize) {
        self.plan(0..SECOND, index, Event::Ask);
        self.plan(0..SECOND, index, Event::Mint);
    }

    pub fn plan(&mut self, after: std::ops::Range<Micros>, member: usize, event: Event) {
        let after = self.rng.between(after);
        self.at(self.now + after, member, event);
    }

    pub fn at(&mut self, at: Micros, member: usize, event: Event) {
        self.numbers += 1;
        let life = self.members.get(member).map_or(0, |member| member.life);
        self.queue.push(Reverse(Due {
            at,
            number: self.numbers,
            member,
            life,
            event,
        }));
    }

    /// Lets so much true time pass.
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
            self.happen(due);
        }
        self.now = end;
        self.statistics.present += self.members.len() as f64 * span as f64 / SECOND as f64;
    }

    fn happen(&mut self, due: Due) {
        let Due { member, life, .. } = due;
        match due.event {
            Event::Replicate => {
                self.central.replicate();
                return self.plan(200 * MS..4 * SECOND, 0, Event::Replicate);
            }
            Event::BackUp => {
                self.central.back_up();
                return self.plan(20 * SECOND..90 * SECOND, 0, Event::BackUp);
            }
            Event::Strike => return self.strike(),
            Event::Adjust => {
                let off = self.rng.between(-MAX_SKEW / 2..MAX_SKEW / 2);
                self.central.adjust(off);
                return self.plan(SECOND..20 * SECOND, 0, Event::Adjust);
            }
            Event::Fault => return self.fault(member),
            Event::Right => {
                self.members[member].off = self.small();
                return;
            }
            Event::Arrive(number, request) => {
                return self.arrive(member, life, number, &request);
            }
            _ => {}
        }
        let subject = &mut self.members[member];
        if subject.life != life {
            return;
        }
        if subject.paused_until > self.now {
            let until = subject.paused_until;
            return self.at(until, member, due.event);
        }
        match due.event {
            Event::Start => {
                subject.start();
                self.wake(member);
            }
            Event::Restore(ago) => {
                subject.restore(ago);
                self.wake(member);
            }
            _ if !subject.alive => {}
            Event::Mint => self.mint(member),
            Event::Ask => self.ask(member),
            Event::Timeout(number) if subject.waits_for == Some(number) => {
                subject.waits_for = None;
                self.again(member, false);
            }
            Event::Answer(number, answer) => {
                if subject.waits_for == Some(number) {
                    subject.waits_for = None;
                    self.hear(member, answer);
                } else {
                    self.statistics.count("answers too late");
                }
            }
            _ => {}
        }
    }

    fn mint(&mut self, member: usize) {
        let up = self.now - DAWN + 3_600 * SECOND;
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
        self.plan(300 * MS..1_700 * MS, member, Event::Mint);
    }

    /// What the whole simulation is for.
    fn record(&mut self, place: usize, node: u64, run: Run, member: usize) {
        let life = self.members[member].life;
        let last = run.first + run.count - 1;
        let runs = &mut self.minted[place << 10 | node as usize];
        let before = runs.range(..=last).next_back();
        if let Some((&first, &(end, other, then))) = before {
            assert!(
                end < run.first,
                "seed {}, {} s: server {member} in life {life} mints {}..={last} of node {node}, \
                 and server {other} in life {then} has minted {first}..={end}",
                self.seed,
                (self.now - DAWN) as f64 / SECOND as f64,
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
        self.numbers += 1;
        let number = self.numbers;
        let subject = &mut self.members[member];
        let request = subject.request(self.now);
        subject.waits_for = Some(number);
        subject.asked += 1;
        self.statistics.requests += 1;
        self.at(self.now + PATIENCE, member, Event::Timeout(number));
        self.send(member, Event::Arrive(number, request));
    }

    /// A message, which may be lost or late.
    pub fn send(&mut self, member: usize, event: Event) {
        let mut delay = self.rng.between(MS..30 * MS);
        if self.weather == Weather::Foul {
            let cut = self.members[member].cut_until > self.now;
            if cut || self.rng.one_in(50) {
                return;
            }
            if self.rng.one_in(50) {
                delay = self.rng.between(0..15 * SECOND);
            }
        }
        self.at(self.now + delay, member, event);
    }

    fn arrive(&mut self, member: usize, life: u32, number: u64, request: &Request) {
        if self.central.down_until > self.now {
            return;
        }
        let answer = self.central.ask(self.now, &mut self.rng, request);
        let what = match answer.grant {
            Ok(_) => "granted",
            Err(No::Denied(Denial::Lost)) => "leases lost",
            Err(No::Full) => "all in use",
            Err(No::Denied(Denial::Skew { .. })) => "denied by skew",
            Err(No::Denied(Denial::Quarantine { .. })) => "denied by quarantine",
            Err(No::Denied(Denial::Leased { .. })) => "denied as leased",
        };
        self.statistics.count(what);
        if let (Ok(grant), Wish::Auto | Wish::Fixed(_)) = (&answer.grant, &request.wish) {
            for node in grant.nodes.clone() {
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

    fn hear(&mut self, member: usize, answer: Answer) {
        let granted = self.members[member].hear(answer);
        self.again(member, granted);
    }

    /// Its worker sleeps by a clock that no one sets.
    pub fn again(&mut self, member: usize, granted: bool) {
        let span = request_interval(LENGTH, granted);
        let span = span - span * self.members[member].drift / 1_000_000;
        self.at(self.now + span, member, Event::Ask);
    }

    /// Requests per server and minute.
    pub fn traffic(&self) -> f64 {
        self.statistics.requests as f64 / self.statistics.present * 60.0
    }

    /// The most that one server asked, per minute.
    pub fn busiest(&self) -> f64 {
        let most = self.members.iter().map(|member| member.asked).max();
        let minutes = (self.now - DAWN) as f64 / SECOND as f64 / 60.0;
        most.unwrap_or(0) as f64 / minutes
    }

    /// Members that minted nothing for so long, but for those with nodes that another one has leased.
    pub fn idle_for(&self, span: Micros) -> Vec<usize> {
        let idle = |member: &Member| member.minted_at < self.now - span;
        let served = |wish: &Wish| {
            let Wish::Fixed(nodes) = wish else {
                return false;
            };
            self.members.iter().any(|other| {
                matches!(&other.wish, Wish::Fixed(theirs)
                    if theirs.start() <= nodes.end() && nodes.start() <= theirs.end())
                    && !idle(other)
            })
        };
        (0..self.members.len())
            .filter(|&index| idle(&self.members[index]) && !served(&self.members[index].wish))
            .collect()
    }
}
