//! Drawing from sequences: segments in shared memory, taken from the sequence's page.
//!
//! Taking adds to what the page has, under its lock, as `nextval` does. So both may be used on one sequence.
//! The next segment is put into shared memory under the same lock: one at a time, and an error gives the
//! lock back.

use super::errors::report;
use super::sequence::{self, Lock, Row, Sequence};
use super::shared::shared;
use super::{clock, ends, rights, settings, sources, watch};
use mint_core::segment::{LONGEST, Look, Owner, Turn};
use mint_core::{Draw, Micros, Place, Segment, Values};
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::collections::BTreeMap;
use std::ptr;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

/// The segments of a sequence in shared memory.
///
/// - `segment`: atomic, by the core's protocol. Filled under the page's lock and the shared memory's.
/// - `database`, `sequence`, `file`, `owner`: changed and read under the shared memory's lock.
/// - `ordered`: 1 while a segment from another server is wanted ([`super::sources`]), 2 when there will be none.
/// - `used`: when it was filled last, to find the one that is used least.
#[repr(C, align(64))]
pub struct Slot {
    segment: Segment,
    used: AtomicI64,
    database: AtomicU32,
    sequence: AtomicU32,
    file: AtomicU32,
    owner: AtomicU32,
    ordered: AtomicU32,
}

const _: () = assert!(size_of::<Slot>() == 192);

/// Database, sequence and file. A sequence that is dropped, made anew or altered has other segments.
type Key = (u32, u32, u32);

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
                self.used.store(now, Ordering::Relaxed);
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

/// What a session knows of a sequence.
struct Known {
    sequence: pg_sys::Oid,
    /// Who was found to have the privilege to draw; nobody when that must be asked again.
    user: pg_sys::Oid,
    /// Where its segments are, under which number.
    place: Option<(&'static Slot, Owner)>,
    /// The ticket that this session drew last.
    last: Option<i64>,
}

static mut NOBODY: Known = Known {
    sequence: pg_sys::InvalidOid,
    user: pg_sys::InvalidOid,
    place: None,
    last: None,
};

/// Every sequence that the session has drawn from. Boxed, so that they stay where they are.
static mut KNOWN: BTreeMap<u32, Box<Known>> = BTreeMap::new();

/// The one of the call before, which most often is the next one's as well.
static mut RECENT: *mut Known = &raw mut NOBODY;

/// The next value of a sequence.
#[inline]
pub fn next(sequence: pg_sys::Oid) -> i64 {
    // SAFETY: a backend is one thread, and RECENT points to what is never freed.
    let known = unsafe { &*RECENT };
    if known.sequence == sequence
        && known.user == rights::user()
        && let Some((slot, owner)) = known.place
        && let Draw::Got { first, fetch, .. } = slot.segment.draw(owner, 1)
    {
        if fetch {
            prefetch(sequence);
        }
        return first;
    }
    draw(sequence, 1).first
}

/// The next value, and the session remembers it as its last ticket.
#[inline]
pub fn next_ticket(sequence: pg_sys::Oid) -> i64 {
    let value = next(sequence);
    // SAFETY: as above. `next` has left the sequence in RECENT.
    unsafe { (*RECENT).last = Some(value) };
    value
}

/// The next `count` values in a row.
pub fn next_range(sequence: pg_sys::Oid, count: u64) -> Values {
    draw(sequence, count)
}

/// As [`next_range`], and the session remembers the first as its last ticket.
pub fn next_tickets(sequence: pg_sys::Oid, count: u64) -> Values {
    let values = draw(sequence, count);
    // SAFETY: as above. `draw` has left the sequence in RECENT.
    unsafe { (*RECENT).last = Some(values.first) };
    values
}

/// The ticket that this session drew last from a sequence.
pub fn last_ticket(sequence: pg_sys::Oid) -> Option<i64> {
    // SAFETY: a backend is one thread.
    let known = unsafe { &*ptr::addr_of!(KNOWN) };
    known.get(&sequence.to_u32())?.last
}

/// Forgets the last tickets, as DISCARD does.
pub fn forget_tickets() {
    // SAFETY: a backend is one thread.
    for known in unsafe { &mut *ptr::addr_of_mut!(KNOWN) }.values_mut() {
        known.last = None;
    }
}

/// Called when a relation or what privileges depend on has changed; without an oid, when any may have.
pub fn forget(relation: pg_sys::Oid) {
    // SAFETY: a backend is one thread, and this is called between its steps, not within one.
    let known = unsafe { &mut *ptr::addr_of_mut!(KNOWN) };
    let forget = |known: &mut Known| {
        known.user = pg_sys::InvalidOid;
        known.place = None;
    };
    if relation == pg_sys::InvalidOid {
        known.values_mut().for_each(|known| forget(known));
    } else if let Some(known) = known.get_mut(&relation.to_u32()) {
        forget(known);
    }
}

#[cold]
fn draw(sequence: pg_sys::Oid, count: u64) -> Values {
    loop {
        let (slot, owner) = place(sequence);
        match slot.segment.draw(owner, count) {
            Draw::Got {
                first,
                increment,
                fetch,
            } => {
                if fetch {
                    prefetch(sequence);
                }
                return Values {
                    first,
                    increment,
                    count,
                };
            }
            Draw::NotMine => forget(sequence),
            Draw::Short { left } if count > 1 => match from_afar(sequence, count) {
                None => return take(sequence, count),
                // What is left is too short for values in a row, and is lost.
                Some(()) if left > 0 => drop(slot.segment.draw(owner, left)),
                Some(()) => turn(slot, owner, sequence),
            },
            Draw::Short { .. } => turn(slot, owner, sequence),
        }
        pgrx::check_for_interrupts!();
    }
}

/// Turns to the next segment, which is taken now if nobody has.
fn turn(slot: &'static Slot, owner: Owner, sequence: pg_sys::Oid) {
    match slot.segment.turn(owner, sequence::flush) {
        Turn::Done => {}
        Turn::NotMine => forget(sequence),
        Turn::Lacking => {
            slot.segment.note_wait();
            let open = open(sequence);
            refill(sequence, open, true);
        }
    }
}

/// Whether a sequence's values come from another server, in segments of `count` at least.
fn from_afar(sequence: pg_sys::Oid, count: u64) -> Option<()> {
    let (rules, _) = open(sequence).definition();
    let source = sources::may_be_name(&rules).then(|| sources::of(sequence));
    let step = source.flatten()?.step;
    if count > step {
        report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            format!("count must be at most {step}, the step of the sequence"),
            Some("Its values come from another server, a segment at a time.".to_owned()),
            None,
        );
    }
    Some(())
}

