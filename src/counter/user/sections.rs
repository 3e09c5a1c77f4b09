//! Sections of user sequences in shared memory: each a ceiling on the page of a sequence of its own.

use crate::counter::settings;
use crate::pg::catalog::{extension, sql};
use crate::pg::error::report;
use crate::pg::machine::clock;
use crate::pg::sequence::{Lock, Position, Sequence};
use crate::pg::shmem::{Idea, Memory, Stamp};
use crate::pg::slot_table::{Key, Tag, Tagged};
use crate::pg::{error, sequence, slot_table};
use mint_core::counter::section::Evicted;
use mint_core::counter::user_bucket::Owner;
use mint_core::{Page, Section};
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::convert::Infallible;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

/// - `owners`: the number given out last, under the lock.
#[repr(C, align(64))]
struct Head {
    owners: AtomicU32,
}

static STAMP: Stamp = Stamp::new(b'n', 1);
static SECTIONS: Idea<Head, Slot> = Idea::with_slots(
    c"pg_mint sections",
    &STAMP,
    || settings::max_sections() as usize,
    |_, _| (),
);

fn memory() -> &'static Memory<Head, Slot> {
    SECTIONS.memory()
}

/// A section in shared memory.
///
/// - `section`: atomic, by the core's protocol.
/// - `tag`: changed and read under the idea's lock; used when it was raised last.
/// - `pins`: how many sessions are raising it. Never given to another section meanwhile.
#[repr(C)]
pub struct Slot {
    section: Section,
    tag: Tag,
    pins: AtomicU32,
}

impl Tagged for Slot {
    fn tag(&self) -> &Tag {
        &self.tag
    }

    fn is_held(&self) -> bool {
        self.pins.load(Ordering::SeqCst) > 0
    }
}

/// Where a session has found a section, and under which number.
#[derive(Clone, Copy)]
pub struct SectionRef {
    slot: &'static Slot,
    pub owner: Owner,
}

impl SectionRef {
    /// The bounds of its numbers.
    #[inline]
    pub fn section(&self) -> &'static Section {
        &self.slot.section
    }
}

/// Tells a section that one of its entries was evicted. If it is another section's place by now, it counts as one
/// of that, and can cost it a gap.
pub fn evicted(who: Evicted) {
    if let Some(slot) = memory().slots.get(who.section()) {
        slot.section.evict(who);
    }
}

/// The section of a sequence, made on the first call after a start of the server. Opens the sequence.
pub fn find(oid: pg_sys::Oid) -> SectionRef {
    attach(open(oid)).0
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
    let (place, mut page) = attach(sequence);
    pinned(place, |slot| {
        slot.tag.note_use(clock::now());
        let Ok(()) = slot.section.bounds.raise(beyond, step, &mut page);
    });
}

fn open(oid: pg_sys::Oid) -> Sequence {
    Sequence::open(oid, Lock::Write).unwrap_or_else(|| sql::missing(oid))
}

/// Runs `work` unless the slot went to another section, and keeps it from that meanwhile. Returns whether it
/// did.
fn pinned(place: SectionRef, work: impl FnOnce(&'static Slot)) -> bool {
    // All in one order with `claim`, which stores the owner and then looks at the pins.
    place.slot.pins.fetch_add(1, Ordering::SeqCst);
    // Dropped by an error in `work` too.
    let _pin = Pin(place.slot);
    let mine = place.slot.section.owner() == place.owner;
    if mine {
        work(place.slot);
    }
    mine
}

struct Pin(&'static Slot);

impl Drop for Pin {
    fn drop(&mut self) {
        self.0.pins.fetch_sub(1, Ordering::SeqCst);
    }
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
        error::warn(
            "a section of user sequences was set back, and has been raised again",
            format!(
                "Sequence \"{}\" was at {from}, and is at {to} now.",
                self.sequence.name()
            ),
            "Had the server crashed in between, numbers could have been issued twice. Leave its sequences alone.",
        );
    }
}

/// Where a section is, and its page. What shared memory knows already is trusted only beside the page: one that is below
/// it is raised first.
fn attach(sequence: Sequence) -> (SectionRef, Paper) {
    let mut page = Paper { sequence };
    loop {
        let place = slot_for(Key::new(page.sequence.identity()));
        // After the place was made: no session raises the value by another then. A session that does by this one has
        // attached first.
        let value = page.sequence.row().last_value;
        let is_mine = pinned(place, |slot| {
            let bounds = &slot.section.bounds;
            bounds.attach(value);
            let Ok(()) = bounds.bring_up(&mut page);
        });
        if is_mine {
            return (place, page);
        }
    }
}

/// Finds a slot or makes it, if need be in the place of another section.
fn slot_for(key: Key) -> SectionRef {
    let memory = memory();
    let set = slot_table::set_of(memory.slots, key);
    let found = memory.locked(|| {
        if let Some(slot) = slot_table::find(set, key) {
            let owner = slot.section.owner();
            return Some(SectionRef { slot, owner });
        }
        let slot = match slot_table::other_incarnation(set, key) {
            // It begins anew, unless a session is raising it: then the database is the same, and was altered.
            Some(slot) => {
                if !slot.claim(key) {
                    slot.tag.set(key);
                }
                slot
            }
            None => loop {
                let free = slot_table::vacate(set, extension::database())?;
                // A session may have begun to raise it.
                if free.claim(key) {
                    break free;
                }
            },
        };
        for other in slot_table::earlier(set, key) {
            other.retire();
        }
        let owner = slot.section.owner();
        Some(SectionRef { slot, owner })
    });
    found.unwrap_or_else(|| {
        report(
            Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
            "no room for a section of user sequences",
        )
        .detail("All places in shared memory are in use at this moment.")
        .hint("Raise pg_mint.max_sections and restart the server.")
        .raise()
    })
}

impl Slot {
    /// A number that no section had before, with the place of the slot in it. The caller holds the lock.
    fn new_owner(&self) -> Owner {
        let memory = memory();
        let index = (ptr::from_ref(self).addr() - memory.slots.as_ptr().addr()) / size_of::<Self>();
        let owners = &memory.head.owners;
        let number = loop {
            let number = owners.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
            if number != 0 {
                break number;
            }
        };
        u64::from(number) << 16 | index as u64
    }

    /// Takes the slot from a section that is now elsewhere: a session that has not heard of it, as in a long statement,
    /// would give users lower numbers than others do. No session is raising it, as that takes a lock on the
    /// sequence, and so did altering it. The caller holds the lock.
    fn retire(&self) {
        self.section.claim(self.new_owner(), || true);
        self.tag.clear();
    }

    /// Gives the slot to another section, unless a session is raising the one it has. The caller holds the
    /// lock.
    fn claim(&self, key: Key) -> bool {
        let unused = || self.pins.load(Ordering::SeqCst) == 0;
        let mine = self.section.claim(self.new_owner(), unused);
        if mine {
            self.tag.set(key);
        }
        mine
    }
}
