//! A set-associative table of slots in shared memory, each of a sequence: lookup, and eviction when all are taken.
//!
//! A sequence has its slot in one set. In a full set the database with the most slots loses one, and in that the role
//! with the most: the one that was filled longest ago. So a database or a role that uses many slots takes them from
//! itself: another one loses none to it while it has no more slots in the set than the average of those that fill it.

use crate::pg::catalog::extension;
use crate::pg::machine::clock;
use mint_core::Micros;
use mint_core::bytes::hash::fibonacci;
use pgrx::pg_sys;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

/// Slots of a set.
const WAYS: usize = 64;

/// The identity of a sequence: an altered, recreated one, or one of another incarnation of its database has another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotKey {
    database: u32,
    incarnation: u32,
    sequence: u32,
    file: u32,
}

impl SlotKey {
    /// Returns the key of a sequence of this database and the file of its page.
    pub fn new((sequence, file): (pg_sys::Oid, pg_sys::Oid)) -> Self {
        Self {
            database: extension::database(),
            incarnation: extension::incarnation(),
            sequence: sequence.to_u32(),
            file: file.to_u32(),
        }
    }
}

/// The sequence of a slot. Written and read under the segment's lock; zeroed memory is vacant.
///
/// - `used`: when the slot was given to the sequence or filled last, for eviction.
#[derive(Debug)]
#[repr(C)]
pub struct Tag {
    used: AtomicI64,
    database: AtomicU32,
    incarnation: AtomicU32,
    sequence: AtomicU32,
    file: AtomicU32,
}

impl Tag {
    fn key(&self) -> SlotKey {
        let read = |part: &AtomicU32| part.load(Ordering::Relaxed);
        SlotKey {
            database: read(&self.database),
            incarnation: read(&self.incarnation),
            sequence: read(&self.sequence),
            file: read(&self.file),
        }
    }

    /// Returns the database; 0 for a vacant slot.
    pub fn database(&self) -> u32 {
        self.database.load(Ordering::Relaxed)
    }

    /// Returns whether the slot is of this incarnation of the database.
    pub fn is_of(&self, incarnation: u32) -> bool {
        self.incarnation.load(Ordering::Relaxed) == incarnation
    }

    /// Returns the sequence, and the number of the file that had its page when the slot was given to it.
    pub fn page(&self) -> (u32, u32) {
        let SlotKey { sequence, file, .. } = self.key();
        (sequence, file)
    }

    /// Returns the sequence.
    pub fn sequence(&self) -> u32 {
        self.sequence.load(Ordering::Relaxed)
    }

    /// Gives the slot to a sequence.
    pub fn set(&self, key: SlotKey) {
        self.note_use(clock::now());
        self.sequence.store(key.sequence, Ordering::Relaxed);
        self.incarnation.store(key.incarnation, Ordering::Relaxed);
        self.file.store(key.file, Ordering::Relaxed);
        self.database.store(key.database, Ordering::Relaxed);
    }

    /// Makes the slot vacant.
    pub fn clear(&self) {
        self.database.store(0, Ordering::Relaxed);
        self.used.store(0, Ordering::Relaxed);
    }

    /// Sets when the slot was filled last.
    pub fn note_use(&self, now: Micros) {
        self.used.store(now, Ordering::Relaxed);
    }

    /// Returns when the slot was filled last.
    pub fn used(&self) -> Micros {
        self.used.load(Ordering::Relaxed)
    }
}

/// A slot, which has a [`Tag`].
pub trait Tagged {
    fn tag(&self) -> &Tag;

    /// Returns the role that the slot counts for, among those of its database.
    fn role(&self) -> u32 {
        0
    }

    /// Returns whether the slot cannot be evicted now.
    fn is_held(&self) -> bool {
        false
    }
}

/// Returns the set in which a sequence has its slot.
pub fn set_of<S>(slots: &'static [S], key: SlotKey) -> &'static [S] {
    let sets = (slots.len() / WAYS).max(1);
    let mixed = fibonacci(u64::from(key.database) << 32 | u64::from(key.sequence));
    let set = (mixed >> 32) as usize % sets;
    &slots[set * slots.len() / sets..(set + 1) * slots.len() / sets]
}

/// Returns the slot of a sequence.
pub fn find<S: Tagged>(set: &[S], key: SlotKey) -> Option<&S> {
    set.iter().find(|slot| slot.tag().key() == key)
}

/// Returns slots of the same sequence before it was altered, or of a dropped database with the same oid.
pub fn earlier_slots<S: Tagged>(set: &[S], key: SlotKey) -> impl Iterator<Item = &S> {
    set.iter().filter(move |slot| {
        let other = slot.tag().key();
        (other.database, other.sequence) == (key.database, key.sequence) && other != key
    })
}

/// Returns the slot of the same page in another incarnation of the database: before the database was altered, or in a
/// dropped one with the same oid.
pub fn other_incarnation<S: Tagged>(set: &[S], key: SlotKey) -> Option<&S> {
    let incarnation = |slot: &&S| slot.tag().incarnation.load(Ordering::Relaxed);
    set.iter().find(|slot| {
        let incarnation = incarnation(slot);
        incarnation != key.incarnation && slot.tag().key() == SlotKey { incarnation, ..key }
    })
}

/// Returns the slot to evict for another sequence of this database and role; none when all are held.
pub fn vacate<S: Tagged>(set: &[S], database: u32, role: u32) -> Option<&S> {
    let free: Vec<&S> = set.iter().filter(|slot| !slot.is_held()).collect();
    let of = |slot: &S| slot.tag().database();
    if let Some(vacant) = free.iter().find(|slot| of(slot) == 0) {
        return Some(vacant);
    }
    let both = |slot: &S| (of(slot), slot.role());
    let free = of_fullest(set, free, of, database);
    let free = of_fullest(set, free, both, (database, role));
    free.into_iter().min_by_key(|slot| slot.tag().used())
}

/// Returns those of `free` that belong to the group with the most slots in the set: to `own`, if none has more.
fn of_fullest<'a, S, G: PartialEq>(
    set: &[S],
    mut free: Vec<&'a S>,
    group: impl Fn(&S) -> G,
    own: G,
) -> Vec<&'a S> {
    let size = |of: &G| set.iter().filter(|slot| group(slot) == *of).count();
    let most = free.iter().map(|slot| size(&group(slot))).max();
    let is_own = free.iter().any(|slot| group(slot) == own) && Some(size(&own)) >= most;
    free.retain(|slot| {
        let group = group(slot);
        if is_own {
            group == own
        } else {
            Some(size(&group)) == most
        }
    });
    free
}

/// The number of owners of slots so far, in shared memory that is zeroed at first.
#[repr(C, align(64))]
pub struct Owners(AtomicU32);

impl Owners {
    /// Returns a number that no owner has, never 0.
    pub fn next(&self) -> u32 {
        loop {
            let owner = self.0.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
            if owner != 0 {
                return owner;
            }
        }
    }
}
