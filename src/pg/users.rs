//! Families of user sequences: which sections they have, and the numbers of their users.
//!
//! A family is a table without rows. Each of its columns is an identity, whose sequence is a section: so a
//! family is created, renamed, dropped, dumped and restored as any table, its sequences with it.

use super::errors::report;
use super::sections::{self, Place};
use super::segment_session::refuse_in_recovery;
use super::shmem::{Idea, Stamp, make_pinned, map};
use super::{clock, rights, settings, watch};
use mint_core::users::{Bucket, PARTS, TableHead, hash, section_of};
use mint_core::{Held, Micros, UserTable};
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char};
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

/// What a session knows of a family.
struct Known {
    family: pg_sys::Oid,
    /// Who was found to have the privilege to draw; nobody when that must be asked again.
    user: pg_sys::Oid,
    /// Who was found to have the one to look.
    reader: pg_sys::Oid,
    /// The sequence of each section, and where it is, once that was needed.
    sections: Vec<(pg_sys::Oid, Option<Place>)>,
}

static mut NOBODY: Known = Known {
    family: pg_sys::InvalidOid,
    user: pg_sys::InvalidOid,
    reader: pg_sys::InvalidOid,
    sections: Vec::new(),
};

/// Every family that the session has used. Boxed, so that they stay where they are.
static mut KNOWN: BTreeMap<u32, Box<Known>> = BTreeMap::new();

/// The one of the call before, which most often is the next one's as well.
static mut RECENT: *mut Known = &raw mut NOBODY;

static mut TABLE: Option<UserTable<'static>> = None;

/// The next `want` numbers of a user: the first of them.
#[inline]
pub fn next(family: pg_sys::Oid, id: i64, want: u64) -> i64 {
    // SAFETY: a backend is one thread, and RECENT points to what is never freed.
    let known = unsafe { &*RECENT };
    // SAFETY: as above; TABLE is written once, by `make_table`, before it is lent.
    if let Some(table) = unsafe { &*ptr::addr_of!(TABLE) }
        && known.family == family
        && known.user == rights::user()
        && let Some((_, Some(place))) = known.sections.get(section_of(id, known.sections.len()))
        && let Ok(first) = table.draw(place.section(), place.owner, id, want, sections::evicted)
    {
        return first;
    }
    draw(family, id, want)
}

#[cold]
fn draw(family: pg_sys::Oid, id: i64, want: u64) -> i64 {
    let mut can_grow = true;
    loop {
        let (sequence, place) = place(family, id, pg_sys::ACL_INSERT);
        let (section, owner) = (place.section(), place.owner);
        let drawn = if can_grow {
            table().draw(section, owner, id, want, sections::evicted)
        } else {
            table().draw_or_evict(section, owner, id, want, sections::evicted)
        };
        match drawn {
            Ok(first) => return first,
            Err(Held::Beyond(beyond)) => sections::raise(sequence, beyond),
            Err(Held::NotMine) => forget(sequence),
            Err(Held::Crowded) => can_grow = grow(),
            Err(Held::Unmapped) => map_parts(),
            Err(Held::UsedUp) => report(
                Code::ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
                format!("user {id} has no {want} numbers left"),
                None,
                None,
            ),
        }
        pgrx::check_for_interrupts!();
    }
}

/// The number that a user got last, or may have got at most.
pub fn current(family: pg_sys::Oid, id: i64) -> i64 {
    let any_of = pg_sys::ACL_INSERT | pg_sys::ACL_SELECT;
    // SAFETY: a call without preconditions.
    if unsafe { pg_sys::RecoveryInProgress() } {
        // Users are in the memory of the primary. What each of them is below came with the log.
        let (_, (sequence, _)) = section(family, id, any_of);
        return sections::beyond_all(sequence);
    }
    loop {
        let (sequence, place) = place(family, id, any_of);
        match table().current(place.section(), place.owner, id) {
            Ok(number) => return number,
            Err(Held::Unmapped) => map_parts(),
            Err(_) => forget(sequence),
        }
    }
}

