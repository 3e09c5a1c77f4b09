//! The servers, the registry and the queue of their events.

use crate::member::Member;
use crate::queue::{Due, Event};
use crate::registry::{RegistryFault, RegistryServers};
use crate::request::RequestKind;
use crate::rng::Rng;
use crate::statistics::Statistics;
use crate::tables::RESERVED;
use crate::time::{LEASE_LENGTH, MAX_SKEW, MS, SECOND, START};
use mint_core::registry::lease_rules::request_interval;
use mint_core::{Identity, Layout, Micros, Registry};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt;

/// A switch for lost messages and failing servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Faults {
    Off,
    On,
}

pub struct Sim {
    pub seed: Micros,
    pub now: Micros,
    pub rng: Rng,
    pub faults: Faults,
    pub queue: BinaryHeap<Reverse<Due>>,
    /// The last number given to an event or a request.
    pub last_number: u64,
    pub servers: usize,
    /// The width of nodes in bits.
    width: u32,
    /// The mean time from one call of a member to the next.
    pub mint_interval: Micros,
    /// The longest time from one fault of the registry to the next.
    pub peace: Micros,
    pub members: Vec<Member>,
    pub registry: RegistryServers,
    pub layouts: Vec<Layout>,
    /// For each layout and node, runs by their first word: the last word, and the member and the life that minted it.
    pub minted: Vec<BTreeMap<u64, (u64, usize, u32)>>,
    /// For each node, the last member that leased it, and its life.
    pub holders: Vec<Option<(usize, u32)>>,
    /// The faults that have not happened yet in this round.
    pub faults_left: Vec<RegistryFault>,
    pub statistics: Statistics,
}

impl fmt::Display for Sim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Statistics {
            registry_faults,
            counts,
            ids,
            events,
            ..
        } = &self.statistics;
        write!(
            f,
            "{} servers, {ids} ids, {events} events, {registry_faults:?}, {counts:?}",
            self.members.len()
        )
    }
}

impl Sim {
    pub fn new(seed: Micros, servers: usize, faults: Faults) -> Self {
        // Many servers are watched for long, so they mint and fail less often.
        let few = servers <= 1_000;
        let width = if few { 10 } else { 14 };
        let identity = Identity {
            system: 1,
            timeline: 1,
            ..Identity::default()
        };
        let layouts: Vec<Layout> = [
            ("time:41", 22, "unit:1ms epoch:2010-11-04T01:42:54.657Z"),
            ("time:39", 24, "unit:10ms epoch:2020-02-03T04:05:06.789123Z"),
            ("time:32", 31, "unit:1s epoch:2020-02-03T04:05:06.789123Z"),
        ]
        .map(|(time, rest, unit)| format!("{time} shard:{width} seq:{} {unit}", rest - width))
        .map(|layout| layout.parse().unwrap())
        .into();
        let mut sim = Sim {
            seed,
            now: START,
            rng: Rng(seed.unsigned_abs()),
            faults,
            queue: BinaryHeap::new(),
            last_number: 0,
            servers,
            width,
            mint_interval: if few { SECOND } else { 30 * SECOND },
            peace: if few { 50 * SECOND } else { 600 * SECOND },
            members: Vec::new(),
            registry: RegistryServers::new(
                Registry::new(LEASE_LENGTH, MAX_SKEW, identity),
                1 << width,
            ),
            minted: vec![BTreeMap::new(); layouts.len() << width],
            layouts,
            holders: vec![None; 1 << width],
            faults_left: Vec::new(),
            statistics: Statistics::default(),
        };
        // Room for clones.
        let first = if faults == Faults::On {
            servers * 49 / 50
        } else {
            servers
        };
        for member in 0..first {
            let setting = sim.setting(member);
            let clock_error = sim.small_clock_error();
            let drift = if few { 200 } else { 20 };
            let drift = sim.rng.between(-drift..drift);
            sim.join(Member::new(setting, clock_error, drift));
        }
        if faults == Faults::On {
            sim.schedule_faults();
        }
        sim
    }

    /// Schedules the first event of each kind that is not of a member.
    fn schedule_faults(&mut self) {
        for event in [
            Event::Replicate,
            Event::BackUp,
            Event::FailRegistry,
            Event::AdjustRegistryClock,
            Event::ChangeSettings,
            Event::Lie,
        ] {
            self.schedule(SECOND..30 * SECOND, 0, event);
        }
    }

