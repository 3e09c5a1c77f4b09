//! The steps of members.

use crate::history::registry::SECOND;
use crate::history::world::{History, Late};
use mint_core::Micros;
use mint_core::registry::ring::{Refusal, RingDemand, RingLease};

impl History {
    pub fn step(&mut self) {
        let each = 20 * SECOND / self.members.len() as Micros;
        self.now += self.rng.time(each);
        let member = self.rng.below(self.members.len() as u64) as usize;
        let registry = self.rng.below(self.registries.len() as u64) as usize;
        match self.rng.below(100) {
            0..=5 => self.release(member),
            6..=9 => self.drop_lease(member),
            10..=14 => self.members[member].registry = registry,
            15..=17 => self.set_clocks(member),
            18 => {
                let run = 1_000 + self.rng.below(1 << 40) as i64;
                (
                    self.registries[registry].run,
                    self.registries[registry].memory,
                ) = (run, None);
            }
            19 => self.now += self.rng.time(40 * SECOND),
            20..=29 if !self.late.is_empty() => {
                let late = self.rng.below(self.late.len() as u64) as usize;
                let late = self.late.swap_remove(late);
                let answer = late
                    .answer
                    .unwrap_or_else(|| self.answer(late.registry, late.demand, late.clock));
                self.hear(late.member, late.demand, answer);
            }
            _ => self.request(member),
        }
    }

    fn drop_lease(&mut self, member: usize) {
        self.members[member].lease = None;
        self.members[member].number = self.new_number();
    }

    fn request(&mut self, index: usize) {
        let clock = self.now + self.members[index].ahead;
        if self.members[index]
            .lease
            .is_some_and(|lease| !lease.is_credible(&self.rules, clock))
        {
            self.drop_lease(index);
        }
        let member = &self.members[index];
        let registry = member.registry;
        let demand = member
            .lease
            .map_or(RingDemand::Grant(member.number), RingDemand::Renewal);
        let late = Late {
            member: index,
            registry,
            demand,
            clock,
            answer: None,
        };
        match self.rng.below(20) {
            0 => self.late.push(late),
            1 => {
                let answer = Some(self.answer(registry, demand, clock));
                self.late.push(Late { answer, ..late });
            }
            // Its answer is lost.
            2 => drop(self.answer(registry, demand, clock)),
            what => {
                let answer = self.answer(registry, demand, clock);
                self.hear(index, demand, answer);
                // Its request is doubled.
                if what == 3 {
                    self.late.push(late);
                }
            }
        }
    }

    fn release(&mut self, index: usize) {
        let Some(lease) = self.members[index].lease else {
            return;
        };
        self.drop_lease(index);
        let registry = self.members[index].registry;
        let clock = self.now + self.members[index].ahead;
        let used = (clock + 1).clamp(lease.from, lease.until);
        let claims = self.claims.entry(lease.node).or_default();
        claims
            .iter_mut()
            .filter(|claim| claim.number == lease.number)
            .for_each(|claim| claim.until = used);
        let demand = RingDemand::End { lease, used };
        match self.rng.below(8) {
            0 => {}
            1 => self.late.push(Late {
                member: index,
                registry,
                demand,
                clock,
                answer: None,
            }),
            _ => drop(self.answer(registry, demand, clock)),
        }
    }

    fn hear(&mut self, index: usize, demand: RingDemand, answer: Result<RingLease, Refusal>) {
        let member = &mut self.members[index];
        let clock = self.now + member.ahead;
        let held = match (demand, member.lease) {
            (RingDemand::Grant(number), None) if number == member.number => None,
            (RingDemand::Renewal(told), Some(held)) if told.number == held.number => Some(held),
            _ => return,
        };
        match answer {
            Ok(lease) if lease.is_credible(&self.rules, clock) => {
                let until = held.map_or(lease.until, |held| held.until.max(lease.until));
                let lease = RingLease { until, ..lease };
                member.lease = Some(lease);
                self.claim(lease);
            }
            Err(Refusal::Clock { .. } | Refusal::Wait { .. } | Refusal::Full { .. }) => {}
            _ => self.drop_lease(index),
        }
    }

    /// A member can generate ids of a node and these times.
    fn claim(&mut self, lease: RingLease) {
        let claims = self.claims.entry(lease.node).or_default();
        let mut others = claims.iter().filter(|claim| claim.number != lease.number);
        self.is_overlap |= others.any(|claim| claim.from < lease.until && lease.from < claim.until);
        match claims.iter_mut().find(|claim| claim.number == lease.number) {
            Some(claim) => claim.until = claim.until.max(lease.until),
            None => claims.push(lease),
        }
    }
}
