//! One history at random: a registry and its members, of which clocks are set, messages lost and late, tables restored or
//! copied. All that goes wrong at once.

use crate::history::registry::{HOUR, Registry, SECOND, WIDTH, Without};
use crate::rng::Rng;
use mint_core::Micros;
use mint_core::registry::ring::{Refusal, RingDemand, RingLease, RingRules};
use std::collections::BTreeMap;

/// The event that befalls the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    Nothing,
    /// An earlier copy takes its place.
    Restored,
    /// Its tables are restored while it runs.
    TablesRestored,
    /// An earlier copy runs beside it.
    Copied,
}

#[derive(Debug, Clone)]
pub struct Member {
    pub lease: Option<RingLease>,
    /// The number with which it asks for a lease.
    pub number: i64,
    /// The distance by which its clock is ahead.
    pub ahead: Micros,
    pub registry: usize,
}

/// A message that is late.
pub struct Late {
    pub member: usize,
    pub registry: usize,
    pub demand: RingDemand,
    pub clock: Micros,
    pub answer: Option<Result<RingLease, Refusal>>,
}

pub struct History {
    pub rng: Rng,
    pub rules: RingRules,
    pub without: Without,
    pub now: Micros,
    pub registries: Vec<Registry>,
    pub members: Vec<Member>,
    pub late: Vec<Late>,
    /// The times of ids that can exist, by node and lease.
    pub claims: BTreeMap<u64, Vec<RingLease>>,
    pub numbers: i64,
    pub loss: Loss,
    pub copy: Option<Copied>,
    pub is_overlap: bool,
}

/// A copy of the registry, and what was known when it was made.
pub struct Copied {
    pub registry: Registry,
    /// True if it can jump more than once, and both can grant twice as much.
    is_at_base: bool,
    /// The registry as it was when it was lost.
    lost: Option<Registry>,
    is_lost: bool,
}

impl History {
    /// Copies the registry.
    pub fn copy(&mut self) {
        let registry = &mut self.registries[0];
        let now = self.now + registry.ahead;
        (registry.grants, registry.jumps) = (0, 0);
        registry.leased = registry.count_lasting(now - 10 * SECOND);
        let at = registry.state.rings[&WIDTH];
        self.copy = Some(Copied {
            registry: Registry {
                memory: None,
                ..registry.clone()
            },
            is_at_base: at.base == at.position || now - at.based > self.rules.base_lifetime,
            lost: None,
            is_lost: false,
        });
    }

    /// Loses what the registry did since.
    pub fn lose(&mut self) {
        let Some(copy) = &mut self.copy else { return };
        copy.is_lost = true;
        let before = &mut self.registries[0];
        let run = 1_000 + self.rng.below(1 << 40) as i64;
        let mut copied = Registry {
            run,
            ahead: before.ahead,
            ..copy.registry.clone()
        };
        if self.loss == Loss::Copied {
            self.registries.push(copied);
            return;
        }
        if self.loss == Loss::TablesRestored {
            (copied.memory, copied.run) = (before.memory, before.run);
        }
        copy.lost = Some(std::mem::replace(before, copied));
    }

    /// Returns whether so little was granted since the copy that no node can be granted twice.
    pub fn is_within(&self) -> bool {
        let Some(copy) = self.copy.as_ref().filter(|copy| copy.is_lost) else {
            return true;
        };
        let old = usize::from(self.loss == Loss::Copied);
        let (old, new) = self.registries.split_at(old);
        let old = old.first().or(copy.lost.as_ref());
        let all = || new.iter().chain(old);
        let leased = all().map(|registry| registry.leased).max().unwrap();
        let nodes = self.rules.largest_ring - self.registries[0].kept_out();
        let free = (nodes - nodes / 4).saturating_sub(leased);
        let limit = if copy.is_at_base { free / 4 } else { free / 8 };
        let jumps = if copy.is_at_base { u32::MAX } else { 1 };
        all().all(|registry| registry.grants + leased < limit)
            && old.is_none_or(|old| old.jumps == 0)
            && new.iter().all(|new| new.jumps <= jumps)
    }

    pub fn new_number(&mut self) -> i64 {
        self.numbers += 1;
        self.numbers
    }

    pub fn one_of<T: std::marker::Copy>(&mut self, all: &[T]) -> T {
        all[self.rng.below(all.len() as u64) as usize]
    }

    pub fn set_clocks(&mut self, member: usize) {
        let far = self.one_of(&[0, SECOND, 3 * SECOND, 10 * SECOND, 100 * SECOND, HOUR]);
        let ahead = self.one_of(&[far, -far]);
        match self.rng.below(4) {
            0 => self.members[member].ahead = ahead,
            1 => {
                let registry = self.members[member].registry;
                self.registries[registry].ahead = ahead;
            }
            _ => {
                self.members
                    .iter_mut()
                    .for_each(|member| member.ahead = ahead);
                self.registries
                    .iter_mut()
                    .for_each(|registry| registry.ahead = ahead);
            }
        }
    }

    pub fn answer(
        &mut self,
        registry: usize,
        demand: RingDemand,
        clock: Micros,
    ) -> Result<RingLease, Refusal> {
        let random = self.rng.next();
        self.registries[registry].answer(&self.rules, self.without, demand, clock, self.now, random)
    }
}
