//! The table of lanes: open addressing over slots in shared memory.
//!
//! Looking up takes no lock. Inserting probes again under the table's lock, which the caller holds,
//! so that two sessions can never make two lanes for one key. Lanes are never removed while the
//! server runs, so a lane once found stays valid.
//!
//! Every role that may mint can make lanes, so any role can use up the lanes of single shards. The table still works for
//! all others then: a layout's further shards share one lane, every maker has a share of the lanes of further layouts,
//! and enough slots stay vacant for a lookup to end after a few.

use crate::atomic::{AtomicU32, Ordering};
use crate::bytes::hash::{fibonacci, keyed_hash};
use crate::snowflake::lane::{Lane, SHARED};
use crate::snowflake::layout::{Layout, LayoutKey};

/// The number of makers of shared lanes that are counted one by one.
const MAKERS: usize = if cfg!(loom) { 2 } else { 1_024 };

/// The maker of a lane, for example a role. 0 is none, and has no limit.
pub type Maker = u32;

/// The numbers of lanes, in shared memory that is zeroed at first.
///
/// - `used`: lanes of single shards. Written under the table's lock.
/// - `shared`: lanes that shards of a layout share, without those of maker 0. Under the lock.
/// - `makers`: the makers of the shared lanes of the second half, and how many each made. Under the lock.
#[derive(Debug)]
#[repr(C)]
pub struct TableCount {
    used: AtomicU32,
    shared: AtomicU32,
    makers: [(AtomicU32, AtomicU32); MAKERS],
}

impl Default for TableCount {
    fn default() -> Self {
        Self {
            used: AtomicU32::default(),
            shared: AtomicU32::default(),
            makers: std::array::from_fn(|_| Default::default()),
        }
    }
}

/// The slots, and how many of them single shards can use.
#[derive(Debug, Clone, Copy)]
pub struct LaneTable<'a> {
    count: &'a TableCount,
    slots: &'a [Lane],
    limit: u32,
    secret: [u64; 2],
}

/// Outcome of looking for a lane.
#[derive(Debug)]
pub enum Lookup<'a> {
    /// The lane.
    Found(&'a Lane),
    /// The shard has no lane of its own: see [`LaneTable::find_shared`].
    NoOwnLane,
    /// There is none: take the table's lock and [`LaneTable::insert`].
    Missing,
}

