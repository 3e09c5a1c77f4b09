//! The segments of sequences in shared memory, each sequence's in a slot.

use crate::counter::settings;
use crate::pg::catalog::{extension, privilege, relation};
use crate::pg::sequence::{Position, Row, is_before_checkpoint};
use crate::pg::shmem::{Idea, Memory, Stamp};
use crate::pg::slot_table;
use crate::pg::slot_table::{Key, Tag, Tagged};
use mint_core::counter::segment::{LONGEST, Look, Owner};
use mint_core::{Found, Micros, Place as Standing, Rules, Segment, Values};
use pgrx::pg_sys;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering, fence};

/// - `owners`: the number given out last, under the lock.
#[repr(C, align(64))]
struct Head {
    owners: AtomicU32,
}

static STAMP: Stamp = Stamp::new(b's', 1);
static SEGMENTS: Idea<Head, Slot> = Idea::with_slots(
    c"pg_mint segments",
    &STAMP,
    || settings::max_segments() as usize,
    |_, _| (),
);

fn memory() -> &'static Memory<Head, Slot> {
    SEGMENTS.memory()
}

/// The segments of a sequence in shared memory.
///
/// - `segment`: atomic, by the core's protocol. Filled under the page's lock and the idea's.
/// - `tag`: changed under the idea's lock, `owner` too; 0 while the tag changes.
/// - `ordered`: 1 while a segment from another server is wanted ([`crate::counter::segment::source`]), 2 when there will be none.
/// - `noted`, `left`, `position`: whether anything was taken, what that left on the sequence's page, and its place in the
///   log. Written under the page's lock.
#[repr(C, align(64))]
pub struct Slot {
    pub segment: Segment,
    tag: Tag,
    owner: AtomicU32,
    ordered: AtomicU32,
    noted: AtomicU32,
    left: AtomicI64,
    position: AtomicU64,
}

const _: () = assert!(size_of::<Slot>() == 192);

impl Tagged for Slot {
    fn tag(&self) -> &Tag {
        &self.tag
    }
}

/// Where a session has found the segments of a sequence, and under which number.
#[derive(Clone, Copy)]
pub struct Place {
    pub slot: &'static Slot,
    pub owner: Owner,
}

impl Place {
    /// Whether it is the sequence's still.
    pub fn is_mine(&self) -> bool {
        self.slot.owner.load(Ordering::Acquire) == self.owner
    }

    /// Drops what is in memory, as the sequence is somewhere else; returns where the next segments are to be put. The
    /// same, if another session has dropped it or the slot is another sequence's.
    pub fn renewed(self) -> Self {
        memory().locked(|| {
            if self.is_mine() {
                self.slot.renew();
            }
            Self {
                owner: self.slot.owner.load(Ordering::Relaxed),
                ..self
            }
        })
    }

    /// Puts values behind those in use. What cannot be put there, because the slot went to another sequence, is lost.
    /// **Under the page's lock.**
    pub fn fill(&self, values: Values, position: Position, now: Micros) {
        self.slot.tag.note_use(now);
        memory().locked(|| self.slot.segment.fill(self.owner, values, position, now));
    }

    /// As [`Place::fill`], for values from another server. **For the one worker of the database.**
    pub fn supply(&self, values: Values, now: Micros) {
        memory().locked(|| {
            let segment = &self.slot.segment;
            if self.is_mine() && segment.lacks_next() && segment.fill(self.owner, values, 0, now) {
                self.slot.tag.note_use(now);
                self.slot.ordered.store(0, Ordering::Release);
            }
        });
    }
}

impl Slot {
    /// Begins anew, under another number. The caller holds the lock.
    fn renew(&self) {
        let owner = loop {
            let owner = memory()
                .head
                .owners
                .fetch_add(1, Ordering::Relaxed)
                .wrapping_add(1);
            if owner != 0 {
                break owner;
            }
        };
        self.segment.claim(owner);
        self.ordered.store(0, Ordering::Relaxed);
        self.noted.store(0, Ordering::Relaxed);
        self.owner.store(owner, Ordering::Release);
    }

    /// Makes it this sequence's. The caller holds the lock.
    fn give(&self, key: Key) {
        self.owner.store(0, Ordering::Release);
        fence(Ordering::Release);
        self.tag.set(key);
        self.renew();
    }

    /// What was taken has left this on the sequence's page. The caller holds the page's lock.
    pub fn note_page(&self, left: i64, position: Position) {
        self.left.store(left, Ordering::Relaxed);
        self.position.store(position, Ordering::Relaxed);
        self.noted.store(1, Ordering::Relaxed);
    }

    /// Whether nothing was written since segments were taken from the page that was logged last there; most often so,
    /// and told by less than [`Slot::is_stale`] needs. The caller holds the page's lock.
    pub fn is_as_left(&self, logged: Position) -> bool {
        let position = self.position.load(Ordering::Relaxed);
        // Whatever writes the page logs it. Not in the transaction that makes the sequence, under wal_level minimal.
        position != 0 && logged == position || self.noted.load(Ordering::Relaxed) == 0
    }