/// Waits for the transactions that drew for these users to end, and keeps others from drawing until this one
/// does. Only those that ask for the locks. Nothing is locked for who may not draw.
///
/// The family's oid is in the lock as it is, so users of two families never share one. Two of a family do with a
/// probability of 2^-32, which costs a wait; whoever looks for such a pair on purpose may lock either of them anyway.
/// So the hash needs no secret.
pub fn lock(family: pg_sys::Oid, ids: &[i64]) {
    // The server's own advisory locks have 1 and 2 there: ours meet nobody's.
    const OWN_SPACE: u16 = 0x6d74;
    refuse_in_recovery();
    demand(family, pg_sys::ACL_INSERT);
    // In the order of locks, not of users: so two who lock several of them cannot wait for each other.
    let mut keys: Vec<u32> = ids.iter().map(|&id| (hash(id) >> 32) as u32).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        // SAFETY: takes a lock for the transaction, or raises an error.
        unsafe {
            let tag = pg_sys::LOCKTAG {
                locktag_field1: pg_sys::MyDatabaseId.to_u32(),
                locktag_field2: family.to_u32(),
                locktag_field3: key,
                locktag_field4: OWN_SPACE,
                locktag_type: pg_sys::LockTagType::LOCKTAG_ADVISORY as u8,
                locktag_lockmethodid: pg_sys::USER_LOCKMETHOD as u8,
            };
            let mode = pg_sys::ExclusiveLock.cast_signed();
            pg_sys::LockAcquire(&raw const tag, mode, false, false);
        }
    }
}

/// Called when a relation or what privileges depend on has changed; without an oid, when any may have.
pub fn forget(relation: pg_sys::Oid) {
    // SAFETY: a backend is one thread, and this is called between its steps, not within one.
    for known in unsafe { &mut *ptr::addr_of_mut!(KNOWN) }.values_mut() {
        if relation == pg_sys::InvalidOid || known.family == relation {
            known.user = pg_sys::InvalidOid;
            known.reader = pg_sys::InvalidOid;
        }
        for (sequence, place) in &mut known.sections {
            if relation == pg_sys::InvalidOid || *sequence == relation {
                *place = None;
            }
        }
    }
}

/// Raises an error unless this session's user has any of these privileges on the family.
fn demand(family: pg_sys::Oid, any_of: u32) {
    watch::begin();
    let may = known(family).is_some_and(|known| {
        known.user == rights::user()
            || any_of != pg_sys::ACL_INSERT && known.reader == rights::user()
    });
    if !may {
        resolve(family, any_of);
    }
}

/// What the session knows of a family.
fn known(family: pg_sys::Oid) -> Option<&'static mut Box<Known>> {
    // SAFETY: a backend is one thread. Who is lent it calls nothing that lends it again.
    unsafe { (*ptr::addr_of_mut!(KNOWN)).get_mut(&family.to_u32()) }
}

/// Which section a user is of, the sequence of that, and where it is if that is known, if this session's user may.
fn section(family: pg_sys::Oid, id: i64, any_of: u32) -> (usize, (pg_sys::Oid, Option<Place>)) {
    demand(family, any_of);
    let section = known(family).and_then(|known| {
        let index = section_of(id, known.sections.len());
        // SAFETY: a backend is one thread.
        unsafe { RECENT = &raw mut **known };
        Some((index, *known.sections.get(index)?))
    });
    section.unwrap_or_else(|| refuse_family(family))
}

/// The sequence of a user's section, and where that is, if this session's user may.
fn place(family: pg_sys::Oid, id: i64, any_of: u32) -> (pg_sys::Oid, Place) {
    refuse_in_recovery();
    let (index, (sequence, place)) = section(family, id, any_of);
    let place = place.unwrap_or_else(|| sections::find(sequence));
    // Opening the sequence may have brought word of changes.
    if let Some(known) = known(family)
        && let Some(section) = known.sections.get_mut(index)
        && section.0 == sequence
    {
        section.1 = Some(place);
    }
    (sequence, place)
}

