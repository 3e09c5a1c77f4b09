//! Sections of user sequences in shared memory: each a ceiling on the page of a sequence of its own.

use crate::counter::slot_table::{Owners, SlotKey, Tag, Tagged};
use crate::counter::user::users;
use crate::counter::{settings, slot_table};
use crate::pg::catalog::{extension, privilege, relation, sql};
use crate::pg::error::report;
use crate::pg::machine::clock;
use crate::pg::sequence::{Lock, Position, Sequence};
use crate::pg::shmem::rendezvous::Stamp;
use crate::pg::shmem::segment::{Memory, NamedSegment};
use crate::pg::{error, sequence};
use crate::statistics::{self, Count};
use mint_core::counter::section::Evicted;
use mint_core::counter::user_bucket::SectionOwner;
use mint_core::{Micros, Page, Section};
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::convert::Infallible;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

static STAMP: Stamp = Stamp::new(b'n', 1);
static SECTIONS: NamedSegment<Owners, SectionSlot> = NamedSegment::sized_by(
    &settings::MAX_SECTIONS,
    &STAMP,
    || settings::MAX_SECTIONS.count(),
    |_, _| (),
);

/// Registers the memory. Called once, when the library is loaded.
pub fn init() {
    SECTIONS.register();
}

fn memory() -> &'static Memory<Owners, SectionSlot> {
    SECTIONS.memory()
}

/// A section in shared memory.
///
/// - `section`: atomic, by the core's protocol.
/// - `tag`: changed and read under the memory's lock; its time is that of the last raise.
/// - `pins`: the number of sessions that are raising the section. Meanwhile the slot is not given to another one.
#[repr(C)]
pub struct SectionSlot {
    section: Section,
    tag: Tag,
    pins: AtomicU32,
}

impl Tagged for SectionSlot {
    fn tag(&self) -> &Tag {
        &self.tag
    }

    fn is_held(&self) -> bool {
        self.pins.load(Ordering::SeqCst) > 0
    }
}

/// A section as a session has found it. The owner changes when the slot goes to another section.
#[derive(Clone, Copy)]
pub struct SectionRef {
    slot: &'static SectionSlot,
    pub owner: SectionOwner,
}

impl SectionRef {
    /// Returns the section.
    #[inline]
    pub fn section(&self) -> &'static Section {
        &self.slot.section
    }
}

/// Records that an entry of a section was evicted. If the slot is another section's by now, that can skip numbers.
pub fn note_eviction(entry: Evicted) {
    // These were mapped with the users.
    statistics::add(Count::UserEvictions, 1);
    if let Some(slot) = memory().slots.get(entry.section()) {
        slot.section.evict(entry);
    }
}

/// Returns the section of a sequence, which is made on the first call after a start of the server. Opens the sequence.
pub fn find(oid: pg_sys::Oid) -> SectionRef {
    attach(open(oid)).0
}

/// Returns the greatest number that a user of a section can have, by the page, without shared memory.
pub fn beyond_all(oid: pg_sys::Oid) -> i64 {
    open(oid).row().last_value - 1
}

/// Raises the ceiling of a section, so that numbers up to `beyond` can be issued.
pub fn raise(oid: pg_sys::Oid, beyond: i64) {
    let sequence = open(oid);
    let (_, cache) = sequence.definition();
    let step = i64::try_from(cache).unwrap_or(i64::MAX).max(2);
    let (found, mut page) = attach(sequence);
    with_pin(found, |slot| {
        slot.tag.note_use(clock::now());
        let Ok(()) = slot.section.bounds.raise(beyond, step, &mut page);
    });
}

fn open(oid: pg_sys::Oid) -> Sequence {
    Sequence::open(oid, Lock::Write).unwrap_or_else(|| sql::missing(oid))
}

