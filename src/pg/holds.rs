//! Nodes that this server holds, each claim in a slot of shared memory.

use super::clock;
use mint_core::{Micros, Slice, Span};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

/// How many claims shared memory has room for.
pub const SLOTS: usize = 1_024;

/// Nodes of one width, and the slice that is held of them.
///
/// - `width`, `first`, `last`: written before `state` shows the slot, immutable then. A slot is never another's.
/// - `slice`: atomic, by the core's protocol.
/// - the rest is the worker's, and read for showing.
#[repr(C, align(64))]
pub struct Hold {
    state: AtomicU32,
    width: AtomicU32,
    first: AtomicU64,
    last: AtomicU64,
    slice: Slice,
    claim: AtomicI64,
    renewed: AtomicI64,
    renewals: AtomicU64,
}

const _: () = assert!(size_of::<Hold>() == 64);

/// The state of a slot in use; zeroed memory is an empty one.
const PUBLISHED: u32 = 1;

impl Hold {
    /// Whether it is a claim's.
    pub fn is_used(&self) -> bool {
        self.state.load(Ordering::Acquire) == PUBLISHED
    }

    /// Makes an empty slot the one of these nodes. **The worker's.**
    pub fn publish(&self, width: u32, nodes: &RangeInclusive<u64>) {
        self.width.store(width, Ordering::Relaxed);
        self.first.store(*nodes.start(), Ordering::Relaxed);
        self.last.store(*nodes.end(), Ordering::Relaxed);
        self.state.store(PUBLISHED, Ordering::Release);
    }

    /// Its first node, which is the only one of those that are given to anybody who asks.
    #[inline]
    pub fn first(&self) -> u64 {
        self.first.load(Ordering::Relaxed)
    }

    /// The width of its nodes in bits.
    pub fn width(&self) -> u32 {
        self.width.load(Ordering::Relaxed)
    }

    /// Its nodes.
    pub fn nodes(&self) -> RangeInclusive<u64> {
        self.first.load(Ordering::Relaxed)..=self.last.load(Ordering::Relaxed)
    }

    /// What is held of them.
    pub fn slice(&self) -> &Slice {
        &self.slice
    }

    /// The claim at the registry; none when there is none.
    pub fn claim(&self) -> Option<i64> {
        Some(self.claim.load(Ordering::Relaxed)).filter(|&claim| claim != 0)
    }

    /// When the slice was granted, and how often since the claim was made.
    pub fn renewed(&self) -> (Micros, u64) {
        (
            self.renewed.load(Ordering::Relaxed),
            self.renewals.load(Ordering::Relaxed),
        )
    }

    /// Takes what the registry has granted. **The worker's.**
    pub fn take(&self, claim: i64, span: Span) {
        if self.claim.swap(claim, Ordering::Relaxed) == claim {
            self.renewals.fetch_add(1, Ordering::Relaxed);
        } else {
            self.renewals.store(0, Ordering::Relaxed);
        }
        self.renewed.store(clock::now(), Ordering::Relaxed);
        self.slice.extend(span.from, span.until);
    }

    /// The claim is lost, or given up. What is left of the slice is not. **The worker's.**
    pub fn lose(&self) {
        self.claim.store(0, Ordering::Relaxed);
    }

    /// Whether a node is one of them.
    pub fn has(&self, width: u32, node: u64) -> bool {
        self.width() == width && self.nodes().contains(&node)
    }
}