#[cold]
fn refuse_family(family: pg_sys::Oid) -> ! {
    report(
        Code::ERRCODE_UNDEFINED_TABLE,
        format!("relation with OID {family} does not exist"),
        None,
        None,
    )
}

/// Finds the sequences of a family's sections, if the user has any of these privileges on it.
fn resolve(family: pg_sys::Oid, any_of: u32) {
    let sections = sections_of(family, any_of);
    // SAFETY: a backend is one thread, and nothing of KNOWN is lent while it changes.
    let known = unsafe { &mut *ptr::addr_of_mut!(KNOWN) };
    let known = known.entry(family.to_u32()).or_insert_with(|| {
        Box::new(Known {
            family,
            user: pg_sys::InvalidOid,
            reader: pg_sys::InvalidOid,
            sections: Vec::new(),
        })
    });
    if !known
        .sections
        .iter()
        .map(|section| &section.0)
        .eq(&sections)
    {
        known.sections = sections.iter().map(|&oid| (oid, None)).collect();
    }
    known.reader = rights::user();
    if any_of == pg_sys::ACL_INSERT {
        known.user = known.reader;
    }
}

/// Raises an error unless it is a family.
pub fn demand_family(family: pg_sys::Oid) {
    look_up(family);
}

fn sections_of(family: pg_sys::Oid, any_of: u32) -> Vec<pg_sys::Oid> {
    let (name, sections) = look_up(family);
    rights::demand(family, &name, any_of, pg_sys::ObjectType::OBJECT_TABLE);
    sections
}

/// A family's name and the sequences of its sections.
fn look_up(family: pg_sys::Oid) -> (String, Vec<pg_sys::Oid>) {
    // SAFETY: lookups in the catalogs, inside a transaction, as every call of a function is. What they
    // return is a copy, in memory of the statement.
    unsafe {
        let name = pg_sys::get_rel_name(family);
        if name.is_null() {
            refuse_family(family);
        }
        let name = super::charset::decode_c(name);
        // In the order of the columns, as the index that is read has them.
        let list = pg_sys::getOwnedSequences(family);
        let length = if list.is_null() { 0 } else { (*list).length };
        let first = pg_sys::get_attname(family, 1, true);
        let further = pg_sys::get_attname(family, length as i16 + 1, true);
        // One that was dropped keeps its place, under such a name.
        let is_gone = |name| {
            CStr::from_ptr(name)
                .to_bytes()
                .starts_with(b"........pg.dropped.")
        };
        if length == 0
            || first.is_null()
            || CStr::from_ptr(first) != FIRST_COLUMN
            || !(further.is_null() || is_gone(further))
        {
            report(
                Code::ERRCODE_WRONG_OBJECT_TYPE,
                format!("\"{name}\" is not a family of user sequences"),
                None,
                Some("Make one with user_sequence_create().".to_owned()),
            );
        }
        // Over other sections users would be spread anew, and get their numbers again.
        if !has_its_sections(family, length) {
            report(
                Code::ERRCODE_WRONG_OBJECT_TYPE,
                format!("the sections of \"{name}\" were altered"),
                Some("Its users would get numbers again.".to_owned()),
                Some("Drop the columns that were added.".to_owned()),
            );
        }
        let cells = std::slice::from_raw_parts((*list).elements, length.unsigned_abs() as usize);
        (name, cells.iter().map(|cell| cell.oid_value).collect())
    }
}

// catalog/pg_constraint.h, which pgrx does not bind.
unsafe extern "C-unwind" {
    fn get_relation_constraint_oid(
        relation: pg_sys::Oid,
        name: *const c_char,
        missing_ok: bool,
    ) -> pg_sys::Oid;
}

/// Whether a family has the sections that it was made with, as the name of its constraint and those of its columns say.
fn has_its_sections(family: pg_sys::Oid, sections: i32) -> bool {
    let recorded = CString::new(format!("no_rows_in_{sections}_sections")).unwrap_or_default();
    // SAFETY: lookups in the catalogs, inside a transaction; a name is a copy with a zero byte at its end.
    unsafe {
        let constraint = pg_sys::ffi::pg_guard_ffi_boundary(|| {
            get_relation_constraint_oid(family, recorded.as_ptr(), true)
        });
        constraint != pg_sys::InvalidOid
            && (0..sections).all(|section| {
                let name = pg_sys::get_attname(family, section as i16 + 1, true);
                !name.is_null()
                    && CStr::from_ptr(name).to_bytes() == format!("section_{section}").as_bytes()
            })
    }
}

