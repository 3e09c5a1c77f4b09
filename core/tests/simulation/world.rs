//! What happens, in the order of true time.

use crate::central::{Answer, BLOWS, Blow, Central, No, RESERVED, Request, Wish};
use crate::dice::Dice;
use crate::member::Member;
use mint_core::registry::pace;
use mint_core::{Denial, Identity, Layout, Micros, Registry, Run};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt;

pub const SECOND: Micros = 1_000_000;
const MS: Micros = 1_000;
/// When it begins, in true time.
pub const DAWN: Micros = 1_700_000_000 * SECOND;
const LENGTH: Micros = 10 * SECOND;
const MAX_SKEW: Micros = SECOND;
/// How long a member waits for an answer.
const PATIENCE: Micros = 2 * SECOND;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    Calm,
    Foul,
}

/// Of a member all but `Fate` and `Right` are of one life of it.
#[derive(Debug)]
enum Event {
    Mint,
    Ask,
    Arrive(u64, Request),
    Answer(u64, Answer),
    Timeout(u64),
    Fate,
    /// The clock is set right.
    Right,
    Start,
    Restore(Micros),
    Replicate,
    BackUp,
    Strike,
    Adjust,
}

#[derive(Debug)]
struct Due {
    at: Micros,
    number: u64,
    member: usize,
    life: u32,
    event: Event,
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

#[derive(Debug, Default)]
pub struct Tally {
    pub blows: BTreeMap<Blow, u64>,
    counts: BTreeMap<&'static str, u64>,
    pub ids: u128,
    requests: u64,
    events: u64,
    /// Seconds that members were there, awake.
    present: f64,
}

impl Tally {
    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// What has to happen often for a run to mean anything.
    pub fn happened(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [
            "clocks jumped",
            "members paused",
            "members crashed",
            "members restored",
            "members cloned",
            "members cut off",
            "releases",
            "answers too late",
            "claims lost",
            "denied by skew",
            "denied by quarantine",
            "denied as held",
            "nodes changed hands",
        ]
        .map(|what| (what, self.counts.get(what).copied().unwrap_or(0)))
        .into_iter()
    }
}

pub struct Sim {
    seed: Micros,
    now: Micros,
    dice: Dice,
    weather: Weather,
    queue: BinaryHeap<Reverse<Due>>,
    numbers: u64,
    servers: usize,
    members: Vec<Member>,
    central: Central,
    layouts: Vec<Layout>,
    /// Of each (layout, node): the first words of runs, with the last words and who minted them in which life.
    minted: Vec<BTreeMap<u64, (u64, usize, u32)>>,
    holders: Vec<Option<(usize, u32)>>,
    bag: Vec<Blow>,
    pub tally: Tally,
}

impl fmt::Display for Sim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally {
            blows,
            counts,
            ids,
            events,
            ..
        } = &self.tally;
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
            dice: Dice(seed.unsigned_abs()),
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
            tally: Tally::default(),
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
            let drift = sim.dice.between(-200..200);
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
    fn small(&mut self) -> Micros {
        self.dice.between(-300 * MS..300 * MS)
    }

    fn join(&mut self, member: Member) {
        let index = self.members.len();
        self.members.push(member);
        if self.weather == Weather::Foul {
            self.plan(0..120 * SECOND, index, Event::Fate);
        }
        self.wake(index);
    }

    fn wake(&mut self, index: usize) {
        self.plan(0..SECOND, index, Event::Ask);
        self.plan(0..SECOND, index, Event::Mint);
    }

    fn plan(&mut self, after: std::ops::Range<Micros>, member: usize, event: Event) {
        let after = self.dice.between(after);
        self.at(self.now + after, member, event);
    }

