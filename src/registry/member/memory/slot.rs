//! The leases that this server holds, each in a slot of shared memory.

use crate::pg::machine::clock;
use crate::registry::identity::{from_numbers, to_numbers};
use mint_core::{Lease, LeaseTerm, LogPoint, Micros};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

/// How many leases shared memory has room for.
pub const SLOTS: usize = 1_024;

/// Nodes of one width, and the lease of them at one registry.
///
/// - `registry`, `first`, `last`: written before `state` shows the slot, immutable then. A slot is never reused.
/// - `state`: 0 in zeroed memory, which is an empty slot; in a slot that is used the width, plus 1. Written once.
/// - `lease`: atomic, by the core's protocol.
/// - `id`: 0 when there is no lease. This and the rest are the worker's, and read for showing.
#[repr(C, align(64))]
pub struct LeaseSlot {
    state: AtomicU32,
    renewals: AtomicU32,
    /// The key of the settings by which the registry was found: [`crate::registry::settings::registry_key`].
    registry: AtomicU64,
    first: AtomicU64,
    last: AtomicU64,
    lease: Lease,
    id: AtomicI64,
    granted: AtomicI64,
}

const _: () = assert!(size_of::<LeaseSlot>() == 64);

impl LeaseSlot {
    /// Returns whether the slot is used.
    pub fn is_used(&self) -> bool {
        self.state.load(Ordering::Acquire) != 0
    }

    /// Gives an empty slot to these nodes at this registry. **For the worker.**
    pub fn publish(&self, registry: u64, width: u32, nodes: &RangeInclusive<u64>) {
        self.registry.store(registry, Ordering::Relaxed);
        self.first.store(*nodes.start(), Ordering::Relaxed);
        self.last.store(*nodes.end(), Ordering::Relaxed);
        self.state.store(width + 1, Ordering::Release);
    }

    /// Returns the key of the settings by which the registry was found that granted the lease.
    pub fn registry(&self) -> u64 {
        self.registry.load(Ordering::Relaxed)
    }

    /// Returns the first node, which is the only one where the registry chose it.
    #[inline]
    pub fn first(&self) -> u64 {
        self.first.load(Ordering::Relaxed)
    }

    /// Returns the width of the nodes in bits.
    pub fn width(&self) -> u32 {
        self.state.load(Ordering::Relaxed).saturating_sub(1)
    }

    /// Returns the nodes.
    pub fn nodes(&self) -> RangeInclusive<u64> {
        self.first()..=self.last.load(Ordering::Relaxed)
    }

    /// Returns the lease of the nodes, which can have ended.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Returns the term of the lease.
    pub fn term(&self) -> LeaseTerm {
        // The end first: the beginning that is read then belongs to it.
        let until = self.lease.until();
        LeaseTerm {
            from: self.lease.from(),
            until,
        }
    }

    /// Returns the lease's number at the registry; none when there is no lease.
    pub fn id(&self) -> Option<i64> {
        Some(self.id.load(Ordering::Relaxed)).filter(|&id| id != 0)
    }

    /// Returns when the lease was granted or renewed last.
    pub fn granted_at(&self) -> Micros {
        self.granted.load(Ordering::Relaxed)
    }

    /// Returns how often the lease was renewed.
    pub fn renewals(&self) -> u64 {
        self.renewals.load(Ordering::Relaxed).into()
    }

    /// Stores a lease that was granted. **For the worker**, when the one before has ended or was released.
    pub fn replace(&self, id: i64, span: LeaseTerm) {
        self.id.store(id, Ordering::Relaxed);
        self.renewals.store(0, Ordering::Relaxed);
        self.granted.store(clock::now(), Ordering::Relaxed);
        self.lease.replace(span.from, span.until);
    }

    /// Stores the renewed term of the lease. **For the worker.**
    pub fn extend(&self, span: LeaseTerm) {
        self.renewals.fetch_add(1, Ordering::Relaxed);
        self.granted.store(clock::now(), Ordering::Relaxed);
        self.lease.extend(span.from, span.until);
    }

    /// Stores a lease that follows the one before without a gap, or replaces one that has ended. **For the worker**, and for
    /// nodes that nobody else is granted in between.
    pub fn continue_as(&self, id: i64, span: LeaseTerm) {
        if self.id() == Some(id) {
            self.extend(span);
        } else if self.lease.until() > clock::now() {
            self.id.store(id, Ordering::Relaxed);
            self.extend(span);
        } else {
            self.replace(id, span);
        }
    }

    /// Forgets the lease's number, as it can be renewed no more; the lease lasts until its end. **For the worker.**
    pub fn lose(&self) {
        self.id.store(0, Ordering::Relaxed);
    }

    /// Sets the statistics to zero.
    pub fn reset_statistics(&self) {
        self.renewals.store(0, Ordering::Relaxed);
    }

    /// Returns whether the slot's nodes are of this width, and this node is one of them.
    pub fn has(&self, width: u32, node: u64) -> bool {
        self.width() == width && self.nodes().contains(&node)
    }
}

/// How much of its registry's history a server has seen, written and read by one worker after the other. Zeroed memory
/// has seen nothing.
#[repr(C)]
pub struct History([AtomicI64; 5]);

impl History {
    /// Returns what was set last.
    pub fn get(&self) -> Option<LogPoint> {
        let numbers = self.0.each_ref().map(|cell| cell.load(Ordering::Relaxed));
        let [system, timeline, start, incarnation, position] = numbers;
        (position != 0).then(|| LogPoint {
            identity: from_numbers([system, timeline, start, incarnation]),
            position: position.cast_unsigned(),
        })
    }

    /// Sets it.
    pub fn set(&self, LogPoint { identity, position }: LogPoint) {
        let numbers = to_numbers(identity).into_iter();
        for (cell, number) in self.0.iter().zip(numbers.chain([position.cast_signed()])) {
            cell.store(number, Ordering::Relaxed);
        }
    }
}
