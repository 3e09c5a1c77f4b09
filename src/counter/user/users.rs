//! The users of all families in shared memory, which grows with them.

use crate::counter::settings;
use crate::pg::backend::local::Local;
use crate::pg::error::log_with;
use crate::pg::machine::clock;
use crate::pg::machine::dsm::{Shortage, has_room_for, make_pinned_sparingly, map_slots};
use crate::pg::shmem::rendezvous::Stamp;
use crate::pg::shmem::reservation::MORE;
use crate::pg::shmem::segment::{Memory, NamedSegment};
use crate::statistics;
use mint_core::counter::user_bucket::Bucket;
use mint_core::counter::user_table::{PARTS, TableHead};
use mint_core::{Micros, UserTable};
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

/// The head of the users in shared memory: as long as a bucket, so that no bucket lies on two pages where the segment
/// begins on one.
///
/// - `buckets`: the most buckets. Written before another session sees it.
/// - `parts`: handles of the segments of all parts but the first; 0 until a part is made. Written under the lock.
/// - `refused`: the size of the next part, if there was no memory for it; else 0. Written under the lock.
/// - `pause`: the time by the clock since boot until which no session tries again.
#[repr(C)]
struct UsersHead {
    table: TableHead,
    parts: [AtomicU32; PARTS],
    buckets: AtomicU64,
    refused: AtomicU64,
    pause: AtomicI64,
    rest: [u64; 477],
}

const _: () = assert!(size_of::<UsersHead>() == size_of::<Bucket>());

static STAMP: Stamp = Stamp::new(b'p', 2);
static USERS: NamedSegment<UsersHead, Bucket> =
    NamedSegment::sized_by(&settings::USER_MEMORY, &STAMP, first_part, prepare);

/// Registers the memory. Called once, when the library is loaded.
pub fn init() {
    USERS.register();
}

fn most_buckets() -> usize {
    1 << (settings::USER_MEMORY.count() * 1_024 / size_of::<Bucket>())
        .max(1)
        .ilog2()
}

/// Returns how many buckets the first part has: the other parts are made as they are needed.
fn first_part() -> usize {
    UserTable::<'_, 511>::new(&TableHead::default(), most_buckets()).buckets_of(0)
}

fn prepare(head: &UsersHead, first: &[Bucket]) {
    // Each part is as large as all before it. A first part that is smaller, for want of memory, stays alone.
    let is_whole = first.len() == first_part();
    let most = if is_whole {
        most_buckets()
    } else {
        first.len()
    };
    head.buckets.store(most as u64, Ordering::Relaxed);
}

/// The parts that this process has mapped. Adding a part replaces the table; callers may still use the earlier tables,
/// which are few, so none is ever freed.
static TABLE: Local<Option<&UserTable<'static>>> = Local::new(None);

fn keep(table: UserTable<'static>) -> &'static UserTable<'static> {
    let table: &UserTable<'_> = Box::leak(Box::new(table));
    TABLE.set(Some(table));
    table
}

/// Returns the users of the server, if this process has mapped any.
#[inline]
pub fn mapped_table() -> Option<&'static UserTable<'static>> {
    TABLE.get()
}

/// Returns the users of the server that this process has mapped.
pub fn table() -> &'static UserTable<'static> {
    TABLE.get().unwrap_or_else(|| {
        // An eviction is counted under a lock.
        statistics::map();
        let memory = USERS.memory();
        let buckets = memory.head.buckets.load(Ordering::Relaxed);
        let mut table = UserTable::new(&memory.head.table, buckets as usize);
        table.map(memory.slots);
        keep(table)
    })
}

/// Maps the parts that this process has not mapped yet.
#[cold]
pub fn map_parts() {
    let memory = USERS.memory();
    let mut table = table().clone();
    let handle = |part: usize| {
        let handle = memory.head.parts.get(part)?.load(Ordering::Acquire);
        (handle != 0).then_some(handle)
    };
    while let Some(handle) = handle(table.mapped_parts()) {
        let part = table.mapped_parts();
        table.map(map_slots(handle, table.buckets_of(part)));
    }
    keep(table);
}

