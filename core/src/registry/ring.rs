//! The rules by which a registry leases nodes: a ring of leases.
//!
//! Nodes are granted in the order of a ring. A *start* is any event after which the registry might have forgotten
//! leases: its server restarts; its tables are restored, moved or copied; its clock is set. Then it grants nothing new
//! until all leases that it can have granted have ended, and continues at a distant place of the ring. Meanwhile and
//! later, it renews a lease by the member's word if it knows of no other lease of the node. No step lowers the end of a
//! lease below ids that can exist.
//!
//! If clocks are right, the wait alone keeps leases of one node apart. If no row is lost, the rows alone suffice,
//! whatever the clocks say. The ring order protects the remaining cases: a registry and its copy that live side by
//! side, and wrong clocks beside lost rows. `core/tests/registry_ring` searches all of that.
//!
//! The caller chooses the registry, keeps its state and carries requests. It has to
//! - load, answer and store alone: under a lock of the registry, but for a request that [`RingRules::is_plain_renewal`], for
//!   which a lock of its row is enough. A start ([`RingRules::is_start`]) waits for those, too. Clocks are read under
//!   the lock;
//! - store the state and commit it durably before the answer is told, **also when the answer is a [`Refusal`]**;
//! - publish the memory after the commit and before releasing the lock. If the commit fails, publish neither. After a
//!   plain renewal, its digest takes the change of that row alone: others do the same meanwhile.

use crate::clock::Micros;
pub use crate::registry::ring_state::{
    Refusal, RegistryRun, RingClocks, RingDemand, RingLease, RingMemory, RingPosition, RingRequest,
    RingRules, RingState,
};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

impl RingRules {
    /// Answers a request in the `run` of the registry's server, and returns the lease as it is now. `memory` is what
    /// that run keeps, none before its first request. `random` has 64 random bits.
    ///
    /// # Errors
    /// Why the member gets no lease. The state and the memory can have changed nevertheless: store them.
    pub fn answer(
        &self,
        state: &mut RingState,
        memory: &mut Option<RingMemory>,
        run: RegistryRun,
        request: &RingRequest,
        clocks: RingClocks,
        random: u64,
    ) -> Result<RingLease, Refusal> {
        let ring = self.ring(request.width)?;
        let ahead = request.clock.saturating_sub(clocks.wall);
        // This check is the first, as nothing must begin by a wrong clock of the registry.
        if ahead.saturating_abs() > self.skew {
            return Err(Refusal::Clock { ahead });
        }
        let mut kept = match *memory {
            Some(kept) if !self.is_start(state, Some(kept), run, clocks) => kept,
            _ => Self::begin_wait(state, run, clocks),
        };
        let left = self
            .wait
            .saturating_sub(clocks.boot.saturating_sub(kept.began));
        let answer = match request.demand {
            RingDemand::Grant(number) => match state.unheard_lease(number, self, clocks.wall) {
                Some(lease) => Ok(lease),
                None if left > 0 => Err(Refusal::Wait { left }),
                None => self.grant(state, &ring, request.width, number, clocks.wall, random),
            },
            RingDemand::Renewal(lease) => self.renew(state, &ring, lease, clocks.wall),
            RingDemand::End { lease, used } => state.end(lease, used, self.latest_end(clocks.wall)),
        };
        kept.digest = state.digest;
        *memory = Some(kept);
        answer
    }

    /// Returns whether the registry can have forgotten leases since its last answer: it is another run, or its rows
    /// are not those that its memory knows, or its clock was set.
    #[must_use]
    pub fn is_start(
        &self,
        state: &RingState,
        memory: Option<RingMemory>,
        run: RegistryRun,
        clocks: RingClocks,
    ) -> bool {
        let is_known = |kept: RingMemory| {
            let moved = clocks.offset().saturating_sub(kept.offset);
            kept.digest == state.digest && moved.saturating_abs() <= self.skew
        };
        state.run != Some(run) || !memory.is_some_and(is_known)
    }

    /// Returns whether a request is the renewal of a lease whose row lasts: then no other row is needed. `state` is
    /// one with that row alone, and the digest of the memory.
    #[must_use]
    pub fn is_plain_renewal(
        &self,
        state: &RingState,
        memory: Option<RingMemory>,
        run: RegistryRun,
        request: &RingRequest,
        clocks: RingClocks,
    ) -> bool {
        let RingDemand::Renewal(lease) = request.demand else {
            return false;
        };
        let row = state.rows.get(&lease.node);
        let lasts = |row: &RingLease| row.is_same(lease) && row.until > clocks.wall;
        lease.is_credible(self, clocks.wall)
            && row.is_some_and(lasts)
            && !self.is_start(state, memory, run, clocks)
    }

    /// Begins the wait, after which each ring jumps.
    fn begin_wait(state: &mut RingState, run: RegistryRun, clocks: RingClocks) -> RingMemory {
        state.rings.values_mut().for_each(|ring| ring.jumps = true);
        state.run = Some(run);
        RingMemory {
            began: clocks.boot,
            digest: state.digest,
            offset: clocks.offset(),
        }
    }