enum Probe<'a> {
    Lane(&'a Lane),
    Vacant(&'a Lane),
    Full,
}

impl<'a> LaneTable<'a> {
    /// Returns a table over `slots`, a power of two of them. Single shards use at most `limit`, half of them; an eighth
    /// is for shared lanes, and the rest keeps probing short. The `secret` is the same for all sessions.
    #[must_use]
    pub fn new(count: &'a TableCount, slots: &'a [Lane], limit: u32, secret: [u64; 2]) -> Self {
        debug_assert!(slots.len().is_power_of_two() && (limit as usize) < slots.len());
        Self {
            count,
            slots,
            limit,
            secret,
        }
    }

    /// Finds the key's lane, or else the empty slot where it would be.
    ///
    /// Each slot is read once: a second read could find it published for another key.
    #[inline]
    fn probe(&self, key: LayoutKey, shard: u64) -> Probe<'a> {
        let mask = self.slots.len() - 1;
        let home = self.hash(key, shard) as usize;
        for step in 0..self.slots.len() {
            let slot = &self.slots[(home + step) & mask];
            if slot.is_empty() {
                return Probe::Vacant(slot);
            }
            if slot.matches(key, shard) {
                return Probe::Lane(slot);
            }
        }
        Probe::Full
    }

    /// Spreads keys over the slots. Callers choose layouts and shards; the secret keeps them from choosing ones that
    /// collide.
    #[inline]
    fn hash(&self, key: LayoutKey, shard: u64) -> u64 {
        keyed_hash(key.shape ^ key.epoch.rotate_left(32), shard, self.secret)
    }

    /// Finds the lane from which (layout, shard) mints, if it has one of its own. Takes no lock.
    #[must_use]
    #[inline]
    pub fn find(&self, layout: &Layout, shard: u64) -> Lookup<'a> {
        match self.probe(layout.key(), shard) {
            Probe::Lane(lane) => Lookup::Found(lane),
            _ => Lookup::NoOwnLane,
        }
    }

    /// Finds the lane that a shard without one of its own shares. A lane found here stays the shard's, and can be cached.
    ///
    /// The layout's shared lane counts only when the table is full: before that the shard gets one of its own, after
    /// that it never does. So a shard that was not found before the table was full is looked up again: it can have got
    /// the last lane in between.
    #[must_use]
    #[cold]
    pub fn find_shared(&self, layout: &Layout, shard: u64) -> Lookup<'a> {
        if !self.is_full() {
            return Lookup::Missing;
        }
        for shard in [shard, SHARED] {
            if let Probe::Lane(lane) = self.probe(layout.key(), shard) {
                return Lookup::Found(lane);
            }
        }
        Lookup::Missing
    }

    /// Makes the lane for (layout, shard), or the layout's shared one when the table is full, unless another session
    /// has done so. **The caller holds the table's lock.** The result is none if the layout has no shared lane, and its
    /// maker has used up its share of lanes for further layouts.
    #[must_use]
    pub fn insert(&self, layout: &Layout, shard: u64, maker: Maker) -> Option<&'a Lane> {
        let used = self.count.used.load(Ordering::Relaxed);
        match self.probe(layout.key(), shard) {
            Probe::Lane(lane) => Some(lane),
            Probe::Vacant(slot) if used < self.limit => {
                slot.publish(layout, shard);
                self.count.used.store(used + 1, Ordering::Release);
                Some(slot)
            }
            _ => self.insert_shared(layout, maker),
        }
    }

    /// Makes the shared lane of a layout, unless it is there. **The caller holds the table's lock.**
    #[must_use]
    pub fn insert_shared(&self, layout: &Layout, maker: Maker) -> Option<&'a Lane> {
        match self.probe(layout.key(), SHARED) {
            Probe::Lane(lane) => Some(lane),
            Probe::Vacant(slot) if self.admit(maker) => {
                slot.publish(layout, SHARED);
                Some(slot)
            }
            _ => None,
        }
    }

    /// Returns how many shared lanes there can be, and how many of their second half one maker can have.
    #[must_use]
    pub fn shares(&self) -> (u32, u32) {
        let all = (self.slots.len() / 8) as u32;
        (all, (all / 128).max(1))
    }

    /// Counts a shared lane of this maker, if it can have one more: without limit in the first half of all, up to its
    /// share in the second.
    fn admit(&self, maker: Maker) -> bool {
        if maker == 0 {
            return true;
        }
        let shared = self.count.shared.load(Ordering::Relaxed);
        let (all, share) = self.shares();
        if shared >= all {
            return false;
        }
        if shared >= all / 2 {
            let home = (fibonacci(maker.into()) >> 32) as usize;
            let mut places = (0..MAKERS).map(|step| &self.count.makers[(home + step) % MAKERS]);
            let mine = places.find(|(of, _)| [0, maker].contains(&of.load(Ordering::Relaxed)));
            let Some((of, made)) = mine else {
                return false;
            };
            let before = made.load(Ordering::Relaxed);
            if before >= share {
                return false;
            }
            of.store(maker, Ordering::Relaxed);
            made.store(before + 1, Ordering::Relaxed);
        }
        self.count.shared.store(shared + 1, Ordering::Relaxed);
        true
    }

    /// Returns how many lanes single shards have, and how many they can have.
    #[must_use]
    pub fn used(&self) -> (u32, u32) {
        (self.count.used.load(Ordering::Acquire), self.limit)
    }

    /// Returns true when further shards share a lane of their layout.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.count.used.load(Ordering::Acquire) >= self.limit
    }

    /// Returns every lane.
    pub fn lanes(&self) -> impl Iterator<Item = &'a Lane> {
        self.slots.iter().filter(|lane| !lane.is_empty())
    }
}
