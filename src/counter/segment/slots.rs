//! The segments of sequences in shared memory, with a slot for each sequence.

use crate::counter::segment::request::{Fate, Request};
use crate::counter::settings;
use crate::counter::slot_table;
use crate::counter::slot_table::{Owners, SlotKey, Tag, Tagged};
use crate::pg::catalog::extension;
use crate::pg::catalog::privilege::is_member;
use crate::pg::sequence::{Position, SequenceRow, is_before_checkpoint};
use crate::pg::shmem::rendezvous::Stamp;
use crate::pg::shmem::segment::{Memory, NamedSegment};
use crate::pg::worker::note::Note;
use crate::statistics::{self, Count};
use mint_core::counter::segment::{SegmentOwner, SegmentState};
use mint_core::counter::sequence::is_beyond;
use mint_core::{Micros, Rules, Segment, SequenceData, SequenceState, Values};
use pgrx::pg_sys;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering, fence};

static STAMP: Stamp = Stamp::new(b's', 6);
static SEGMENTS: NamedSegment<SegmentsHead, SegmentsSlot> = NamedSegment::sized_by(
    &settings::MAX_SEGMENTS,
    &STAMP,
    || settings::MAX_SEGMENTS.count(),
    |_, _| (),
);

/// Registers the memory. Called once, when the library is loaded.
pub fn init() {
    SEGMENTS.register();
}

fn memory() -> &'static Memory<SegmentsHead, SegmentsSlot> {
    SEGMENTS.memory()
}

/// The head of the segment.
///
/// - `reasons`: why requests to other servers have failed, after the owners of their slots. Written under the lock.
#[repr(C)]
struct SegmentsHead {
    owners: Owners,
    reasons: [Note<400>; 16],
}

/// The slot of a sequence: its segments in shared memory.
///
/// - `segment`: atomic, by the core's protocol. Filled under the locks of the page and of the memory.
/// - `tag`, `owner`: changed under the memory's lock; `owner` is 0 while the tag changes.
/// - `role`: the owner of the sequence when a session last found the slot. A hint.
/// - `request`: for a segment from another server ([`crate::counter::segment::source`]).
/// - `noted`, `left`, `position`: whether values were taken, the last value on the page after that, and the position of
///   the page in the log. Written under the page's lock.
/// - `end`: the furthest value that other servers have reported to have taken, less the lowest one; 0 when none has.
///   Written under the page's lock.
/// - `percent`: how much of the sequence was drawn when values were last taken; see [`SegmentsSlot::is_further`].
#[repr(C, align(64))]
pub struct SegmentsSlot {
    pub segment: Segment,
    pub(super) tag: Tag,
    owner: AtomicU32,
    role: AtomicU32,
    pub request: Request,
    noted: AtomicBool,
    percent: AtomicU8,
    left: AtomicI64,
    position: AtomicU64,
    end: AtomicI64,
}

const _: () = assert!(size_of::<SegmentsSlot>() == 192);

impl Tagged for SegmentsSlot {
    fn tag(&self) -> &Tag {
        &self.tag
    }

    fn role(&self) -> u32 {
        self.role.load(Ordering::Relaxed)
    }

    /// Returns whether a worker is about the request: it is counted there.
    fn is_held(&self) -> bool {
        self.request.is_running()
    }
}

/// The segments of a sequence as a session has found them. The owner changes when the slot goes to another sequence or
/// its segments are dropped.
#[derive(Clone, Copy)]
pub struct Segments {
    pub slot: &'static SegmentsSlot,
    pub owner: SegmentOwner,
}

impl Segments {
    /// Returns the segments in a slot for its sequence. The caller holds the lock.
    fn now_in(slot: &'static SegmentsSlot) -> Self {
        Self {
            slot,
            owner: slot.owner.load(Ordering::Relaxed),
        }
    }

    /// Returns whether the slot still has this owner.
    pub fn is_current(&self) -> bool {
        self.slot.owner.load(Ordering::Acquire) == self.owner
    }