    fn grant(
        &self,
        state: &mut RingState,
        ring: &Range<u64>,
        width: u32,
        number: i64,
        now: Micros,
        random: u64,
    ) -> Result<RingLease, Refusal> {
        let first_position = ring.start + random % (ring.end - ring.start);
        let ring_position = state.rings.entry(width).or_insert(RingPosition {
            position: first_position,
            base: first_position,
            based: Micros::MIN,
            jumps: false,
        });
        let RingPosition { position, .. } = *ring_position;
        let free = self.free_nodes(&state.rows, ring, position, now)?;
        let mut index = 0;
        if std::mem::take(&mut ring_position.jumps) {
            let RingPosition { base, based, .. } = ring_position;
            if now.saturating_sub(*based).saturating_abs() > self.base_lifetime {
                (*base, *based) = (position, now);
            }
            let after = |node: u64| steps(ring, position, node);
            let to_base = free.partition_point(|node| after(*node) <= after(*base));
            index = jump(free.len(), to_base, random);
        }
        // A wrong index must not grant another node.
        let node = free[index];
        ring_position.position = node;
        Ok(state.write(RingLease {
            node,
            number,
            from: now,
            until: now.saturating_add(self.lease),
        }))
    }

    /// Returns the nodes that can be granted, in the order of the ring. Prefers nodes never leased, and nodes whose lease
    /// ended before the leases of at least a quarter of the usable nodes, as a copy of this registry can have renewed a
    /// lease that has ended here. If there are none, those whose last lease is over by all clocks.
    fn free_nodes(
        &self,
        rows: &BTreeMap<u64, RingLease>,
        ring: &Range<u64>,
        position: u64,
        now: Micros,
    ) -> Result<Vec<u64>, Refusal> {
        let nodes = ring.end - ring.start;
        // Even if a clock a skew ahead began the lease, it is over by a clock a skew behind.
        let ended_by_all_clocks = now.saturating_sub(self.skew.saturating_mul(2));
        let ends = || rows.range(ring.clone()).map(|(_, lease)| lease.until);
        let kept_out = ends().filter(|until| *until == Micros::MAX).count() as u64;
        let mut ended: Vec<Micros> = ends().filter(|until| *until <= now).collect();
        ended.sort_unstable_by_key(|until| Reverse(*until));
        let rested = match ((nodes - kept_out) / 4) as usize {
            0 => ended_by_all_clocks,
            quarter if quarter <= ended.len() => ended_by_all_clocks.min(ended[quarter - 1]),
            _ => Micros::MIN,
        };
        let begin = position.clamp(ring.start, ring.end - 1);
        for before in [rested, ended_by_all_clocks] {
            let is_free = |node: &u64| rows.get(node).is_none_or(|lease| lease.until < before);
            let candidates = (begin + 1..ring.end).chain(ring.start..=begin);
            let free: Vec<u64> = candidates.filter(is_free).collect();
            if !free.is_empty() {
                return Ok(free);
            }
        }
        let leased = ends().filter(|until| *until > now).count() as u64;
        Err(Refusal::Full { nodes, leased })
    }

    /// Renews a lease, by the member's word where the registry knows of no other that lasts.
    fn renew(
        &self,
        state: &mut RingState,
        ring: &Range<u64>,
        lease: RingLease,
        now: Micros,
    ) -> Result<RingLease, Refusal> {
        let node = lease.node;
        if !ring.contains(&node) || !lease.is_credible(self, now) {
            return Err(Refusal::Over);
        }
        let mut until = lease.until.max(now.saturating_add(self.lease));
        match state.rows.get(&node) {
            Some(row) if row.is_same(lease) => until = until.max(row.until),
            Some(row) if row.until > now => return Err(Refusal::Over),
            _ => {}
        }
        Ok(state.write(RingLease { until, ..lease }))
    }
}

/// Returns how many nodes are between two of the ring, of which the first one comes last.
fn steps(ring: &Range<u64>, from: u64, to: u64) -> u64 {
    let [from, to] = [from, to].map(|node| node.clamp(ring.start, ring.end - 1));
    (to + (ring.end - ring.start) - from - 1) % (ring.end - ring.start)
}

/// Returns the index of one of `count` free nodes, chosen at random. It is at least an eighth of the list away from index
/// 0, where an unstarted copy would continue, and at least a quarter away from `base`: so repeated starts do not lead
/// back to it. One such index exists for each `count` above 0.
fn jump(count: usize, base: usize, random: u64) -> usize {
    let is_far = |from: usize, to: usize, by: usize| {
        let distance = (to + count - from) % count;
        by <= distance && distance <= count - by
    };
    let is_place = |at: &usize| is_far(base, *at, count / 4) && is_far(0, *at, count / 8);
    let places: Vec<usize> = (0..count).filter(is_place).collect();
    places[(random % places.len() as u64) as usize]
}

impl RingClocks {
    const fn offset(self) -> Micros {
        self.wall.saturating_sub(self.boot)
    }
}

impl RingState {
    /// Returns the lease of a member that has not heard of it, and asks again.
    fn unheard_lease(&self, number: i64, rules: &RingRules, now: Micros) -> Option<RingLease> {
        let is_it = |lease: &RingLease| lease.number == number && lease.is_credible(rules, now);
        self.rows.values().copied().find(is_it)
    }

    /// Ends a lease after its last id, at most at the `last` end that one can have. The registry refuses a lease that
    /// it does not know.
    fn end(&mut self, lease: RingLease, used: Micros, last: Micros) -> Result<RingLease, Refusal> {
        match self.rows.get(&lease.node) {
            Some(row) if row.is_same(lease) => {
                let until = used.min(last.max(row.until)).max(lease.from);
                Ok(self.write(RingLease { until, ..lease }))
            }
            _ => Err(Refusal::Over),
        }
    }

    fn write(&mut self, lease: RingLease) -> RingLease {
        let before = self.rows.insert(lease.node, lease);
        self.digest ^= lease.hash() ^ before.map_or(0, RingLease::hash);
        lease
    }
}
