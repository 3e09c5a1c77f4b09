//! Nodes that this server holds, each claim in a slot of shared memory.

use crate::pg::machine::clock;
use mint_core::{Identity, Lease, LeaseTerm, LogPoint, Micros};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

/// How many claims shared memory has room for.
pub const SLOTS: usize = 1_024;

/// Nodes of one width, and the lease that is held of them at one registry.
///
/// - `registry`, `first`, `last`: written before `state` shows the slot, immutable then. A slot is never another's.
/// - `state`: 0 in zeroed memory, which is an empty slot; of one in use the width, plus 1. Written once.
/// - `lease`: atomic, by the core's protocol.
/// - the rest is the worker's, and read for showing.
#[repr(C, align(64))]
pub struct Hold {
    state: AtomicU32,
    renewals: AtomicU32,
    /// By which settings the registry was found: [`crate::registry::settings::registry_key`].
    registry: AtomicU64,
    first: AtomicU64,
    last: AtomicU64,
    lease: Lease,
    claim: AtomicI64,
    renewed: AtomicI64,
}

const _: () = assert!(size_of::<Hold>() == 64);

impl Hold {
    /// Whether it is a claim's.
    pub fn is_used(&self) -> bool {
        self.state.load(Ordering::Acquire) != 0
    }

    /// Makes an empty slot the one of these nodes at this registry. **The worker's.**
    pub fn publish(&self, registry: u64, width: u32, nodes: &RangeInclusive<u64>) {
        self.registry.store(registry, Ordering::Relaxed);
        self.first.store(*nodes.start(), Ordering::Relaxed);
        self.last.store(*nodes.end(), Ordering::Relaxed);
        self.state.store(width + 1, Ordering::Release);
    }

    /// By which settings the registry was found that granted it. What another one grants is no part of it.
    pub fn registry(&self) -> u64 {
        self.registry.load(Ordering::Relaxed)
    }

    /// Its first node, which is the only one where the registry chose it.
    #[inline]
    pub fn first(&self) -> u64 {
        self.first.load(Ordering::Relaxed)
    }

    /// The width of its nodes in bits.
    pub fn width(&self) -> u32 {
        self.state.load(Ordering::Relaxed).saturating_sub(1)
    }

    /// Its nodes.
    pub fn nodes(&self) -> RangeInclusive<u64> {
        self.first.load(Ordering::Relaxed)..=self.last.load(Ordering::Relaxed)
    }

    /// What is held of them.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// The claim at the registry; none when there is none.
    pub fn claim(&self) -> Option<i64> {
        Some(self.claim.load(Ordering::Relaxed)).filter(|&claim| claim != 0)
    }

    /// When the lease was granted.
    pub fn granted_at(&self) -> Micros {
        self.renewed.load(Ordering::Relaxed)
    }

    /// How often it was renewed since the claim was made.
    pub fn renewals(&self) -> u64 {
        self.renewals.load(Ordering::Relaxed).into()
    }

    /// Takes what the registry has granted. **The worker's.**
    pub fn take(&self, claim: i64, span: LeaseTerm) {
        if self.claim.swap(claim, Ordering::Relaxed) == claim {
            self.renewals.fetch_add(1, Ordering::Relaxed);
        } else {
            self.renewals.store(0, Ordering::Relaxed);
        }
        self.renewed.store(clock::now(), Ordering::Relaxed);
        self.lease.extend(span.from, span.until);
    }

    /// The claim is lost, or given up. What is left of the lease is not. **The worker's.**
    pub fn lose(&self) {
        self.claim.store(0, Ordering::Relaxed);
    }

    /// Whether a node is one of them.
    pub fn has(&self, width: u32, node: u64) -> bool {
        self.width() == width && self.nodes().contains(&node)
    }
}

/// How much of its registry's history a server has seen, kept and read by one worker after the other. Zeroed memory has
/// seen nothing.
#[repr(C)]
pub struct History([AtomicU64; 4]);

impl History {
    /// What was kept last.
    pub fn get(&self) -> Option<LogPoint> {
        let [system, age, start, position] =
            [0, 1, 2, 3].map(|place| self.0[place].load(Ordering::Relaxed));
        (position != 0).then_some(LogPoint {
            identity: Identity {
                system,
                timeline: (age >> 32) as u32,
                start: start.cast_signed(),
                incarnation: age as u32,
            },
            position,
        })
    }

    /// Keeps this instead.
    pub fn set(&self, seen: LogPoint) {
        let Identity {
            system,
            timeline,
            start,
            incarnation,
        } = seen.identity;
        let age = u64::from(timeline) << 32 | u64::from(incarnation);
        let values = [system, age, start.cast_unsigned(), seen.position];
        for (place, value) in self.0.iter().zip(values) {
            place.store(value, Ordering::Relaxed);
        }
    }
}