/// Pins a section and runs `work`, unless the slot has gone to another section. Returns whether it ran.
fn with_pin(found: SectionRef, work: impl FnOnce(&'static SectionSlot)) -> bool {
    // Sequentially consistent with `claim`, which stores the owner and then reads the pins.
    found.slot.pins.fetch_add(1, Ordering::SeqCst);
    // Dropped also when `work` raises an error.
    let _pin = Pin(found.slot);
    let is_current = found.slot.section.owner() == found.owner;
    if is_current {
        work(found.slot);
    }
    is_current
}

/// Guard of a pinned slot.
struct Pin(&'static SectionSlot);

impl Drop for Pin {
    fn drop(&mut self) {
        self.0.pins.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The page of a section's sequence.
struct SectionPage {
    sequence: Sequence,
}

impl Page for SectionPage {
    type Position = Position;
    /// A failure is an error of the server, which ends the statement.
    type Failure = Infallible;

    fn update(
        &mut self,
        decide: impl FnOnce(i64) -> Option<i64>,
    ) -> Result<(i64, Position), Infallible> {
        let mut raises = false;
        let raised = self.sequence.raise(|found| {
            let value = decide(found);
            raises = value.is_some();
            value
        });
        statistics::add(Count::SectionRaises, raises.into());
        Ok(raised)
    }

    fn flush(&mut self, position: Position) -> Result<(), Infallible> {
        sequence::flush(position);
        Ok(())
    }

    fn set_back(&mut self, from: i64, to: i64) {
        error::warn(
            "section of user sequences was set back and has been raised again",
            format!(
                "Sequence \"{}\" was at {from} and is at {to} now. A crash in between could have repeated numbers.",
                self.sequence.name()
            ),
            Some("Do not modify the sequences of a family."),
        );
    }
}

/// Returns a section and its page, which is raised first if it is below the ceiling in memory, as after `setval`.
fn attach(sequence: Sequence) -> (SectionRef, SectionPage) {
    statistics::map();
    let mut page = SectionPage { sequence };
    loop {
        let found = slot_for(SlotKey::new(page.sequence.identity()));
        // The page is read once there is a slot: from then on sessions raise it by this slot only, and attach first.
        let value = page.sequence.row().last_value;
        let is_current = with_pin(found, |slot| {
            let bounds = &slot.section.bounds;
            bounds.attach(value);
            let Ok(()) = bounds.bring_up(&mut page);
        });
        if is_current {
            return (found, page);
        }
    }
}

/// Returns the slot of a section; gives it one if it has none, if necessary that of another section.
fn slot_for(key: SlotKey) -> SectionRef {
    let memory = memory();
    let set = slot_table::set_of(memory.slots, key);
    let found = memory.locked(|| {
        if let Some(slot) = slot_table::find(set, key) {
            let owner = slot.section.owner();
            return Some(SectionRef { slot, owner });
        }
        let slot = match slot_table::other_incarnation(set, key) {
            // The section starts again, unless a session is raising it: then the database is the same, and was altered.
            Some(slot) => {
                if !slot.reassign(key) {
                    slot.tag.set(key);
                }
                slot
            }
            None => loop {
                let free = slot_table::vacate(set, extension::database(), 0)?;
                let evicts = free.tag.database() != 0;
                // A session can raise the other section by now.
                if free.reassign(key) {
                    statistics::add(Count::SectionEvictions, evicts.into());
                    break free;
                }
            },
        };
        for other in slot_table::earlier_slots(set, key) {
            other.retire();
        }
        let owner = slot.section.owner();
        Some(SectionRef { slot, owner })
    });
    found.unwrap_or_else(|| {
        report(
            Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
            "could not find free slot for section of user sequences",
        )
        .detail("All slots in shared memory are in use.")
        .hint("Increase \"pg_mint.max_sections\" and restart the server.")
        .raise()
    })
}

/// Returns how many sections have a slot, and how many can. Takes no lock.
pub fn used() -> (usize, usize) {
    let Some(memory) = SECTIONS.if_made() else {
        return (0, settings::MAX_SECTIONS.count());
    };
    let used = memory.slots.iter().filter(|slot| slot.tag.database() != 0);
    (used.count(), memory.slots.len())
}

/// A row of the view `mint.user_sequences`.
pub struct SectionRow {
    pub family: pg_sys::Oid,
    pub section: i32,
    pub floor: i64,
    pub ceiling: i64,
    /// The number of users in the section's place in shared memory.
    pub users: u64,
    /// When the ceiling was raised last, in microseconds since 1970.
    pub used: Micros,
}

/// Returns the sections of this database that are in shared memory and that the role may see.
pub fn list() -> Vec<SectionRow> {
    let memory = memory();
    let (database, incarnation) = (extension::database(), extension::incarnation());
    let found: Vec<_> = memory.locked(|| {
        let slots = memory.slots.iter().enumerate();
        slots
            .filter(|(_, slot)| slot.tag.database() == database && slot.tag.is_of(incarnation))
            .map(|(place, slot)| {
                let bounds = &slot.section.bounds;
                let seen = (slot.tag.sequence(), slot.tag.used());
                (place, seen, (bounds.floor(), bounds.value()))
            })
            .collect()
    });
    if found.is_empty() {
        return Vec::new();
    }
    users::map_parts();
    let users = users::table().users_by_section(memory.slots.len());
    let row = |(place, (sequence, used), (floor, ceiling)): (usize, (u32, Micros), (i64, i64))| {
        let (family, column) = relation::identity_of(sequence.into())?;
        let may_see = privilege::has_any(family, pg_sys::ACL_INSERT | pg_sys::ACL_SELECT)
            || privilege::is_member(pg_sys::ROLE_PG_MONITOR.into());
        may_see.then_some(SectionRow {
            family,
            section: i32::try_from(column).ok()? - 1,
            floor,
            ceiling,
            users: users.get(place).copied().unwrap_or(0),
            used,
        })
    };
    found.into_iter().filter_map(row).collect()
}

impl SectionSlot {
    /// Returns an owner that no section had before, which includes the index of the slot. The caller holds the lock.
    fn new_owner(&self) -> SectionOwner {
        let memory = memory();
        let index = (ptr::from_ref(self).addr() - memory.slots.as_ptr().addr()) / size_of::<Self>();
        u64::from(memory.head.next()) << 16 | index as u64
    }

    /// Takes the slot from a section that has another slot now: a session without the invalidation, as in a long
    /// statement, would issue lower numbers than others do. No session is raising the section, as that takes a lock on
    /// the sequence, as altering it did. The caller holds the lock.
    fn retire(&self) {
        self.section.reassign(self.new_owner(), || true);
        self.tag.clear();
    }

    /// Gives the slot to another section, unless a session is raising the current one. The caller holds the lock.
    fn reassign(&self, key: SlotKey) -> bool {
        let unused = || self.pins.load(Ordering::SeqCst) == 0;
        let is_given = self.section.reassign(self.new_owner(), unused);
        if is_given {
            self.tag.set(key);
        }
        is_given
    }
}
