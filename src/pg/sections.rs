//! Sections of user sequences in shared memory: each a ceiling on the page of a sequence of its own.

use super::sequence::{self, Lock, Position, Sequence};
use super::shared::shared;
use super::{clock, errors};
use errors::report;
use mint_core::users::{Evicted, MOST_SECTIONS, Owner};
use mint_core::{Page, Section};
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::convert::Infallible;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

/// A section in shared memory.
///
/// - `section`: atomic, by the core's protocol.
/// - `database`, `sequence`, `file`: changed and read under the shared memory's lock.
/// - `used`: when it was raised last, to find the one that is used least.
/// - `pins`: who is raising it. Never given to another section meanwhile.
#[repr(C)]
pub struct Slot {
    section: Section,
    used: AtomicI64,
    database: AtomicU32,
    sequence: AtomicU32,
    file: AtomicU32,
    pins: AtomicU32,
}

/// How many there can be.
pub const MOST: i32 = MOST_SECTIONS as i32;

/// Where a session has found a section, and under which number.
#[derive(Clone, Copy)]
pub struct Place {
    slot: &'static Slot,
    pub owner: Owner,
}

impl Place {
    /// The bounds of its numbers.
    #[inline]
    pub fn section(&self) -> &'static Section {
        &self.slot.section
    }
}

/// Tells a section that one of its users had to leave. If it is another section's place by now, he counts as one
/// of that, and can cost it a gap.
pub fn evicted(who: Evicted) {
    if let Some(slot) = shared().sections.get(who.section()) {
        slot.section.evict(who);
    }
}

/// The section of a sequence, made on the first call after a start of the server. Opens the sequence.
pub fn find(oid: pg_sys::Oid) -> Place {
    let sequence = open(oid);
    attach(&sequence)
}

/// The number that no user of a section got more than, as the page says it, without the shared memory.
pub fn beyond_all(oid: pg_sys::Oid) -> i64 {
    open(oid).row().last_value - 1
}

/// Lets numbers up to `beyond` be issued in a section.
pub fn raise(oid: pg_sys::Oid, beyond: i64) {
    let sequence = open(oid);
    let (_, cache) = sequence.definition();
    let step = i64::try_from(cache).unwrap_or(i64::MAX).max(2);
    let place = attach(&sequence);
    pinned(place, |slot| {
        slot.used.store(clock::now(), Ordering::Relaxed);
        let mut page = Paper { sequence };
        let Ok(()) = slot.section.bounds.raise(beyond, step, &mut page);
    });
}

fn open(oid: pg_sys::Oid) -> Sequence {
    Sequence::open(oid, Lock::Write).unwrap_or_else(|| {
        report(
            Code::ERRCODE_UNDEFINED_TABLE,
            format!("relation with OID {oid} does not exist"),
            None,
            None,
        )
    })
}