    /// Runs `work`, unless the slot has gone to another sequence or its segments were dropped: then `work` would change
    /// those of another owner. The slot keeps its owner meanwhile.
    pub fn with_owner<T>(&self, work: impl FnOnce(&SegmentsSlot) -> T) -> Option<T> {
        memory().locked(|| self.is_current().then(|| work(self.slot)))
    }

    /// Drops the segments, as the sequence was set to another value, and returns the slot with its new owner. If the
    /// slot has another owner already, perhaps another sequence, returns the same: a draw with it begins again.
    pub fn drop_and_renew(self) -> Self {
        let slot = self.slot;
        self.with_owner(|_| {
            slot.renew();
            Self::now_in(slot)
        })
        .unwrap_or(self)
    }

    /// Begins the request for the next segment from another server, unless it is running. At most so many are running, and one
    /// of each owner of sequences. Where the last one has failed, it leaves a turn to others, and of an owner one such request
    /// begins in a second: owners whose servers are slow delay others by one request now and then. Otherwise it is put off.
    pub fn begin_request(&self, most: usize) -> bool {
        let of = |slot: &SegmentsSlot| (slot.tag.database(), slot.role());
        let is_own = |slot: &&SegmentsSlot| of(slot) == of(self.slot);
        let running = || made_slots().filter(|slot| slot.request.is_running());
        let is_troubled = self.slot.request.is_troubled();
        let most = most - usize::from(is_troubled && most > 1);
        let rests = is_troubled
            && made_slots()
                .filter(is_own)
                .any(|slot| slot.request.has_failed());
        let is_turn = running().count() < most && !rests && !running().any(|slot| is_own(&slot));
        let begin = |slot: &SegmentsSlot| {
            let is_free = slot.segment.lacks_next() && !slot.request.is_running();
            if is_free {
                let fate = if is_turn { Fate::Running } else { Fate::PutOff };
                slot.request.set(fate);
            }
            is_free && is_turn
        };
        self.with_owner(begin) == Some(true)
    }

    /// Returns the number by which a worker finds these segments.
    pub fn number(&self) -> u64 {
        let place = memory()
            .slots
            .iter()
            .position(|slot| std::ptr::eq(slot, self.slot));
        u64::from(self.owner) << 32 | place.unwrap_or_default() as u64
    }

    /// Returns the segments of a number, their database and their sequence, unless the slot has another owner.
    pub fn of_number(number: u64) -> Option<(Self, u32, pg_sys::Oid)> {
        statistics::map();
        let slot = memory().slots.get(number as u32 as usize)?;
        let look = |slot: &SegmentsSlot| (slot.tag.database(), slot.tag.sequence());
        let (owner, (database, sequence)) = slot.read(look)?;
        (u64::from(owner) == number >> 32)
            .then(|| (Self { slot, owner }, database, sequence.into()))
    }

    /// Records why the request has failed.
    pub fn note_failure(&self, why: &str) {
        self.with_owner(|_| self.reason().set(&format!("{} {why}", self.owner)));
        self.slot.request.fail();
    }

