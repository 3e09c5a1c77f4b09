//! Histories at random: how they begin and end.

mod member;
pub mod registry;
mod world;

use crate::rng::Rng;
use mint_core::Micros;
use mint_core::registry::ring::{RingLease, RingMemory, RingPosition, RingRules, RingState};
use registry::{BEGIN, FIRST, HOUR, Registry, SECOND, WIDTH, Without, run};
use std::collections::BTreeMap;
pub use world::Loss;
use world::{History, Member};

/// The end of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    pub loss: Loss,
    /// True if so little was granted that there must be no overlap.
    pub is_within: bool,
    pub is_overlap: bool,
    /// The number of granted nodes.
    pub grants: u64,
}

impl History {
    /// Runs a history to its end, or to an overlap.
    pub fn run(seed: u64, without: Without) -> End {
        let mut history = Self::new(seed, without);
        let steps = 60 + history.rng.below(120);
        let copied = history.rng.below(steps / 2);
        let lost = copied + history.rng.below(steps / 3);
        for step in 0..steps {
            if step == copied && history.loss != Loss::Nothing {
                history.copy();
            }
            if step == lost && history.loss != Loss::Nothing {
                history.lose();
            }
            history.step();
            if history.is_overlap {
                break;
            }
        }
        End {
            loss: history.loss,
            is_within: history.is_within(),
            is_overlap: history.is_overlap,
            grants: history
                .registries
                .iter()
                .map(|registry| registry.grants)
                .sum(),
        }
    }

    fn new(seed: u64, without: Without) -> Self {
        let mut rng = Rng::new(seed);
        let nodes = 32 << rng.below(4);
        let base_lifetime = if without == Without::Base {
            -1
        } else {
            RingRules::STANDARD.base_lifetime
        };
        let rules = RingRules {
            largest_ring: nodes,
            base_lifetime,
            ..RingRules::STANDARD
        };
        let mut rows = old_rows(&mut rng, nodes);
        keep_out(&mut rng, nodes, &mut rows);
        let members = members(&mut rng, nodes, &mut rows);
        let registry = registry(&mut rng, nodes, rows);
        let leases = members.iter().filter_map(|member| member.lease);
        let mut history = Self {
            rules,
            without,
            now: BEGIN,
            registries: vec![registry],
            late: vec![],
            claims: leases.map(|lease| (lease.node, vec![lease])).collect(),
            numbers: members.len() as i64,
            members,
            loss: Loss::Nothing,
            copy: None,
            is_overlap: false,
            rng,
        };
        let losses = [
            Loss::Nothing,
            Loss::Restored,
            Loss::TablesRestored,
            Loss::Copied,
            Loss::Copied,
        ];
        history.loss = history.one_of(&losses);
        history
    }
}

/// A registry that has waited.
fn registry(rng: &mut Rng, nodes: u64, rows: BTreeMap<u64, RingLease>) -> Registry {
    let position = FIRST + rng.below(nodes);
    // Half of all have started within the day.
    let (base, based) = match rng.below(2) {
        0 => (position, 0),
        _ => (FIRST + rng.below(nodes), BEGIN - 3 * HOUR),
    };
    let rings = BTreeMap::from([(
        WIDTH,
        RingPosition {
            position,
            base,
            based,
            jumps: false,
        },
    )]);
    Registry {
        state: RingState {
            digest: 0,
            run: Some(run(1)),
            rings,
            rows,
        },
        memory: Some(RingMemory {
            began: 0,
            digest: 0,
            offset: BEGIN - HOUR,
        }),
        run: 1,
        ahead: 0,
        grants: 0,
        jumps: 0,
        leased: 0,
    }
}

/// Leases that ended in the last two hours.
fn old_rows(rng: &mut Rng, nodes: u64) -> BTreeMap<u64, RingLease> {
    let had = rng.below(nodes + 1);
    let mut rows = BTreeMap::new();
    for node in FIRST..FIRST + nodes {
        if rng.below(nodes) < had {
            let until = BEGIN - 1 - rng.time(2 * HOUR);
            let lease = RingLease {
                node,
                number: -1,
                from: until - SECOND,
                until,
            };
            rows.insert(node, lease);
        }
    }
    rows
}

/// Keeps nodes out of the ring: none in two of three histories, and up to all in the others.
fn keep_out(rng: &mut Rng, nodes: u64, rows: &mut BTreeMap<u64, RingLease>) {
    let kept_out = if rng.below(3) == 0 {
        rng.below(nodes)
    } else {
        0
    };
    for node in FIRST..FIRST + nodes {
        if rng.below(nodes) < kept_out {
            let lease = RingLease {
                node,
                number: 0,
                from: BEGIN,
                until: Micros::MAX,
            };
            rows.insert(node, lease);
        }
    }
}

/// Members, of which half have a lease, anywhere in the ring.
fn members(rng: &mut Rng, nodes: u64, rows: &mut BTreeMap<u64, RingLease>) -> Vec<Member> {
    let count = 2 + rng.below(nodes / 16) as i64;
    let member = |number| {
        let node = FIRST + rng.below(nodes);
        let is_free = rows.get(&node).is_none_or(|row| row.until < BEGIN);
        let lease = RingLease {
            node,
            number,
            from: BEGIN - 3 * HOUR,
            until: BEGIN + 25 * SECOND,
        };
        let lease = (is_free && rng.below(2) == 0).then_some(lease);
        if let Some(lease) = lease {
            rows.insert(node, lease);
        }
        Member {
            lease,
            number,
            ahead: 0,
            registry: 0,
        }
    };
    (1..=count).map(member).collect()
}

pub fn history(seed: u64, without: Without) -> End {
    History::run(seed, without)
}
