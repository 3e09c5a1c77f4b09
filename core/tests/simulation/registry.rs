//! The registry's servers: the table of leases, its copies, and faults of the servers.

use crate::rng::Rng;
use mint_core::{Denial, Identity, LeaseTerm, LogPoint, Micros, Registry};
use std::collections::HashMap;
use std::ops::RangeInclusive;

pub const NODES: u64 = 1024;
/// The first of the nodes that are reserved for servers that ask for them by number.
pub const RESERVED: u64 = 954;

pub type Nodes = RangeInclusive<u64>;

/// A kind of request to the registry.
#[derive(Debug, Clone)]
pub enum RequestKind {
    /// Any free node.
    Auto,
    /// These nodes.
    Fixed(Nodes),
    /// A renewal of this lease.
    Renew(RegistryLease),
    /// An earlier end of this lease.
    Release(RegistryLease),
}

#[derive(Debug, Clone)]
pub struct Request {
    pub kind: RequestKind,
    /// The reading of the asking server's clock.
    pub clock: Micros,
    pub seen: Option<LogPoint>,
}

/// A lease as the registry grants it.
#[derive(Debug, Clone)]
pub struct RegistryLease {
    pub number: u64,
    pub nodes: Nodes,
    pub term: LeaseTerm,
}

#[derive(Debug, Clone, Copy)]
pub enum RequestError {
    Denied(Denial),
    /// All nodes are in use.
    Full,
}

#[derive(Debug, Clone)]
pub struct Answer {
    pub lease: Result<RegistryLease, RequestError>,
    pub seen: LogPoint,
}

/// The registry's tables, which a standby receives and a backup keeps.
#[derive(Debug, Clone)]
pub struct Tables {
    pub registry: Registry,
    leases: HashMap<u64, (Nodes, LeaseTerm)>,
    /// The number of each node's one lease.
    lease_of: Vec<Option<u64>>,
    /// The end of the log.
    position: u64,
}

