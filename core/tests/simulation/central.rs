//! The registry's server: its table of leases, and the faults of its disk.

use crate::rng::Rng;
use mint_core::{Denial, Identity, LeaseTerm, LogPoint, Micros, Registry};
use std::collections::HashMap;
use std::ops::RangeInclusive;

pub const NODES: u64 = 1024;
/// From here on nodes are reserved for servers that ask for them by number.
pub const RESERVED: u64 = 954;

pub type Nodes = RangeInclusive<u64>;

/// What a server asks for.
#[derive(Debug, Clone)]
pub enum Wish {
    /// Any free node.
    Auto,
    /// These.
    Fixed(Nodes),
    /// A renewal of this lease.
    Renew(Grant),
    /// An earlier end.
    Release(Grant),
}

#[derive(Debug, Clone)]
pub struct Request {
    pub wish: Wish,
    /// What the asking server's clock showed.
    pub clock: Micros,
    pub seen: Option<LogPoint>,
}

#[derive(Debug, Clone)]
pub struct Grant {
    pub number: u64,
    pub nodes: Nodes,
    pub span: LeaseTerm,
}

#[derive(Debug, Clone, Copy)]
pub enum No {
    Denied(Denial),
    /// All nodes are in use.
    Full,
}

#[derive(Debug, Clone)]
pub struct Answer {
    pub grant: Result<Grant, No>,
    pub seen: LogPoint,
}

/// What is in the registry's tables: what a standby receives and a backup keeps.
#[derive(Debug, Clone)]
pub struct Tables {
    pub registry: Registry,
    leases: HashMap<u64, (Nodes, LeaseTerm)>,
    /// The one lease of each node.
    on: Vec<Option<u64>>,
    /// Where the log ends.
    position: u64,
}

impl Tables {
    pub fn new(registry: Registry) -> Self {
        Tables {
            registry,
            leases: HashMap::new(),
            on: vec![None; NODES as usize],
            position: 0,
        }
    }

    pub fn ask(&mut self, now: Micros, here: Identity, rng: &mut Rng, ask: &Request) -> Answer {
        let position = self.position;
        let here = LogPoint {
            identity: here,
            position,
        };
        let agrees = self.registry.check_clock(now, ask.clock).is_ok();
        if agrees && self.registry.detect_state_loss(now, here, ask.seen) {
            self.position += 1;
        }
        let grant = self.decide(now, rng, ask);
        self.position += u64::from(grant.is_ok());
        let seen = LogPoint {
            identity: self.registry.identity,
            position: self.position,
        };
        Answer { grant, seen }
    }

    fn decide(&mut self, now: Micros, rng: &mut Rng, ask: &Request) -> Result<Grant, No> {
        match &ask.wish {
            Wish::Renew(held) => self.renew(now, ask.clock, held),
            Wish::Release(held) => self.release(held, rng),
            wish => {
                let admitted = self.registry.admit(now, ask.clock, None);
                admitted.map_err(No::Denied)?;
                let nodes = match wish {
                    Wish::Fixed(nodes) => nodes.clone(),
                    _ => self.free(now).ok_or(No::Full)?,
                };
                let left = self.clear(now, &nodes);
                let span = self.registry.grant(now, left).map_err(No::Denied)?;
                Ok(self.keep(rng.roll(), nodes, span))
            }
        }
    }

    fn renew(&mut self, now: Micros, clock: Micros, told: &Grant) -> Result<Grant, No> {
        let admitted = self.registry.admit(now, clock, Some(told.span));
        admitted.map_err(No::Denied)?;
        let kept = self.find(told);
        let others = match kept {
            Some(_) => Vec::new(),
            None => self.clear(now, &told.nodes),
        };
        let span = self.registry.renew(now, kept, told.span, others);
        let span = span.map_err(No::Denied)?;
        Ok(self.keep(told.number, told.nodes.clone(), span))
    }

    /// The term of a lease, if it exists and is of these nodes.
    fn find(&self, told: &Grant) -> Option<LeaseTerm> {
        let (nodes, span) = self.leases.get(&told.number)?;
        (*nodes == told.nodes).then_some(*span)
    }

    /// The lease stays until its end is past, and cannot be renewed.
    fn release(&mut self, told: &Grant, rng: &mut Rng) -> Result<Grant, No> {
        let kept = self.find(told).ok_or(No::Denied(Denial::Lost))?;
        let until = kept.until.min(told.span.until);
        let span = LeaseTerm { until, ..kept };
        self.drop_lease(told.number);
        Ok(self.keep(rng.roll(), told.nodes.clone(), span))
    }