    /// Returns the place of the reason, which is that of other owners too.
    fn reason(&self) -> &'static Note<400> {
        let reasons = &memory().head.reasons;
        &reasons[self.owner as usize % reasons.len()]
    }

    /// Returns why the last request has failed, unless one has brought a segment since. It can name the host and the user of
    /// a mapping, which are for roles with the privileges of the owner.
    pub fn failure(&self) -> Option<String> {
        let roles = [self.slot.role().into(), pg_sys::ROLE_PG_MONITOR.into()];
        let may_read = roles.map(is_member).contains(&true);
        let why = self.reason().get().filter(|_| may_read);
        let why = why.unwrap_or_default();
        let own = why.strip_prefix(&format!("{} ", self.owner));
        let is_troubled = self.slot.request.is_troubled();
        is_troubled.then(|| own.unwrap_or("see the server log").to_owned())
    }

    /// Returns how many values to take next, within the limits; none once the slot has another owner.
    pub fn next_step(&self, now: Micros, steps: (u64, u64)) -> Option<u64> {
        self.with_owner(|slot| slot.segment.next_step(now, steps))
    }

    /// Adds the next segment. If there is one, or the slot has another owner, the values are lost. **Under the page's
    /// lock.** `step`: the number of values that were to be taken. Returns whether it was added, which ends the request.
    pub fn fill(&self, values: Values, step: u64, position: Position, now: Micros) -> bool {
        self.with_owner(|slot| {
            slot.segment.lacks_next() && slot.segment.fill(self.owner, values, position, now) && {
                slot.segment.note_step(step);
                slot.tag.note_use(now);
                slot.request.end();
                statistics::note_refill(values.count);
                true
            }
        }) == Some(true)
    }
}

impl SegmentsSlot {
    /// Drops the segments, and sets another owner. The caller holds the lock.
    fn renew(&self) {
        let owner = memory().head.owners.next();
        // This counts before they are gone, so a concurrent result is too low, never too high. Some can still be drawn.
        let before = self.segment.remaining();
        statistics::add(Count::ValuesDropped, before);
        let left = self.segment.reassign(owner);
        statistics::add(Count::ValuesDropped, left.wrapping_sub(before));
        self.noted.store(false, Ordering::Relaxed);
        self.owner.store(owner, Ordering::Release);
    }

    /// Gives the slot to a sequence. The caller holds the lock.
    fn give(&self, key: SlotKey) {
        self.owner.store(0, Ordering::Release);
        fence(Ordering::Release);
        self.tag.set(key);
        self.request.end();
        self.percent.store(0, Ordering::Relaxed);
        self.end.store(0, Ordering::Relaxed);
        self.renew();
    }

    /// Records the last value and the position of the page after values were taken. The caller holds the page's lock.
    pub fn note_page(&self, left: i64, position: Position) {
        self.left.store(left, Ordering::Relaxed);
        self.position.store(position, Ordering::Relaxed);
        self.noted.store(true, Ordering::Relaxed);
    }

    /// Records how much of the sequence was drawn, in percent. Returns whether that is more than before.
    pub fn is_further(&self, percent: u32) -> bool {
        let percent = percent.min(100) as u8;
        percent > self.percent.swap(percent, Ordering::Relaxed)
    }

    /// Returns how much of the sequence was drawn when values were taken last, in percent.
    pub fn percent(&self) -> u8 {
        self.percent.load(Ordering::Relaxed)
    }

    /// Returns whether the next segment should be taken: it is missing, and no request for it runs or has failed
    /// lately.
    pub fn wants_next(&self) -> bool {
        self.segment.lacks_next() && self.request.is_due()
    }

    /// Returns whether the page was not written since segments were taken from it. The cheap and most frequent case of
    /// [`SegmentsSlot::is_stale`]. The caller holds the page's lock.
    pub fn is_as_left(&self, logged: Position) -> bool {
        let position = self.position.load(Ordering::Relaxed);
        // Each write of the page is logged, except in the transaction that creates the sequence under wal_level
        // minimal.
        position != 0 && logged == position || !self.noted.load(Ordering::Relaxed)
    }

    /// Returns whether a session has set the sequence to another value since segments were taken from it: the values left in
    /// them can be issued again. The caller holds the page's lock.
    pub fn is_stale(&self, row: SequenceRow, logged: Position, rules: &Rules, cache: u64) -> bool {
        if self.is_as_left(logged) {
            return false;
        }
        let left = self.left.load(Ordering::Relaxed);
        let position = self.position.load(Ordering::Relaxed);
        let found = SequenceData {
            state: sequence_state(row),
            log_count: row.log_count,
            relogged: is_before_checkpoint(position),
        };
        // If nextval has taken more than is left in the segments, little is lost by dropping them.
        let most = self.segment.remaining().max(64).max(2 * cache);
        !rules.is_of_nextval(cache, left, found, most)
    }