/// Runs `work` unless the slot went to another section, and keeps it from that meanwhile. Returns whether it
/// did. An error in `work` leaves it pinned: it is not given to another section then until the server restarts.
fn pinned(place: Place, work: impl FnOnce(&'static Slot)) -> bool {
    // All in one order with `claim`, which stores the owner and then looks at the pins.
    place.slot.pins.fetch_add(1, Ordering::SeqCst);
    let mine = place.slot.section.owner() == place.owner;
    if mine {
        work(place.slot);
    }
    place.slot.pins.fetch_sub(1, Ordering::SeqCst);
    mine
}

/// A section's page.
struct Paper {
    sequence: Sequence,
}

impl Page for Paper {
    type Position = Position;
    /// What goes wrong is an error of the server's, and ends the statement.
    type Failure = Infallible;

    fn update(
        &mut self,
        decide: impl FnOnce(i64) -> Option<i64>,
    ) -> Result<(i64, Position), Infallible> {
        Ok(self.sequence.raise(decide))
    }

    fn flush(&mut self, position: Position) -> Result<(), Infallible> {
        sequence::flush(position);
        Ok(())
    }

    fn set_back(&mut self, from: i64, to: i64) {
        errors::warn(
            "a section of user sequences was set back, and has been raised again",
            format!(
                "Sequence \"{}\" was at {from}, and is at {to} now.",
                self.sequence.name()
            ),
            "Had the server crashed in between, numbers could have been issued twice. Leave its sequences alone.",
        );
    }
}

fn attach(sequence: &Sequence) -> Place {
    let (oid, file) = sequence.identity();
    // SAFETY: reads a plain oid, set when the session connected.
    let database = unsafe { pg_sys::MyDatabaseId };
    loop {
        let place = slot_for([database, oid, file].map(pg_sys::Oid::to_u32));
        // After the place was made: nobody raises the value by another then. Whoever does by this one has
        // attached first.
        let value = sequence.row().last_value;
        if pinned(place, |slot| slot.section.bounds.attach(value, [])) {
            return place;
        }
    }
}

/// Finds a slot or makes it, if need be in place of the section that was raised longest ago.
fn slot_for(key: [u32; 3]) -> Place {
    let shared = shared();
    let found = shared.locked(|_| {
        let slots = shared.sections;
        if let Some(slot) = slots.iter().find(|slot| slot.key() == key) {
            let owner = slot.section.owner();
            return Some(Place { slot, owner });
        }
        let number = |index| u64::from(shared.new_owner()) << 16 | index as u64;
        let (slot, owner) = loop {
            let free = slots
                .iter()
                .enumerate()
                .filter(|(_, slot)| slot.pins.load(Ordering::SeqCst) == 0)
                .min_by_key(|(_, slot)| slot.used.load(Ordering::Relaxed));
            let (index, slot) = free?;
            let owner = number(index);
            // Somebody may have begun to raise it.
            if slot.claim(key, owner) {
                break (slot, owner);
            }
        };
        for (index, other) in slots.iter().enumerate() {
            if other.is_another_file_of(key) {
                other.retire(number(index));
            }
        }
        Some(Place { slot, owner })
    });
    found.unwrap_or_else(|| {
        report(
            Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
            "no room for a section of user sequences".to_owned(),
            Some("All places in shared memory are in use at this moment.".to_owned()),
            Some("Raise pg_mint.max_sections and restart the server.".to_owned()),
        )
    })
}

impl Slot {
    fn key(&self) -> [u32; 3] {
        [&self.database, &self.sequence, &self.file].map(|part| part.load(Ordering::Relaxed))
    }

    /// Whether it is of the same sequence, before it was altered or in a transaction that was rolled back.
    fn is_another_file_of(&self, key: [u32; 3]) -> bool {
        let own = self.key();
        own[..2] == key[..2] && own[2] != key[2]
    }

    /// Takes the slot from a section that is now elsewhere: who has not heard of it, as in a long statement,
    /// would give users lower numbers than others do. Nobody is raising it, as that takes a lock on the
    /// sequence, and so did altering it. The caller holds the lock.
    fn retire(&self, owner: Owner) {
        self.section.claim(owner, || true);
        self.used.store(0, Ordering::Relaxed);
        self.set_key([0; 3]);
    }

    fn set_key(&self, key: [u32; 3]) {
        for (part, value) in [&self.database, &self.sequence, &self.file]
            .into_iter()
            .zip(key)
        {
            part.store(value, Ordering::Relaxed);
        }
    }

    /// Gives the slot to another section, unless somebody is raising the one it has. The caller holds the
    /// lock.
    fn claim(&self, key: [u32; 3], owner: Owner) -> bool {
        if !self
            .section
            .claim(owner, || self.pins.load(Ordering::SeqCst) == 0)
        {
            return false;
        }
        self.used.store(clock::now(), Ordering::Relaxed);
        self.set_key(key);
        true
    }
}