/// Returns how many users are in memory, and how many can be.
pub fn used() -> (u64, u64) {
    let buckets = match USERS.if_made() {
        Some(memory) => {
            let buckets = memory.head.buckets.load(Ordering::Relaxed) as usize;
            return UserTable::<'_, 511>::new(&memory.head.table, buckets).used();
        }
        None => most_buckets(),
    };
    UserTable::<'_, 511>::new(&TableHead::default(), buckets).used()
}

/// Returns whether the table can grow: there was memory at the last try, or that was a minute ago.
pub fn may_grow() -> bool {
    clock::up() >= USERS.memory().head.pause.load(Ordering::Relaxed)
}

/// Doubles the buckets in use. No session waits for that: while one does it, others use the table as it is. Returns
/// whether the table can have grown. Without memory the table stays as it is, and the next try is a minute later.
#[cold]
pub fn grow() -> bool {
    const PAUSE: Micros = 60_000_000;
    let memory = USERS.memory();
    let head = memory.head;
    if !may_grow() {
        return false;
    }
    let grown = memory.try_locked(|| {
        map_parts();
        let part = table().in_use();
        if !table().is_crowded() {
            return Ok(());
        }
        if table().mapped_parts() <= part
            && let Some(handle) = head.parts.get(part)
        {
            let size = table().buckets_of(part) * size_of::<Bucket>();
            let made = make_pinned_sparingly(size);
            let refused = if made.is_err() { size as u64 } else { 0 };
            let is_first = head.refused.swap(refused, Ordering::Relaxed) == 0;
            let (made, _) = made.map_err(|shortage| {
                let pause = clock::up() + PAUSE;
                head.pause.store(pause, Ordering::Relaxed);
                (shortage, is_first)
            })?;
            handle.store(made, Ordering::Release);
            map_parts();
        }
        table().grow();
        Ok(())
    });
    if let Some(Err((Shortage(reason), true))) = &grown {
        log_with(
            "could not allocate shared memory for more users of user sequences",
            format!("{}: {reason}.", describe()),
            MORE,
        );
    }
    matches!(grown, Some(Ok(())))
}

/// Returns the memory of users in kB, and how much there can be.
fn allocated() -> (usize, usize) {
    const KB: usize = size_of::<Bucket>() / 1_024;
    let allocated = |memory: &Memory<UsersHead, Bucket>| {
        let most = memory.head.buckets.load(Ordering::Relaxed) as usize;
        let table = UserTable::<'_, 511>::new(&memory.head.table, most);
        let later = memory.head.parts.iter().zip(0..).skip(1);
        let made = later.filter(|(handle, _)| handle.load(Ordering::Relaxed) != 0);
        let later: usize = made.map(|(_, part)| table.buckets_of(part)).sum();
        ((memory.slots.len() + later) * KB, most * KB)
    };
    let made = USERS.if_made().map(allocated);
    made.unwrap_or_else(|| (0, most_buckets() * KB))
}

fn describe() -> String {
    let (allocated, most) = allocated();
    format!("{allocated} kB of the {most} kB for users of user sequences could be allocated")
}

/// Returns a text with the memory of users, if there is no memory for more of them.
pub fn shortage() -> Option<String> {
    let refused = USERS.if_made()?.head.refused.load(Ordering::Relaxed);
    let is_over = has_room_for(refused as usize * 2) == Some(true);
    (refused != 0 && !is_over).then(describe)
}

/// Returns the memory of users beyond the first part, in kB.
pub fn grown_kb() -> usize {
    let first = USERS.if_made().map_or(0, |all| size_of_val(all.slots));
    allocated().0.saturating_sub(first / 1_024)
}