impl Tables {
    pub fn new(registry: Registry) -> Self {
        Tables {
            registry,
            leases: HashMap::new(),
            lease_of: vec![None; NODES as usize],
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
        let lease = self.decide(now, rng, ask);
        self.position += u64::from(lease.is_ok());
        let seen = LogPoint {
            identity: self.registry.identity,
            position: self.position,
        };
        Answer { lease, seen }
    }

    fn decide(
        &mut self,
        now: Micros,
        rng: &mut Rng,
        ask: &Request,
    ) -> Result<RegistryLease, RequestError> {
        match &ask.kind {
            RequestKind::Renew(lease) => self.renew(now, ask.clock, lease),
            RequestKind::Release(lease) => self.release(lease, rng),
            kind => {
                let admitted = self.registry.admit(now, ask.clock, None);
                admitted.map_err(RequestError::Denied)?;
                let nodes = match kind {
                    RequestKind::Fixed(nodes) => nodes.clone(),
                    _ => self.free(now).ok_or(RequestError::Full)?,
                };
                let left = self.clear(now, &nodes);
                let term = self
                    .registry
                    .grant(now, left)
                    .map_err(RequestError::Denied)?;
                Ok(self.keep(rng.roll(), nodes, term))
            }
        }
    }

    fn renew(
        &mut self,
        now: Micros,
        clock: Micros,
        told: &RegistryLease,
    ) -> Result<RegistryLease, RequestError> {
        let admitted = self.registry.admit(now, clock, Some(told.term));
        admitted.map_err(RequestError::Denied)?;
        let kept = self.find(told);
        let others = match kept {
            Some(_) => Vec::new(),
            None => self.clear(now, &told.nodes),
        };
        let term = self.registry.renew(now, kept, told.term, others);
        let term = term.map_err(RequestError::Denied)?;
        Ok(self.keep(told.number, told.nodes.clone(), term))
    }

    /// Returns the term of a lease, if it exists and is of these nodes.
    fn find(&self, told: &RegistryLease) -> Option<LeaseTerm> {
        let (nodes, term) = self.leases.get(&told.number)?;
        (*nodes == told.nodes).then_some(*term)
    }

    /// Ends a lease: it stays until its end is past, and cannot be renewed.
    fn release(
        &mut self,
        told: &RegistryLease,
        rng: &mut Rng,
    ) -> Result<RegistryLease, RequestError> {
        let kept = self.find(told).ok_or(RequestError::Denied(Denial::Lost))?;
        let until = kept.until.min(told.term.until);
        let term = LeaseTerm { until, ..kept };
        self.drop_lease(told.number);
        Ok(self.keep(rng.roll(), told.nodes.clone(), term))
    }

    fn keep(&mut self, number: u64, nodes: Nodes, term: LeaseTerm) -> RegistryLease {
        for node in nodes.clone() {
            self.lease_of[node as usize] = Some(number);
        }
        self.leases.insert(number, (nodes.clone(), term));
        RegistryLease {
            number,
            nodes,
            term,
        }
    }

    fn drop_lease(&mut self, number: u64) {
        let Some((nodes, _)) = self.leases.remove(&number) else {
            return;
        };
        for node in nodes {
            self.lease_of[node as usize] = None;
        }
    }

    fn free(&self, now: Micros) -> Option<Nodes> {
        (0..RESERVED)
            .find(|&node| match self.lease_of[node as usize] {
                Some(number) => self.leases[&number].1.until <= now,
                None => true,
            })
            .map(|node| node..=node)
    }

    /// Deletes past leases of these nodes and keeps their end as the horizon. Returns the ends of the others.
    fn clear(&mut self, now: Micros, nodes: &Nodes) -> Vec<Micros> {
        let mut left = Vec::new();
        for node in nodes.clone() {
            let Some(number) = self.lease_of[node as usize] else {
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
    /// The error of its clock.
    clock_error: Micros,
}

/// The registry on its present server, and the copies that can take its place.
pub struct RegistryServers {
    primary: Host,
    /// The tables as a standby has received them.
    standby: Tables,
    /// An old copy.
    backup: Tables,
    /// The server before the last failover, as it was then.
    former: Option<Host>,
    pub down_until: Micros,
    timelines: u32,
}

/// A fault of the registry's server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RegistryFault {
    Restart,
    /// The standby is promoted, which has not received the last grants.
    Failover,
    /// An old copy is recovered to a point in time.
    Recovery,
    /// An old copy of the disk is started without recovery.
    Snapshot,
    /// A dump is restored elsewhere.
    Dump,
    /// The server before the failover is started again, as the registry.
    Return,
}

pub const REGISTRY_FAULTS: [RegistryFault; 6] = [
    RegistryFault::Restart,
    RegistryFault::Failover,
    RegistryFault::Recovery,
    RegistryFault::Snapshot,
    RegistryFault::Dump,
    RegistryFault::Return,
];

impl RegistryServers {
    pub fn new(registry: Registry) -> Self {
        let tables = Tables::new(registry);
        RegistryServers {
            standby: tables.clone(),
            backup: tables.clone(),
            primary: Host {
                tables,
                identity: registry.identity,
                clock_error: 0,
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
            clock_error,
        } = &mut self.primary;
        tables.ask(now + *clock_error, *identity, rng, ask)
    }

    pub fn replicate(&mut self) {
        self.standby = self.primary.tables.clone();
    }

    pub fn back_up(&mut self) {
        self.backup = self.primary.tables.clone();
    }

    /// Lets a fault happen. The registry is back at `back`, with an error of its clock.
    pub fn fail(&mut self, fault: RegistryFault, now: Micros, back: Micros, clock_error: Micros) {
        self.down_until = back;
        let mut next = self.primary.clone();
        next.identity.start = now;
        next.clock_error = clock_error;
        match fault {
            RegistryFault::Restart => {}
            RegistryFault::Failover => next.tables = self.standby.clone(),
            RegistryFault::Recovery | RegistryFault::Snapshot | RegistryFault::Dump => {
                next.tables = self.backup.clone()
            }
            RegistryFault::Return => {
                if let Some(former) = self.former.take() {
                    next.tables = former.tables;
                    next.identity.timeline = former.identity.timeline;
                    next.identity.system = former.identity.system;
                }
            }
        }
        match fault {
            RegistryFault::Failover | RegistryFault::Recovery => {
                self.timelines += 1;
                next.identity.timeline = self.timelines;
            }
            RegistryFault::Dump => next.identity.system += 1,
            _ => {}
        }
        let before = std::mem::replace(&mut self.primary, next);
        if fault == RegistryFault::Failover {
            self.former = Some(before);
        }
        self.standby = self.primary.tables.clone();
    }

    /// Sets the error of the registry's clock.
    pub fn set_clock_error(&mut self, clock_error: Micros) {
        self.primary.clock_error = clock_error;
    }
}