    /// Notes that servers have taken values up to `end`, if that is beyond the end noted before, in the direction of
    /// `increment`. Returns the end that is noted. The caller holds the page's lock.
    pub fn note_end(&self, end: Option<i64>, increment: i64) -> Option<i64> {
        let known = self.end.load(Ordering::Relaxed);
        let known = (known != 0).then_some(known ^ i64::MIN);
        let furthest = match (end, known) {
            (Some(end), Some(known)) if !is_beyond(end, known, increment) => known,
            _ => end.or(known)?,
        };
        self.end.store(furthest ^ i64::MIN, Ordering::Relaxed);
        Some(furthest)
    }

    /// Returns whether the slot belongs to this database in its present incarnation.
    pub(super) fn is_own(&self) -> bool {
        self.tag.database() == extension::database() && self.tag.is_of(extension::incarnation())
    }

    /// Returns the owner and the result of `look`, if the slot has the same owner before and after.
    pub(super) fn read<T>(
        &'static self,
        look: impl FnOnce(&'static Self) -> T,
    ) -> Option<(SegmentOwner, T)> {
        let owner = self.owner.load(Ordering::Acquire);
        let seen = look(self);
        fence(Ordering::Acquire);
        (owner != 0 && self.owner.load(Ordering::Relaxed) == owner).then_some((owner, seen))
    }
}

/// Returns the state of a sequence by its row.
pub fn sequence_state(row: SequenceRow) -> SequenceState {
    SequenceState {
        last: row.last_value,
        called: row.is_called,
    }
}

/// Returns the slot of a sequence, which it gets if it has none, perhaps that of another. `role`: the sequence's owner.
pub fn slot_for(key: SlotKey, role: u32) -> Option<Segments> {
    statistics::map();
    let memory = memory();
    let set = slot_table::set_of(memory.slots, key);
    memory.locked(|| {
        let slot = match slot_table::find(set, key) {
            Some(slot) => slot,
            None => {
                // The slot of the sequence's earlier file stays, as a rollback can bring that file back.
                let slot = slot_table::vacate(set, extension::database(), role)?;
                let evicts = slot.tag.database() != 0;
                statistics::add(Count::SegmentEvictions, evicts.into());
                slot.give(key);
                slot
            }
        };
        slot.role.store(role, Ordering::Relaxed);
        Some(Segments::now_in(slot))
    })
}

/// Returns the state of the segments of a sequence, unless there are none or `is_stale` is true for their slot.
pub fn state(key: SlotKey, is_stale: impl FnOnce(&SegmentsSlot) -> bool) -> Option<SegmentState> {
    let memory = memory();
    let set = slot_table::set_of(memory.slots, key);
    let found = memory.locked(|| slot_table::find(set, key).map(Segments::now_in))?;
    let look = |slot: &SegmentsSlot| (!is_stale(slot)).then(|| slot.segment.state());
    let (owner, state) = found.slot.read(look)?;
    state.filter(|_| owner == found.owner)
}

/// Drops the segments of a sequence, even the one in use.
pub fn drop_segments(key: SlotKey) {
    statistics::map();
    let memory = memory();
    let set = slot_table::set_of(memory.slots, key);
    memory.locked(|| slot_table::find(set, key).map(SegmentsSlot::renew));
}

/// Returns the slots that are in use, if a session has made the memory.
pub(super) fn made_slots() -> impl Iterator<Item = &'static SegmentsSlot> {
    let slots = SEGMENTS.if_made().map(|memory| memory.slots.iter());
    slots
        .into_iter()
        .flatten()
        .filter(|slot| slot.tag.database() != 0)
}

/// Returns how many slots there are, or will be.
pub(super) fn most() -> usize {
    let made = SEGMENTS.if_made().map(|memory| memory.slots.len());
    made.unwrap_or_else(|| settings::MAX_SEGMENTS.count())
}
