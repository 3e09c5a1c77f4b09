//! The registry of one assigned node, with all its earlier states.

use crate::rng::Rng;
use crate::time::SECOND;
use mint_core::registry::assigned_rules::{AgreedKey, Proof, Standing, Stranger, Tenancy, Tenant};
use mint_core::{Denial, Identity, LeaseTerm, LogPoint, Micros, Registry};

/// How far the clocks of servers may be from that of the registry, and that from those of its copies.
pub const MAX_SKEW: Micros = SECOND;
const LENGTH: Micros = 10 * SECOND;

/// A request for the node.
#[derive(Debug, Clone)]
pub struct Request {
    pub proof: Proof,
    /// The lease that is held in memory.
    pub told: Option<LeaseTerm>,
    pub clock: Micros,
    pub seen: Option<LogPoint>,
}

#[derive(Debug, Clone, Copy)]
pub enum Refusal {
    Stranger(Stranger),
    Denied(Denial),
}

#[derive(Debug, Clone)]
pub struct Answer {
    pub lease: Result<LeaseTerm, Refusal>,
    pub seen: Option<LogPoint>,
}

/// What the registry has committed.
#[derive(Debug, Clone)]
struct Tables {
    registry: Registry,
    tenancy: Tenancy,
    kept: LeaseTerm,
    position: u64,
}

pub struct Host {
    tables: Tables,
    identity: Identity,
    clock_error: Micros,
    /// The states before, the oldest first.
    history: Vec<Tables>,
    pub down_until: Micros,
}

impl Host {
    pub fn new() -> Self {
        let identity = Identity {
            system: 1,
            timeline: 1,
            ..Identity::default()
        };
        Self {
            tables: Tables {
                registry: Registry::new(LENGTH, MAX_SKEW, identity),
                tenancy: Tenancy::Vacant,
                kept: LeaseTerm { from: 0, until: 0 },
                position: 0,
            },
            identity,
            clock_error: 0,
            history: Vec::new(),
            down_until: Micros::MIN,
        }
    }

    pub fn clock(&self, now: Micros) -> Micros {
        now + self.clock_error
    }

    /// Whether the registry has to renew a lease that lasts of the server whose proof this is: it knows the server, or knows
    /// of none as it may have forgotten it.
    pub fn must_renew(&self, now: Micros, proof: &Proof) -> bool {
        match proof.check(&self.tables.tenancy) {
            Ok(Standing::First) => {
                let is_in_quarantine = self.clock(now) < self.tables.registry.quarantine;
                self.tables.tenancy == Tenancy::Vacant && is_in_quarantine
            }
            Ok(Standing::Restarted | Standing::Running) => !self.is_evicted(),
            Err(_) => false,
        }
    }

    /// Whether the last lease must not be renewed.
    fn is_evicted(&self) -> bool {
        matches!(
            self.tables.tenancy,
            Tenancy::Taken(Tenant { instance: None, .. })
        )
    }

    pub fn agrees(&self, now: Micros, clock: Micros) -> bool {
        let registry = &self.tables.registry;
        registry.check_clock(self.clock(now), clock).is_ok()
    }

    fn commit(&mut self) {
        self.tables.position += 1;
        self.history.push(self.tables.clone());
    }

    /// Answers a request as the server of the registry does.
    pub fn ask(&mut self, now: Micros, rng: &mut Rng, request: &Request) -> Answer {
        let agrees = self.agrees(now, request.clock);
        let now = self.clock(now);
        if agrees {
            let here = LogPoint {
                identity: self.identity,
                position: self.tables.position,
            };
            let registry = &mut self.tables.registry;
            let random = rng.roll() as u32;
            let loss = registry.detect_state_loss(now, here, true, request.seen, random);
            if loss.is_some() {
                self.commit();
            }
        }
        let lease = self.decide(now, request);
        if let Ok(term) = lease {
            let proof = &request.proof;
            let before = match self.tables.tenancy {
                Tenancy::Taken(tenant) => Some(tenant.key),
                Tenancy::Vacant | Tenancy::Moved(_) => None,
            };
            let key: Option<AgreedKey> = proof.next.or(before).or(proof.keys.last().copied());
            self.tables.kept = term;
            self.tables.tenancy = Tenancy::Taken(Tenant {
                origin: proof.origin,
                key: key.unwrap_or_default(),
                instance: Some(proof.instance),
            });
            self.commit();
        }
        let seen = LogPoint {
            identity: self.tables.registry.identity,
            position: self.tables.position,
        };
        Answer {
            lease,
            seen: agrees.then_some(seen),
        }
    }

    fn decide(&self, now: Micros, request: &Request) -> Result<LeaseTerm, Refusal> {
        let Tables {
            registry,
            tenancy,
            kept,
            ..
        } = &self.tables;
        let standing = request.proof.check(tenancy).map_err(Refusal::Stranger)?;
        registry
            .check_clock(now, request.clock)
            .and_then(|()| {
                registry.lease_assigned(now, standing, self.is_evicted(), *kept, request.told)
            })
            .map_err(Refusal::Denied)
    }

    /// Ends the lease of a server that stops, and has minted nothing from `until` on.
    pub fn release(&mut self, instance: i64, until: Micros) -> bool {
        let is_theirs = matches!(self.tables.tenancy, Tenancy::Taken(tenant) if tenant.instance == Some(instance));
        if is_theirs {
            let kept = &mut self.tables.kept;
            // Its holder renews it no more.
            kept.until = kept.until.min(until - MAX_SKEW);
            kept.from = kept.from.min(kept.until);
            self.commit();
        }
        is_theirs
    }

    /// An operator says that the node is the next server's.
    pub fn give_to_next(&mut self) {
        if let Tenancy::Taken(tenant) = self.tables.tenancy {
            let gone = tenant.instance.map(Tenancy::Moved);
            self.tables.tenancy = gone.unwrap_or(Tenancy::Vacant);
            self.commit();
        }
    }

    /// An operator says that the last lease must not be renewed.
    pub fn evict(&mut self) {
        if let Tenancy::Taken(tenant) = &mut self.tables.tenancy {
            tenant.instance = None;
            self.commit();
        }
    }

    /// Starts the registry's server again: on another one with another clock, if commits are lost. Returns whether any were.
    pub fn fail(&mut self, now: Micros, rng: &mut Rng, lost: usize) -> bool {
        self.down_until = now + rng.between(0..rng_span(lost));
        self.identity.start = now;
        // Back to the state in which nobody has asked yet, too: then an operator has assigned the node again.
        let Some(last) = self.history.len().checked_sub(1) else {
            return false;
        };
        let back = last.saturating_sub(lost);
        if lost > 0 {
            self.identity.timeline += 1;
            self.clock_error = rng.pick(&[-MAX_SKEW / 2, 0, MAX_SKEW / 2]);
            self.tables = self.history[back].clone();
            self.history.truncate(back + 1);
        }
        back < last
    }

    pub fn recover(&mut self) {
        (self.clock_error, self.down_until) = (0, Micros::MIN);
    }
}

/// How long the registry can be down: a failover is quick.
fn rng_span(lost: usize) -> Micros {
    if lost == 0 { 15 * SECOND } else { 2 * SECOND }
}