    /// Every tenth server asks for nodes by number, some for several, some for the same by mistake.
    fn setting(&self, member: usize) -> RequestKind {
        let reserved = (1 << self.width) - RESERVED;
        if member % 10 != 3 || self.faults == Faults::Off && member > 460 {
            return RequestKind::Auto;
        }
        let nth = member as u64 / 10;
        let first = reserved + nth;
        match nth {
            0..40 => RequestKind::Fixed(first..=first),
            40..46 => {
                let first = reserved + 40 + (nth - 40) * 4;
                RequestKind::Fixed(first..=first + 3)
            }
            46..50 => RequestKind::Fixed(first - 20..=first - 20),
            50..54 => {
                let first = reserved + 40 + (nth - 50) * 2;
                RequestKind::Fixed(first..=first + 1)
            }
            _ => RequestKind::Auto,
        }
    }

    /// Returns the error of a good clock.
    pub fn small_clock_error(&mut self) -> Micros {
        self.rng.between(-300 * MS..300 * MS)
    }

    pub fn join(&mut self, member: Member) {
        let index = self.members.len();
        self.members.push(member);
        if self.faults == Faults::On {
            let peace = self.peace * 12 / 5;
            self.schedule(0..peace, index, Event::FailMember);
        }
        self.schedule_work(index);
    }

    pub fn schedule_work(&mut self, index: usize) {
        self.schedule(0..SECOND, index, Event::Ask);
        self.schedule(0..SECOND, index, Event::Mint);
    }

    pub fn schedule(&mut self, after: std::ops::Range<Micros>, member: usize, event: Event) {
        let after = self.rng.between(after);
        self.schedule_at(self.now + after, member, event);
    }

    pub fn schedule_at(&mut self, at: Micros, member: usize, event: Event) {
        self.last_number += 1;
        let life = self.members.get(member).map_or(0, |member| member.life);
        self.queue.push(Reverse(Due {
            at,
            number: self.last_number,
            member,
            life,
            event,
        }));
    }

    /// Sends a message, which can be lost or late.
    pub fn send(&mut self, member: usize, event: Event) {
        let mut delay = self.rng.between(MS..30 * MS);
        if self.faults == Faults::On {
            let cut = self.members[member].cut_off_until > self.now;
            if cut || self.rng.one_in(50) {
                return;
            }
            if self.rng.one_in(50) {
                delay = self.rng.between(0..15 * SECOND);
            }
        }
        self.schedule_at(self.now + delay, member, event);
    }

    /// Schedules a member's next request, after a sleep by its monotonic clock, which only drifts.
    pub fn schedule_request(&mut self, member: usize, granted: bool) {
        let span = request_interval(self.members[member].length, granted);
        let span = span - span * self.members[member].drift / 1_000_000;
        self.schedule_at(self.now + span, member, Event::Ask);
    }

    /// Returns the place of the words of a layout and node.
    pub fn place(&self, layout: usize, node: u64) -> usize {
        layout << self.width | node as usize
    }

    /// Returns the requests per server and minute.
    pub fn traffic(&self) -> f64 {
        self.statistics.requests as f64 / self.statistics.present * 60.0
    }

    /// Returns the most requests per minute of one server.
    pub fn busiest(&self) -> f64 {
        let most = self.members.iter().map(|member| member.asked).max();
        let minutes = (self.now - START) as f64 / SECOND as f64 / 60.0;
        most.unwrap_or(0) as f64 / minutes
    }

    /// Returns the members that minted nothing for so long, except for those whose nodes another one has leased.
    pub fn idle_for(&self, span: Micros) -> Vec<usize> {
        let idle = |member: &Member| member.minted_at < self.now - span;
        let served = |setting: &RequestKind| {
            let RequestKind::Fixed(nodes) = setting else {
                return false;
            };
            self.members.iter().any(|other| {
                matches!(&other.setting, RequestKind::Fixed(theirs)
                    if theirs.start() <= nodes.end() && nodes.start() <= theirs.end())
                    && !idle(other)
            })
        };
        (0..self.members.len())
            .filter(|&index| idle(&self.members[index]) && !served(&self.members[index].setting))
            .collect()
    }
}