/// By which a family is told from other tables.
const FIRST_COLUMN: &CStr = c"section_0";

/// What stands before the users in shared memory: on a page of its own, so that no bucket lies on two.
///
/// - `buckets`: how many there may be. Written before anybody sees it.
/// - `parts`: handles of the segments of all parts but the first; 0 until one is made. Written under the lock.
/// - `pause`: until when no part is made, as there was no memory for one.
#[repr(C, align(4096))]
struct Head {
    table: TableHead,
    parts: [AtomicU32; PARTS],
    buckets: AtomicU64,
    pause: AtomicI64,
}

static STAMP: Stamp = Stamp::new(b'p', 1);
static USERS: Idea<Head, Bucket> = Idea::with_slots(c"pg_mint users", &STAMP, first_part, init);

fn most_buckets() -> usize {
    1 << (settings::user_memory() / size_of::<Bucket>())
        .max(1)
        .ilog2()
}

/// How many buckets the first part has: the others are made as they are needed.
fn first_part() -> usize {
    UserTable::<'_, 511>::new(&TableHead::default(), most_buckets()).buckets_of(0)
}

fn init(head: &Head, _: &[Bucket]) {
    head.buckets.store(most_buckets() as u64, Ordering::Relaxed);
}

/// The users of the server, as far as this process has mapped them.
fn table() -> &'static UserTable<'static> {
    // SAFETY: a backend is one thread; written here and by `map_parts`, while nothing of it is lent.
    let table = unsafe { &mut *ptr::addr_of_mut!(TABLE) };
    table.get_or_insert_with(|| {
        let memory = USERS.memory();
        let buckets = memory.head.buckets.load(Ordering::Relaxed);
        let mut table = UserTable::new(&memory.head.table, buckets as usize);
        table.map(memory.slots);
        table
    })
}

/// Maps all parts that were made since.
#[cold]
fn map_parts() {
    let memory = USERS.memory();
    table();
    // SAFETY: as in `table`.
    let Some(table) = (unsafe { &mut *ptr::addr_of_mut!(TABLE) }) else {
        return;
    };
    loop {
        let part = table.mapped();
        let handle = memory
            .head
            .parts
            .get(part)
            .map(|handle| handle.load(Ordering::Acquire));
        let Some(handle @ 1..) = handle else {
            return;
        };
        // SAFETY: a segment of so many buckets, which stays mapped for the life of this process; what changes in it is
        // atomic.
        table.map(unsafe {
            slice::from_raw_parts(map(handle).cast::<Bucket>(), table.buckets_of(part))
        });
    }
}

/// Brings twice as many buckets into use. Nobody waits for that: as long as one session makes room, others do with what
/// there is. Returns whether it was done, by whichever session.
#[cold]
fn grow() -> bool {
    const PAUSE: Micros = 60_000_000;
    let memory = USERS.memory();
    if clock::up() < memory.head.pause.load(Ordering::Relaxed) {
        return false;
    }
    let done = memory.try_locked(|| {
        map_parts();
        let part = table().in_use();
        if !table().is_crowded() {
            return;
        }
        if table().mapped() <= part
            && let Some(handle) = memory.head.parts.get(part)
        {
            // If there is no memory for it, that is this statement's error, and the next try is later.
            let pause = clock::up() + PAUSE;
            memory.head.pause.store(pause, Ordering::Relaxed);
            let (made, _) = make_pinned(table().buckets_of(part) * size_of::<Bucket>());
            memory.head.pause.store(0, Ordering::Relaxed);
            handle.store(made, Ordering::Release);
            map_parts();
        }
        table().grow();
    });
    done.is_some()
}