/// Where a sequence's segments are, if the user may draw.
fn place(sequence: pg_sys::Oid) -> (&'static Slot, Owner) {
    // SAFETY: a backend is one thread.
    let known = unsafe { &mut *ptr::addr_of_mut!(KNOWN) };
    if let Some(known) = known.get_mut(&sequence.to_u32())
        && known.user == rights::user()
        && let Some(place) = known.place
    {
        // SAFETY: as above.
        unsafe { RECENT = &raw mut **known };
        return place;
    }
    let open = open(sequence);
    attach(sequence, &open)
}

/// Raises an error while the server is in recovery.
pub fn refuse_in_recovery() {
    // SAFETY: a call without preconditions.
    if unsafe { pg_sys::RecoveryInProgress() } {
        report(
            Code::ERRCODE_READ_ONLY_SQL_TRANSACTION,
            "cannot draw from a sequence during recovery".to_owned(),
            Some("The primary may be issuing the same values.".to_owned()),
            Some("Draw on the primary, or promote this server.".to_owned()),
        );
    }
}

/// Opens a sequence to draw from it, if the user may.
fn open(oid: pg_sys::Oid) -> Sequence {
    watch::begin();
    refuse_in_recovery();
    let Some(sequence) = Sequence::open(oid, Lock::Write) else {
        report(
            Code::ERRCODE_UNDEFINED_TABLE,
            format!("relation with OID {oid} does not exist"),
            None,
            None,
        )
    };
    let privileges = pg_sys::ACL_USAGE | pg_sys::ACL_UPDATE;
    let kind = pg_sys::ObjectType::OBJECT_SEQUENCE;
    rights::demand(oid, &sequence.name(), privileges, kind);
    sequence
}