    /// Whether a session has set the sequence to another value since segments were taken from it: what is left of them
    /// may be in use elsewhere by now. The caller holds the page's lock.
    pub fn is_stale(&self, row: Row, logged: Position, rules: &Rules, cache: u64) -> bool {
        if self.is_as_left(logged) {
            return false;
        }
        let left = self.left.load(Ordering::Relaxed);
        let position = self.position.load(Ordering::Relaxed);
        let found = Found {
            place: Standing {
                last: row.last_value,
                called: row.is_called,
            },
            log_count: row.log_count,
            relogged: is_before_checkpoint(position),
        };
        // Where nextval takes more than is left here, little is lost by dropping it.
        let most = self.segment.left().max(64).max(2 * cache);
        !rules.is_of_nextval(cache, left, found, most)
    }

    /// Wants a segment from another server.
    pub fn order(&self) {
        self.ordered.store(1, Ordering::Release);
    }

    /// There will be none, until one is wanted again.
    pub fn cancel(&self) {
        self.ordered.store(2, Ordering::Release);
    }

    /// Whether what was ordered is there.
    pub fn is_supplied(&self) -> bool {
        self.ordered.load(Ordering::Acquire) == 0 || !self.segment.lacks_next()
    }

    /// How many values to take next. **Under the page's lock.**
    pub fn next_step(&self, now: Micros, own: u64) -> u64 {
        let most = settings::segment_max_step();
        self.segment.next_step(now, own.min(LONGEST), most)
    }

    /// What `look` sees while the slot is one sequence's.
    fn seen<T>(&'static self, look: impl FnOnce(&'static Self) -> T) -> Option<(Owner, T)> {
        let owner = self.owner.load(Ordering::Acquire);
        let seen = look(self);
        fence(Ordering::Acquire);
        (owner != 0 && self.owner.load(Ordering::Relaxed) == owner).then_some((owner, seen))
    }
}

/// The slots of a database.
fn slots_of(database: u32) -> impl Iterator<Item = &'static Slot> {
    let slots = memory().slots.iter();
    slots.filter(move |slot| slot.tag.database() == database)
}

/// The sequences of a database that want a segment from another server.
pub fn orders(database: u32) -> Vec<(pg_sys::Oid, Place)> {
    slots_of(database)
        .filter(|slot| slot.ordered.load(Ordering::Acquire) == 1 && slot.segment.lacks_next())
        .filter_map(|slot| {
            let (owner, sequence) = slot.seen(|slot| slot.tag.sequence())?;
            Some((sequence.into(), Place { slot, owner }))
        })
        .collect()
}

/// Finds a slot or makes it, if need be in the place of another sequence.
pub fn slot_for(key: Key) -> Option<Place> {
    let memory = memory();
    let set = slot_table::set_of(memory.slots, key);
    memory.locked(|| {
        let slot = match slot_table::find(set, key) {
            Some(slot) => slot,
            None => {
                // What is left of the sequence's earlier form stays, as it may be there again after a rollback.
                let slot = slot_table::vacate(set, extension::database())?;
                slot.give(key);
                slot
            }
        };
        Some(Place {
            slot,
            owner: slot.owner.load(Ordering::Relaxed),
        })
    })
}

/// Drops the segments of a sequence, in use or not.
pub fn drop_segments(key: Key) {
    let memory = memory();
    let set = slot_table::set_of(memory.slots, key);
    memory.locked(|| slot_table::find(set, key).inspect(|slot| slot.renew()));
}

/// A sequence of this database as the view shows it.
pub struct Seen {
    pub sequence: pg_sys::Oid,
    pub look: Look,
    /// When a segment was taken last.
    pub used: Micros,
}

/// Whether it is there, and the user may know how far it is.
fn may_see(sequence: pg_sys::Oid) -> bool {
    relation::is_sequence(sequence)
        && (privilege::any(sequence, pg_sys::ACL_SELECT | pg_sys::ACL_USAGE)
            || privilege::is_member(pg_sys::ROLE_PG_MONITOR.into()))
}

/// The sequences of this database that were drawn from since the server started, as far as the user may
/// see them.
pub fn seen() -> Vec<Seen> {
    let mut latest = BTreeMap::new();
    let incarnation = extension::incarnation();
    let slots = slots_of(extension::database()).filter(|slot| slot.tag.is_of(incarnation));
    let seen = slots.filter_map(|slot| {
        slot.seen(|slot| (slot.tag.sequence(), slot.tag.used(), slot.segment.look()))
    });
    for (_, (sequence, used, look)) in seen {
        if latest.get(&sequence).is_none_or(|&(at, _)| at < used) {
            latest.insert(sequence, (used, look));
        }
    }
    latest
        .into_iter()
        .filter(|&(sequence, (_, look))| look.refills > 0 && may_see(sequence.into()))
        .map(|(sequence, (used, look))| Seen {
            sequence: pg_sys::Oid::from_u32(sequence),
            look,
            used,
        })
        .collect()
}
