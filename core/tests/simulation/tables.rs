//! The registry's table of leases.

use crate::request::{Answer, Nodes, RegistryLease, Request, RequestError, RequestKind};
use crate::rng::Rng;
use crate::time::MAX_SKEW;
use mint_core::registry::lease_rules::SHORTEST_LEASE;
use mint_core::{Denial, Identity, LeaseEnd, LeaseTerm, LogPoint, Micros, Registry};
use std::collections::HashMap;

/// How many of the highest nodes are for servers that ask for them by number.
pub const RESERVED: u64 = 70;

/// The registry's tables, which a standby receives and a backup keeps.
#[derive(Debug, Clone)]
pub struct Tables {
    pub registry: Registry,
    leases: HashMap<u64, (Nodes, LeaseTerm, LeaseEnd)>,
    /// The number of each node's one lease.
    lease_of: Vec<Option<u64>>,
    /// The end of the log.
    position: u64,
    /// Whether nobody else has changed the leases.
    is_intact: bool,
}

impl Tables {
    pub fn new(registry: Registry, nodes: u64) -> Self {
        Tables {
            registry,
            leases: HashMap::new(),
            lease_of: vec![None; nodes as usize],
            position: 0,
            is_intact: true,
        }
    }

    /// Returns a registry of as many nodes that knows nothing of another one.
    pub fn anew(identity: Identity, other: &Self) -> Self {
        let registry = Registry::new(SHORTEST_LEASE, MAX_SKEW, identity);
        Self::new(registry, other.nodes())
    }

    /// Replaces the leases, by hand, by those of an old copy, or deletes them.
    pub fn overwrite(&mut self, old: Option<&Self>) {
        let (leases, lease_of) = match old {
            Some(old) => (old.leases.clone(), old.lease_of.clone()),
            None => (HashMap::new(), vec![None; self.lease_of.len()]),
        };
        (self.leases, self.lease_of, self.is_intact) = (leases, lease_of, false);
    }

    pub fn nodes(&self) -> u64 {
        self.lease_of.len() as u64
    }

    pub fn ask(&mut self, now: Micros, here: Identity, rng: &mut Rng, ask: &Request) -> Answer {
        let position = self.position;
        let here = LogPoint {
            identity: here,
            position,
        };
        let agrees = self.registry.check_clock(now, ask.clock).is_ok();
        if agrees {
            let (registry, is_intact) = (&mut self.registry, self.is_intact);
            let random = rng.roll() as u32;
            let loss = registry.detect_state_loss(now, here, is_intact, ask.seen, random);
            self.position += u64::from(loss.is_some());
            self.is_intact = true;
        }
        let lease = self.decide(now, rng, ask);
        self.position += u64::from(lease.is_ok());
        let seen = LogPoint {
            identity: self.registry.identity,
            position: self.position,
        };
        Answer {
            lease,
            length: self.registry.length,
            seen: agrees.then_some(seen),
        }
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
                let term = self.registry.grant(now, self.others(&nodes));
                let term = term.map_err(RequestError::Denied)?;
                self.clear(&nodes);
                Ok(self.keep(rng.roll(), nodes, term, self.registry.end_of(term)))
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
            None => self.others(&told.nodes),
        };
        let term = self.registry.renew(now, kept, told.term, others);
        let term = term.map_err(RequestError::Denied)?;
        if kept.is_none() {
            self.clear(&told.nodes);
        }
        let end = self.registry.end_of(term);
        Ok(self.keep(told.number, told.nodes.clone(), term, end))
    }

    /// Returns the term of a lease, if it exists and is of these nodes.
    fn find(&self, told: &RegistryLease) -> Option<LeaseTerm> {
        let (nodes, term, _) = self.leases.get(&told.number)?;
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
        // Its holder renews it no more.
        let end = LeaseEnd {
            until,
            free_from: until,
        };
        Ok(self.keep(rng.roll(), told.nodes.clone(), term, end))
    }

    fn keep(&mut self, number: u64, nodes: Nodes, term: LeaseTerm, end: LeaseEnd) -> RegistryLease {
        for node in nodes.clone() {
            self.lease_of[node as usize] = Some(number);
        }
        self.leases.insert(number, (nodes.clone(), term, end));
        RegistryLease {
            number,
            nodes,
            term,
        }
    }

    fn drop_lease(&mut self, number: u64) {
        let Some((nodes, ..)) = self.leases.remove(&number) else {
            return;
        };
        for node in nodes {
            self.lease_of[node as usize] = None;
        }
    }

    /// Returns the highest free node: people number theirs from below.
    fn free(&self, now: Micros) -> Option<Nodes> {
        (0..self.nodes() - RESERVED)
            .rfind(|&node| match self.lease_of[node as usize] {
                Some(number) => self.leases[&number].2.free_from <= now,
                None => true,
            })
            .map(|node| node..=node)
    }

    /// Returns the ends of all leases of any of these nodes.
    fn others(&self, nodes: &Nodes) -> Vec<LeaseEnd> {
        let leases = nodes
            .clone()
            .filter_map(|node| self.lease_of[node as usize]);
        leases.map(|number| self.leases[&number].2).collect()
    }

    /// Deletes the leases of these nodes, which have ended, and keeps their end as the horizon.
    fn clear(&mut self, nodes: &Nodes) {
        for node in nodes.clone() {
            if let Some(number) = self.lease_of[node as usize] {
                let until = self.leases[&number].1.until;
                self.registry.horizon = self.registry.horizon.max(until);
                self.drop_lease(number);
            }
        }
    }
}
