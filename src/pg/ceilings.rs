//! The ceilings of the databases: in shared memory for every session, on disk for what comes after.
//!
//! Each database has its own, in the extension's sequence `pg_mint_time_ceiling`. Its place in shared
//! memory is found by database, sequence and file, so that a sequence made anew is a ceiling made anew.

use super::errors::{self, report};
use super::sequence::{self, Lock, Position, Sequence};
use super::shared::shared;
use super::{catalog, clock, settings, watch};
use mint_core::text::moment_text;
use mint_core::{Ceiling, Micros, Page};
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ffi::CStr;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

/// The sequence that holds the ceiling, in the extension's schema.
pub const NAME: &str = "pg_mint_time_ceiling";
const SEQUENCE: &CStr = c"pg_mint_time_ceiling";

/// How many ceilings shared memory has room for.
pub const SLOTS: usize = 1_024;

/// A ceiling in shared memory.
///
/// - `database`, `sequence`, `file`: written under the segment's lock before anybody gets a reference,
///   immutable while the database exists. Zeroed memory is an empty slot.
/// - `bounds`: atomic, by the core's protocol.
/// - `writes`, `last_write`: statistics, changed under the page's lock.
#[repr(C, align(64))]
pub struct Slot {
    database: AtomicU32,
    sequence: AtomicU32,
    file: AtomicU32,
    bounds: Ceiling,
    writes: AtomicU64,
    last_write: AtomicI64,
}

const _: () = assert!(size_of::<Slot>() == 64);

type Key = (pg_sys::Oid, pg_sys::Oid, pg_sys::Oid);

/// The key of a slot that nobody has claimed.
const EMPTY: Key = (pg_sys::InvalidOid, pg_sys::InvalidOid, pg_sys::InvalidOid);

impl Slot {
    fn key(&self) -> Key {
        let [database, sequence, file] = [&self.database, &self.sequence, &self.file]
            .map(|part| pg_sys::Oid::from_u32(part.load(Ordering::Relaxed)));
        (database, sequence, file)
    }

    /// Makes the slot another's. The caller holds the segment's lock, and nobody has a reference.
    fn claim(&self, (database, sequence, file): Key) {
        self.bounds.reset(0);
        self.writes.store(0, Ordering::Relaxed);
        self.last_write.store(0, Ordering::Relaxed);
        self.sequence.store(sequence.to_u32(), Ordering::Relaxed);
        self.file.store(file.to_u32(), Ordering::Relaxed);
        self.database.store(database.to_u32(), Ordering::Relaxed);
    }
}

/// What a session mints under until it has attached, and again when the sequence has changed.
static DETACHED: Ceiling = Ceiling::detached();

/// The ceiling of this session's database.
static mut CURRENT: &Ceiling = &DETACHED;
/// The sequence that it was attached to.
static mut ATTACHED: Option<pg_sys::Oid> = None;

/// The bounds to mint under now.
#[inline]
pub fn current() -> &'static Ceiling {
    // SAFETY: a backend is one thread, and what is lent lives as long as it.
    unsafe { CURRENT }
}

/// Lets ticks that start at `beyond` be minted in this database.
#[cold]
pub fn raise(beyond: Micros) {
    let sequence = open(Lock::Write);
    if catalog::has_replaced(SEQUENCE, sequence.identity()) {
        report(
            Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "cannot mint ids in a transaction that replaces the ceiling of pg_mint".to_owned(),
            Some(
                "A rollback would bring the old one back, which does not know what was minted."
                    .to_owned(),
            ),
            Some("Commit first.".to_owned()),
        );
    }
    let slot = attach(&sequence);
    let mut page = Paper { sequence, slot };
    let Ok(()) = slot.bounds.raise(beyond, settings::window(), &mut page);
}

/// A ceiling's page and where it is in shared memory.
struct Paper {
    sequence: Sequence,
    slot: &'static Slot,
}

impl Page for Paper {
    type Position = Position;
    /// What goes wrong is an error of the server's, and ends the statement.
    type Failure = Infallible;