    fn keep(&mut self, number: u64, nodes: Nodes, span: LeaseTerm) -> Grant {
        for node in nodes.clone() {
            self.on[node as usize] = Some(number);
        }
        self.leases.insert(number, (nodes.clone(), span));
        Grant {
            number,
            nodes,
            span,
        }
    }

    fn drop_lease(&mut self, number: u64) {
        let Some((nodes, _)) = self.leases.remove(&number) else {
            return;
        };
        for node in nodes {
            self.on[node as usize] = None;
        }
    }

    fn free(&self, now: Micros) -> Option<Nodes> {
        (0..RESERVED)
            .find(|&node| match self.on[node as usize] {
                Some(number) => self.leases[&number].1.until <= now,
                None => true,
            })
            .map(|node| node..=node)
    }

    /// Deletes past leases of these nodes, and keeps their end as the horizon. Returns the ends of those that last.
    fn clear(&mut self, now: Micros, nodes: &Nodes) -> Vec<Micros> {
        let mut left = Vec::new();
        for node in nodes.clone() {
            let Some(number) = self.on[node as usize] else {
                continue;
            };
            let until = self.leases[&number].1.until;
            if until <= now {
                self.drop_lease(number);
                self.registry.horizon = self.registry.horizon.max(until);
            } else {
                left.push(until);
            }
        }
        left
    }
}

/// One server that is a registry, now or before.
#[derive(Debug, Clone)]
struct Host {
    tables: Tables,
    identity: Identity,
    /// Its clock's error.
    off: Micros,
}

/// The registry, wherever it is.
pub struct Central {
    primary: Host,
    /// What a standby has received so far.
    standby: Tables,
    /// An old copy.
    backup: Tables,
    /// The registry before the last failover, as it was then.
    former: Option<Host>,
    pub down_until: Micros,
    timelines: u32,
}

/// What becomes of a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Blow {
    Restart,
    /// The standby is promoted, which has not received the last grants.
    Failover,
    /// An old copy is recovered to a point in time.
    Recovery,
    /// An old copy of the disk is started as if nothing had happened.
    Snapshot,
    /// A dump is restored elsewhere.
    Dump,
    /// The server that failed over is started again, and is the registry.
    Return,
}

pub const BLOWS: [Blow; 6] = [
    Blow::Restart,
    Blow::Failover,
    Blow::Recovery,
    Blow::Snapshot,
    Blow::Dump,
    Blow::Return,
];

impl Central {
    pub fn new(registry: Registry) -> Self {
        let tables = Tables::new(registry);
        Central {
            standby: tables.clone(),
            backup: tables.clone(),
            primary: Host {
                tables,
                identity: registry.identity,
                off: 0,
            },
            former: None,
            down_until: Micros::MIN,
            timelines: registry.identity.timeline,
        }
    }

    pub fn ask(&mut self, now: Micros, rng: &mut Rng, ask: &Request) -> Answer {
        let Host {
            tables,
            identity,
            off,
        } = &mut self.primary;
        tables.ask(now + *off, *identity, rng, ask)
    }

    pub fn replicate(&mut self) {
        self.standby = self.primary.tables.clone();
    }

    pub fn back_up(&mut self) {
        self.backup = self.primary.tables.clone();
    }

    /// Strikes, and is back at `back` with a clock that is `off`.
    pub fn strike(&mut self, blow: Blow, now: Micros, back: Micros, off: Micros) {
        self.down_until = back;
        let mut next = self.primary.clone();
        next.identity.start = now;
        next.off = off;
        match blow {
            Blow::Restart => {}
            Blow::Failover => next.tables = self.standby.clone(),
            Blow::Recovery | Blow::Snapshot | Blow::Dump => next.tables = self.backup.clone(),
            Blow::Return => {
                if let Some(former) = self.former.take() {
                    next.tables = former.tables;
                    next.identity.timeline = former.identity.timeline;
                    next.identity.system = former.identity.system;
                }
            }
        }
        match blow {
            Blow::Failover | Blow::Recovery => {
                self.timelines += 1;
                next.identity.timeline = self.timelines;
            }
            Blow::Dump => next.identity.system += 1,
            _ => {}
        }
        let before = std::mem::replace(&mut self.primary, next);
        if blow == Blow::Failover {
            self.former = Some(before);
        }
        self.standby = self.primary.tables.clone();
    }

    /// Its clock is adjusted.
    pub fn adjust(&mut self, off: Micros) {
        self.primary.off = off;
    }
}