    fn at(&mut self, at: Micros, member: usize, event: Event) {
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
            self.tally.events += 1;
            self.happen(due);
        }
        self.now = end;
        self.tally.present += self.members.len() as f64 * span as f64 / SECOND as f64;
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
                let off = self.dice.between(-MAX_SKEW / 2..MAX_SKEW / 2);
                self.central.adjust(off);
                return self.plan(SECOND..20 * SECOND, 0, Event::Adjust);
            }
            Event::Fate => return self.fate(member),
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
                    self.tally.count("answers too late");
                }
            }
            _ => {}
        }
    }

    fn mint(&mut self, member: usize) {
        let up = self.now - DAWN + 3_600 * SECOND;
        // Mostly one layout, so that lanes of the others are far behind.
        let other = match self.dice.one_in(15) {
            true => self.dice.below(self.layouts.len() as u64) as usize,
            false => 0,
        };
        let place = (member + other) % self.layouts.len();
        let want = self.dice.pick(&[1, 1_000_000, u64::MAX]);
        let layout = (place, &self.layouts[place]);
        let subject = &mut self.members[member];
        let run = subject.mint(self.now, up, &mut self.dice, layout, want);
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
                self.tally.ids += u128::from(run.count);
                return;
            }
        }
        runs.insert(run.first, (last, member, life));
        self.tally.ids += u128::from(run.count);
    }

    fn ask(&mut self, member: usize) {
        self.numbers += 1;
        let number = self.numbers;
        let subject = &mut self.members[member];
        let request = subject.request(self.now);
        subject.waits_for = Some(number);
        subject.asked += 1;
        self.tally.requests += 1;
        self.at(self.now + PATIENCE, member, Event::Timeout(number));
        self.send(member, Event::Arrive(number, request));
    }

    /// A message, which may be lost or late.
    fn send(&mut self, member: usize, event: Event) {
        let mut delay = self.dice.between(MS..30 * MS);
        if self.weather == Weather::Foul {
            let cut = self.members[member].cut_until > self.now;
            if cut || self.dice.one_in(50) {
                return;
            }
            if self.dice.one_in(50) {
                delay = self.dice.between(0..15 * SECOND);
            }
        }
        self.at(self.now + delay, member, event);
    }

    fn arrive(&mut self, member: usize, life: u32, number: u64, request: &Request) {
        if self.central.down_until > self.now {
            return;
        }
        let answer = self.central.ask(self.now, &mut self.dice, request);
        let what = match answer.grant {
            Ok(_) => "granted",
            Err(No::Denied(Denial::Lost)) => "claims lost",
            Err(No::Full) => "all in use",
            Err(No::Denied(Denial::Skew { .. })) => "denied by skew",
            Err(No::Denied(Denial::Quarantine { .. })) => "denied by quarantine",
            Err(No::Denied(Denial::Held { .. })) => "denied as held",
        };
        self.tally.count(what);
        if let (Ok(grant), Wish::Auto | Wish::Fixed(_)) = (&answer.grant, &request.wish) {
            for node in grant.nodes.clone() {
                let holder = self.holders[node as usize].replace((member, life));
                if holder.is_some_and(|(holder, _)| holder != member) {
                    self.tally.count("nodes changed hands");
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
    fn again(&mut self, member: usize, granted: bool) {
        let span = pace(LENGTH, granted);
        let span = span - span * self.members[member].drift / 1_000_000;
        self.at(self.now + span, member, Event::Ask);
    }

    fn strike(&mut self) {
        if self.bag.is_empty() {
            self.bag = BLOWS.into();
        }
        let blow = self.dice.below(self.bag.len() as u64) as usize;
        let blow = self.bag.swap_remove(blow);
        *self.tally.blows.entry(blow).or_default() += 1;
        let down = self.dice.pick(&[50 * MS, 3 * SECOND, 15 * SECOND]);
        let back = self.now + self.dice.between(0..down);
        let off = self.dice.between(-MAX_SKEW / 2..MAX_SKEW / 2);
        self.central.strike(blow, self.now, back, off);
        self.plan(3 * SECOND..50 * SECOND, 0, Event::Strike);
    }

    /// Something happens to a member.
    fn fate(&mut self, index: usize) {
        self.plan(5 * SECOND..180 * SECOND, index, Event::Fate);
        let now = self.now;
        let room = self.members.len() < self.servers;
        let member = &mut self.members[index];
        if !member.alive || member.paused_until > now {
            return;
        }
        let what = match self.dice.below(8) {
            0..3 => {
                let far = [10 * MS, 500 * MS, 3 * SECOND, 30 * SECOND, 7_200 * SECOND];
                let far = self.dice.pick(&far);
                member.off += self.dice.between(-far..far);
                self.plan(SECOND..40 * SECOND, index, Event::Right);
                "clocks jumped"
            }
            3 => {
                let long = self.dice.pick(&[3, 30, 100]) * SECOND;
                member.paused_until = now + self.dice.between(SECOND..long);
                "members paused"
            }
            4 => {
                member.cut_until = now + self.dice.between(SECOND..40 * SECOND);
                "members cut off"
            }
            5 => {
                member.alive = false;
                self.plan(0..20 * SECOND, index, Event::Start);
                "members crashed"
            }
            6 if room => {
                let off = self.small();
                let clone = self.members[index].cloned(off);
                self.join(clone);
                "members cloned"
            }
            6 => {
                member.alive = false;
                let ago = self.dice.between(0..100 * SECOND);
                self.plan(0..20 * SECOND, index, Event::Restore(ago));
                "members restored"
            }
            _ => {
                let release = member.release(now);
                // An answer that is under way would be taken for a new grant.
                let waited = member.waits_for.take().is_some();
                if let Some(request) = release {
                    self.send(index, Event::Arrive(0, request));
                }
                if self.dice.one_in(2) {
                    self.members[index].alive = false;
                    self.plan(0..5 * SECOND, index, Event::Start);
                } else if waited {
                    self.again(index, false);
                }
                "releases"
            }
        };
        self.tally.count(what);
    }

    /// All is well from now on.
    pub fn clear_up(&mut self) {
        self.weather = Weather::Calm;
        self.central.down_until = self.now;
        self.central.adjust(0);
        let now = self.now;
        for Reverse(mut due) in std::mem::take(&mut self.queue) {
            if !matches!(
                due.event,
                Event::Strike | Event::Adjust | Event::Fate | Event::Right
            ) {
                due.at = due.at.min(now + 10 * SECOND);
                self.queue.push(Reverse(due));
            }
        }
        for index in 0..self.members.len() {
            let off = self.small();
            let member = &mut self.members[index];
            member.off = off;
            member.paused_until = member.paused_until.min(now);
        }
    }

    /// Requests per server and minute.
    pub fn traffic(&self) -> f64 {
        self.tally.requests as f64 / self.tally.present * 60.0
    }

    /// The most that one server asked, per minute.
    pub fn busiest(&self) -> f64 {
        let most = self.members.iter().map(|member| member.asked).max();
        let minutes = (self.now - DAWN) as f64 / SECOND as f64 / 60.0;
        most.unwrap_or(0) as f64 / minutes
    }

    /// Who minted nothing for so long, but for those whose nodes another one holds.
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