    fn update(
        &mut self,
        decide: impl FnOnce(Micros) -> Option<Micros>,
    ) -> Result<(Micros, Position), Infallible> {
        let slot = self.slot;
        Ok(self.sequence.raise(|found| {
            let value = decide(found)?;
            slot.writes.fetch_add(1, Ordering::Relaxed);
            slot.last_write.store(clock::now(), Ordering::Relaxed);
            Some(value)
        }))
    }

    fn flush(&mut self, position: Position) -> Result<(), Infallible> {
        sequence::flush(position);
        Ok(())
    }

    fn set_back(&mut self, from: Micros, to: Micros) {
        errors::warn(
            "the ceiling of pg_mint was set back, and has been raised again",
            format!(
                "It was at {}, and is at {} now.",
                moment_text(from),
                moment_text(to)
            ),
            "Had the server crashed in between, ids could have been issued twice. Leave sequence pg_mint_time_ceiling alone.",
        );
    }
}

/// Opens the sequence of this database's extension.
fn open(lock: Lock) -> Sequence {
    watch::begin();
    // SAFETY: a backend is one thread.
    let known = unsafe { ATTACHED };
    let open = |oid| Sequence::open(oid, lock);
    known.and_then(open).unwrap_or_else(|| {
        catalog::find(SEQUENCE).and_then(open).unwrap_or_else(|| {
            report(
                Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                "cannot mint ids without the ceiling of pg_mint".to_owned(),
                Some("Sequence pg_mint_time_ceiling is not there.".to_owned()),
                Some("Use CREATE EXTENSION pg_mint in this database.".to_owned()),
            )
        })
    })
}

/// The slot of this database's ceiling, made on the first call after a start of the server.
fn attach(sequence: &Sequence) -> &'static Slot {
    let (oid, file) = sequence.identity();
    // SAFETY: reads a plain oid, set when the session connected.
    let key = (unsafe { pg_sys::MyDatabaseId }, oid, file);
    // Before the lock, as it may read from disk. Whoever raises it in between has attached first.
    let value = sequence.row().last_value;
    let slot = slot_for(key).unwrap_or_else(|| {
        report(
            Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
            "no room for the ceiling of this database".to_owned(),
            Some(format!("{SLOTS} are in use.")),
            Some("Restart the server.".to_owned()),
        )
    });
    let earlier = slots().filter(|other| (other.key().0, other.key().1) == (key.0, key.1));
    slot.bounds
        .attach(value, earlier.map(|other| &other.bounds));
    // SAFETY: a backend is one thread.
    unsafe {
        CURRENT = &slot.bounds;
        ATTACHED = Some(oid);
    }
    slot
}

/// Finds a slot or makes it, if need be in place of one whose database is gone.
fn slot_for(key: Key) -> Option<&'static Slot> {
    let shared = shared();
    let find = |wanted: Key| shared.ceilings.iter().find(|slot| slot.key() == wanted);
    let claim = |free: Key| {
        shared.locked(|_| {
            find(key).or_else(|| {
                let slot = find(free)?;
                slot.claim(key);
                Some(slot)
            })
        })
    };
    claim(EMPTY).or_else(|| {
        let gone = slots().find(|slot| is_gone(slot))?;
        claim(gone.key())
    })
}

/// Whether nobody mints under this ceiling any more: its database is gone, with all its sessions; or it
/// is one of this database's whose sequence or file is gone, and a session that has not heard of it would
/// have raised it since.
fn is_gone(slot: &Slot) -> bool {
    const MINUTE: Micros = 60_000_000;
    let (database, sequence, file) = slot.key();
    let age = clock::now().saturating_sub(slot.last_write.load(Ordering::Relaxed));
    // SAFETY: reads a plain oid, set when the session connected.
    let here = database == unsafe { pg_sys::MyDatabaseId };
    name_of(database).is_none()
        || here && age.saturating_abs() > MINUTE && catalog::file_of(sequence) != Some(file)
}

fn name_of(database: pg_sys::Oid) -> Option<String> {
    // SAFETY: a catalog lookup; the name is a copy, with a zero byte at its end.
    unsafe {
        let name = pg_sys::get_database_name(database);
        (!name.is_null()).then(|| super::charset::decode_c(name))
    }
}

