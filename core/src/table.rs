//! The table of lanes: open addressing over slots in shared memory.
//!
//! Looking up takes no lock. Inserting holds the table's lock, which the caller owns, and probes
//! again under it, so that two sessions can never make two lanes for one key. Lanes are never
//! removed while the server runs, so a lane once found stays right.

use crate::lane::{Lane, SHARED_NODE};
use crate::layout::{Layout, LayoutKey};
use crate::sync::{AtomicU32, Ordering};

/// How many lanes of their own the nodes have. In shared memory, zeroed at first.
#[derive(Debug, Default)]
#[repr(C)]
pub struct TableCount {
    used: AtomicU32,
}

/// The slots, and how many of them single nodes may use.
#[derive(Debug, Clone, Copy)]
pub struct LaneTable<'a> {
    count: &'a TableCount,
    slots: &'a [Lane],
    limit: u32,
}

/// Where a lane is, or what to do about it.
#[derive(Debug)]
pub enum Lookup<'a> {
    /// Here.
    Found(&'a Lane),
    /// Not there: take the table's lock and [`LaneTable::insert`].
    Missing,
}

enum Probe<'a> {
    Lane(&'a Lane),
    Vacant(&'a Lane),
    Full,
}

impl<'a> LaneTable<'a> {
    /// A table over `slots`, a power of two of them, of which nodes use at most `limit`. The rest is
    /// for shared lanes, and keeps probing short.
    #[must_use]
    pub fn new(count: &'a TableCount, slots: &'a [Lane], limit: u32) -> Self {
        debug_assert!(slots.len().is_power_of_two() && (limit as usize) < slots.len());
        Self {
            count,
            slots,
            limit,
        }
    }

    /// The key's lane, or else the empty slot where it would be.
    ///
    /// A slot is judged once: a second look could find it published for another key.
    #[inline]
    fn probe(&self, key: LayoutKey, node: u64) -> Probe<'a> {
        let mask = self.slots.len() - 1;
        let home = hash(key, node) as usize;
        for step in 0..self.slots.len() {
            let slot = &self.slots[(home + step) & mask];
            if slot.is_empty() {
                return Probe::Vacant(slot);
            }
            if slot.is(key, node) {
                return Probe::Lane(slot);
            }
        }
        Probe::Full
    }

    /// Finds the lane from which (layout, node) mints. Takes no lock.
    #[must_use]
    #[inline]
    pub fn find(&self, layout: &Layout, node: u64) -> Lookup<'a> {
        match self.probe(layout.key(), node) {
            Probe::Lane(lane) => Lookup::Found(lane),
            _ => self.find_shared(layout, node),
        }
    }

    /// The layout's shared lane counts for a node without a lane only when the table is full: before
    /// that the node shall get its own, and after that it never will. So a node not found before the
    /// table was seen full is looked up again: it may have got the last lane in between.
    #[cold]
    fn find_shared(&self, layout: &Layout, node: u64) -> Lookup<'a> {
        if !self.is_full() {
            return Lookup::Missing;
        }
        for node in [node, SHARED_NODE] {
            if let Probe::Lane(lane) = self.probe(layout.key(), node) {
                return Lookup::Found(lane);
            }
        }
        Lookup::Missing
    }

    /// Makes the lane for (layout, node), or the layout's shared one when the table is full, unless
    /// another session just did. **The caller holds the table's lock.** None when there is not even
    /// room for a shared lane.
    #[must_use]
    pub fn insert(&self, layout: &Layout, node: u64) -> Option<&'a Lane> {
        let used = self.count.used.load(Ordering::Relaxed);
        match self.probe(layout.key(), node) {
            Probe::Lane(lane) => Some(lane),
            Probe::Vacant(slot) if used < self.limit => {
                slot.publish(layout, node);
                self.count.used.store(used + 1, Ordering::Release);
                Some(slot)
            }
            _ => self.insert_shared(layout),
        }
    }

    /// Makes the shared lane of a layout, unless it is there. **The caller holds the table's lock.**
    #[must_use]
    pub fn insert_shared(&self, layout: &Layout) -> Option<&'a Lane> {
        match self.probe(layout.key(), SHARED_NODE) {
            Probe::Lane(lane) => Some(lane),
            Probe::Vacant(slot) => {
                slot.publish(layout, SHARED_NODE);
                Some(slot)
            }
            Probe::Full => None,
        }
    }

    /// Whether further nodes share a lane of their layout.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.count.used.load(Ordering::Acquire) >= self.limit
    }

    /// Every lane that is there.
    pub fn lanes(&self) -> impl Iterator<Item = &'a Lane> {
        self.slots.iter().filter(|lane| !lane.is_empty())
    }
}

/// Spreads keys over the slots. Neighbouring nodes land far apart. Only the table in memory depends
/// on it, so it may change with any release.
#[inline]
fn hash(key: LayoutKey, node: u64) -> u64 {
    // Fibonacci hashing (Knuth 6.4); the upper half carries the mixing of all bits.
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = (key.shape ^ key.epoch.rotate_left(32))
        .wrapping_add(node)
        .wrapping_mul(GOLDEN);
    mixed ^ (mixed >> 32)
}
