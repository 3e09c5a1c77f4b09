//! The segments of sequences in shared memory, each sequence's in a slot.

use super::shared::shared;
use super::{clock, rights, settings};
use mint_core::segment::{LONGEST, Look, Owner};
use mint_core::{Micros, Segment, Values};
use pgrx::pg_sys;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

/// The segments of a sequence in shared memory.
///
/// - `segment`: atomic, by the core's protocol. Filled under the page's lock and the shared memory's.
/// - `database`, `sequence`, `file`, `owner`: changed and read under the shared memory's lock.
/// - `ordered`: 1 while a segment from another server is wanted ([`super::sources`]), 2 when there will be none.
/// - `used`: when it was filled last, to find the one that is used least.
#[repr(C, align(64))]
pub struct Slot {
    pub segment: Segment,
    used: AtomicI64,
    database: AtomicU32,
    sequence: AtomicU32,
    file: AtomicU32,
    owner: AtomicU32,
    ordered: AtomicU32,
}

const _: () = assert!(size_of::<Slot>() == 192);

/// Database, sequence and file. A sequence that is dropped, made anew or altered has other segments.
pub type Key = (u32, u32, u32);

impl Slot {
    fn key(&self) -> Key {
        let [database, sequence, file] =
            [&self.database, &self.sequence, &self.file].map(|part| part.load(Ordering::Relaxed));
        (database, sequence, file)
    }

    fn claim(&self, (database, sequence, file): Key, owner: Owner) {
        self.segment.claim(owner);
        self.used.store(clock::now(), Ordering::Relaxed);
        self.database.store(database, Ordering::Relaxed);
        self.sequence.store(sequence, Ordering::Relaxed);
        self.file.store(file, Ordering::Relaxed);
        self.owner.store(owner, Ordering::Relaxed);
        self.ordered.store(0, Ordering::Relaxed);
    }

    /// It is filled now.
    pub fn note_use(&self, now: Micros) {
        self.used.store(now, Ordering::Relaxed);
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

    /// How many values to take next. **For who may fill.**
    pub fn next_step(&self, now: Micros, own: u64) -> u64 {
        let most = settings::segment_max_step();
        self.segment.next_step(now, own.min(LONGEST), most)
    }

    /// Puts values from another server behind those in use. They are lost if the slot went to another sequence.
    /// **For the one worker of the database.**
    pub fn supply(&self, owner: Owner, values: Values, now: Micros) {
        shared().locked(|_| {
            if self.segment.lacks_next() && self.segment.fill(owner, values, 0, now) {
                self.note_use(now);
                self.ordered.store(0, Ordering::Release);
            }
        });
    }
}

/// The sequences of a database that want a segment from another server.
pub fn orders(database: u32) -> Vec<(pg_sys::Oid, &'static Slot, Owner)> {
    let shared = shared();
    shared.locked(|_| {
        let mine = shared
            .segments
            .iter()
            .filter(|slot| slot.key().0 == database && slot.ordered.load(Ordering::Acquire) == 1);
        mine.filter(|slot| slot.segment.lacks_next())
            .map(|slot| {
                (
                    pg_sys::Oid::from_u32(slot.key().1),
                    slot,
                    slot.owner.load(Ordering::Relaxed),
                )
            })
            .collect()
    })
}

/// Finds a slot or makes it, if need be in place of the one that was filled longest ago.
pub fn slot_for(key: Key) -> (&'static Slot, Owner) {
    let shared = shared();
    shared.locked(|_| {
        let slots = shared.segments;
        if let Some(slot) = slots.iter().find(|slot| slot.key() == key) {
            return (slot, slot.owner.load(Ordering::Relaxed));
        }
        let oldest = slots
            .iter()
            .min_by_key(|slot| slot.used.load(Ordering::Relaxed));
        let slot = oldest.unwrap_or(&slots[0]);
        let owner = shared.new_owner();
        slot.claim(key, owner);
        (slot, owner)
    })
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
    // SAFETY: lookups in the catalogs, inside a transaction, as every call of a function is.
    unsafe {
        pg_sys::get_rel_relkind(sequence).cast_unsigned() == pg_sys::RELKIND_SEQUENCE
            && (rights::any(sequence, pg_sys::ACL_SELECT | pg_sys::ACL_USAGE)
                || pg_sys::has_privs_of_role(rights::user(), pg_sys::ROLE_PG_MONITOR.into()))
    }
}

/// The sequences of this database that were drawn from since the server started, as far as the user may
/// see them.
pub fn seen() -> Vec<Seen> {
    // SAFETY: reads a plain oid, set when the session connected.
    let database = unsafe { pg_sys::MyDatabaseId }.to_u32();
    let shared = shared();
    let mut latest = BTreeMap::new();
    shared.locked(|_| {
        for slot in shared.segments {
            let (of, sequence, _) = slot.key();
            let used = slot.used.load(Ordering::Relaxed);
            // Those of files that were rewritten stay in memory until it is needed.
            if of == database && latest.get(&sequence).is_none_or(|&(at, _)| at < used) {
                latest.insert(sequence, (used, slot.segment.look()));
            }
        }
    });
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
