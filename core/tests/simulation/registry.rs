//! The registry's servers: the table of leases, its copies, and faults of the servers.

use crate::request::{Answer, Request};
use crate::rng::Rng;
use crate::tables::Tables;
use mint_core::{Identity, Incarnation, Micros, Registry};

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
    /// When it failed last.
    pub failed: Micros,
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
    /// The registry is made again elsewhere, with other settings.
    Anew,
    /// All leases are deleted by hand.
    Emptied,
    /// The leases of an old copy are written over those of the registry by hand.
    Overwritten,
}

pub const REGISTRY_FAULTS: [RegistryFault; 9] = [
    RegistryFault::Restart,
    RegistryFault::Failover,
    RegistryFault::Recovery,
    RegistryFault::Snapshot,
    RegistryFault::Dump,
    RegistryFault::Return,
    RegistryFault::Anew,
    RegistryFault::Emptied,
    RegistryFault::Overwritten,
];

impl RegistryServers {
    /// Returns a registry of `nodes` nodes.
    pub fn new(registry: Registry, nodes: u64) -> Self {
        let tables = Tables::new(registry, nodes);
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
            failed: Micros::MIN,
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
    pub fn fail(
        &mut self,
        fault: RegistryFault,
        now: Micros,
        back: Micros,
        clock_error: Micros,
        rng: &mut Rng,
    ) {
        self.down_until = back;
        self.failed = now;
        let mut next = self.primary.clone();
        next.identity.start = now;
        next.clock_error = clock_error;
        match fault {
            RegistryFault::Restart => {}
            RegistryFault::Emptied | RegistryFault::Overwritten => {
                next.identity = self.primary.identity;
                let old = (fault == RegistryFault::Overwritten).then_some(&self.backup);
                next.tables.overwrite(old);
            }
            RegistryFault::Anew => {
                next.identity = Identity {
                    system: self.primary.identity.system + 1,
                    timeline: 1,
                    start: now,
                    incarnation: Incarnation(rng.roll()),
                };
                next.tables = Tables::anew(next.identity, &self.primary.tables);
                let registry = &mut next.tables.registry;
                registry.quarantine(back + clock_error, rng.roll() as u32);
            }
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

impl RegistryServers {
    /// Changes the settings of the registry: how long leases are, and how far clocks can be from its own.
    pub fn change_settings(&mut self, length: Micros, max_skew: Micros) {
        let registry = &mut self.primary.tables.registry;
        (registry.length, registry.max_skew) = (length, max_skew);
    }

    /// Returns the number of the registry's nodes.
    pub fn nodes(&self) -> u64 {
        self.primary.tables.nodes()
    }
}