/// Finds or makes the segments of an open sequence, and remembers them.
fn attach(oid: pg_sys::Oid, sequence: &Sequence) -> (&'static Slot, Owner) {
    let (_, file) = sequence.identity();
    // SAFETY: reads a plain oid, set when the session connected.
    let database = unsafe { pg_sys::MyDatabaseId };
    let place = slot_for((database.to_u32(), oid.to_u32(), file.to_u32()));
    // SAFETY: a backend is one thread, and nothing of KNOWN is lent while it changes.
    unsafe {
        let known = &mut *ptr::addr_of_mut!(KNOWN);
        let known = known.entry(oid.to_u32()).or_insert_with(|| {
            Box::new(Known {
                sequence: oid,
                user: pg_sys::InvalidOid,
                place: None,
                last: None,
            })
        });
        known.user = rights::user();
        known.place = Some(place);
        RECENT = &raw mut **known;
    }
    place
}

/// Finds a slot or makes it, if need be in place of the one that was filled longest ago.
fn slot_for(key: Key) -> (&'static Slot, Owner) {
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

fn row(values: Values) -> Row {
    Row {
        last_value: values.last(),
        log_count: 0,
        is_called: true,
    }
}

fn standing(row: Row) -> Place {
    Place {
        last: row.last_value,
        called: row.is_called,
    }
}

/// Takes the next segment, without waiting for anybody: who stands at the boundary will try again.
#[cold]
fn prefetch(sequence: pg_sys::Oid) {
    if let Some(open) = Sequence::open_at_once(sequence) {
        refill(sequence, open, false);
    }
}

/// Takes the next segment from the page, unless another session has done so. `needed`: it is an error when
/// there is none, and its place in the log need not be flushed soon, as the caller will flush it now.
fn refill(oid: pg_sys::Oid, mut sequence: Sequence, needed: bool) {
    let (rules, cache) = sequence.definition();
    let (slot, owner) = attach(oid, &sequence);
    if sources::may_be_name(&rules) && sources::of(oid).is_some() {
        drop(sequence);
        return sources::fetch(oid, slot, needed);
    }
    let own = if cache > 1 {
        cache
    } else {
        settings::segment_step()
    };
    // A busy sequence of few values shall not lose many of them with each restart.
    let most = settings::segment_max_step().min(rules.total() / 10_000);
    let now = clock::now();
    let taken = std::cell::Cell::new(None);
    let mut before = None;
    let (found, position) = sequence.update_then(
        |found| {
            if !slot.segment.lacks_next() {
                return None;
            }
            before = Some(standing(found));
            let step = slot.segment.next_step(now, own.min(LONGEST), most);
            let values = rules.take(standing(found), 1, step)?;
            taken.set(Some(values));
            Some(row(values))
        },
        |position| {
            if let Some(values) = taken.get() {
                slot.used.store(now, Ordering::Relaxed);
                // What cannot be put there, because the slot went to another sequence, is lost.
                shared().locked(|_| slot.segment.fill(owner, values, position, now));
            }
        },
    );
    match (before, taken.get()) {
        (Some(before), Some(_)) => ends::warn(&sequence, &rules, before, standing(found)),
        (Some(_), None) if needed => ends::refuse(&sequence, &rules, 1),
        _ => {}
    }
    if !needed && taken.get().is_some() {
        sequence::hasten(position);
    }
}

/// Takes values in a row past the segments, which have not as many.
fn take(oid: pg_sys::Oid, count: u64) -> Values {
    let mut sequence = open(oid);
    let (rules, _) = sequence.definition();
    let mut taken = None;
    let mut before = None;
    let (found, position) = sequence.update(|found| {
        before = Some(standing(found));
        taken = rules.take(standing(found), count, count);
        taken.map(row)
    });
    match (before, taken) {
        (Some(before), Some(values)) => {
            sequence::flush(position);
            ends::warn(&sequence, &rules, before, standing(found));
            values
        }
        _ => ends::refuse(&sequence, &rules, count),
    }
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