fn slots() -> impl Iterator<Item = &'static Slot> {
    shared().ceilings.iter().filter(|slot| slot.key() != EMPTY)
}

/// Called when a relation has changed, or, without an oid, when any may have.
pub fn forget(relation: pg_sys::Oid) {
    // SAFETY: a backend is one thread, and this is called between its steps, not within one.
    unsafe {
        if relation == pg_sys::InvalidOid || ATTACHED == Some(relation) {
            CURRENT = &DETACHED;
            ATTACHED = None;
        }
    }
}

/// The highest moment that this database may have issued an id of since the server started; 1 when it
/// has issued none. A new extension begins there.
pub fn highest() -> Micros {
    let written = of_this_database().map(|slot| slot.bounds.written()).max();
    written.unwrap_or(1).max(1)
}

fn of_this_database() -> impl Iterator<Item = &'static Slot> {
    // SAFETY: reads a plain oid, set when the session connected.
    let database = unsafe { pg_sys::MyDatabaseId };
    slots().filter(move |slot| slot.key().0 == database)
}

/// A ceiling as the view shows it.
pub struct Seen {
    pub database: String,
    pub value: Micros,
    pub floor: Micros,
    pub writes: u64,
    pub last_write: Option<Micros>,
}

/// The ceilings that were raised since the server started: of each database the one raised last, as
/// those of sequences that were dropped or rewritten stay in memory.
pub fn seen() -> Vec<Seen> {
    let mut latest = BTreeMap::new();
    for slot in slots() {
        let written = |slot: &Slot| slot.last_write.load(Ordering::Relaxed);
        let place = latest.entry(slot.key().0.to_u32()).or_insert(slot);
        if written(slot) > written(place) {
            *place = slot;
        }
    }
    latest
        .into_values()
        .filter_map(|slot| {
            Some(Seen {
                database: name_of(slot.key().0)?,
                value: slot.bounds.value(),
                floor: slot.bounds.floor(),
                writes: slot.writes.load(Ordering::Relaxed),
                last_write: Some(slot.last_write.load(Ordering::Relaxed)).filter(|&at| at != 0),
            })
        })
        .collect()
}

/// Puts this database's ceiling to `wanted`, or as near as is safe while sessions mint: not before what
/// they may issue until they see it. Returns where it is.
pub fn reset(wanted: Micros) -> Micros {
    let sequence = open(Lock::Alone);
    let slot = attach(&sequence);
    let mut page = Paper { sequence, slot };
    if wanted == Micros::MAX {
        report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            "a ceiling cannot be infinite".to_owned(),
            None,
            None,
        );
    }
    let value = wanted.max(clock::now() + settings::policy().max_ahead);
    refuse_below_lanes(value);
    let Ok((_, position)) = page.update(|_| Some(value));
    sequence::flush(position);
    // Those of sequences that are gone as well: what is made anew would go on from them.
    for slot in of_this_database() {
        slot.bounds.reset(value);
    }
    // Who minted under the old bounds until now stands where this would have been refused.
    refuse_below_lanes(value);
    value
}

fn refuse_below_lanes(value: Micros) {
    if let Some(lane) = beyond(value) {
        report(
            Code::ERRCODE_OBJECT_IN_USE,
            "cannot reset the ceiling below what was minted since the server started".to_owned(),
            Some(lane),
            Some(
                "Put the clock right, restart the server, and reset the ceiling before anything is minted."
                    .to_owned(),
            ),
        );
    }
}

/// A lane that has issued ids of `moment` or later, in words.
fn beyond(moment: Micros) -> Option<String> {
    super::lanes::lanes().find_map(|lane| {
        let layout = lane.layout()?;
        let at = layout.tick_start(lane.last() >> layout.seq.width)?;
        (at >= moment).then(|| {
            let node = lane
                .node()
                .map_or_else(String::new, |node| format!(", node {node}"));
            format!("Layout {layout}{node} has minted at {}.", moment_text(at))
        })
    })
}
