//! The users of all families in shared memory, which grows with them.

use crate::counter::settings;
use crate::pg::backend::local::Local;
use crate::pg::machine::clock;
use crate::pg::machine::dsm::{make_pinned, map_slots};
use crate::pg::shmem::{NamedSegment, Stamp};
use crate::pg::size_setting;
use crate::statistics;
use mint_core::counter::user_bucket::Bucket;
use mint_core::counter::user_table::{PARTS, TableHead};
use mint_core::{Micros, UserTable};
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

/// The head of the users in shared memory: a page of its own, so that no bucket lies on two pages.
///
/// - `buckets`: the most buckets. Written before another session sees it.
/// - `parts`: handles of the segments of all parts but the first; 0 until a part is made. Written under the lock.
/// - `pause`: the time by the clock since boot until which no part is made, as there was no memory for one.
#[repr(C, align(4096))]
struct Head {
    table: TableHead,
    parts: [AtomicU32; PARTS],
    buckets: AtomicU64,
    pause: AtomicI64,
}

static STAMP: Stamp = Stamp::new(b'p', 1);
static USERS: NamedSegment<Head, Bucket> = NamedSegment::sized_by(
    size_setting::value::<settings::UserMemory>,
    settings::USERS,
    &STAMP,
    first_part,
    prepare,
);

fn most_buckets() -> usize {
    1 << (settings::user_memory() / size_of::<Bucket>())
        .max(1)
        .ilog2()
}

/// Returns how many buckets the first part has: the other parts are made as they are needed.
fn first_part() -> usize {
    UserTable::<'_, 511>::new(&TableHead::default(), most_buckets()).buckets_of(0)
}

fn prepare(head: &Head, _: &[Bucket]) {
    head.buckets.store(most_buckets() as u64, Ordering::Relaxed);
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
pub fn mapped() -> Option<&'static UserTable<'static>> {
    TABLE.get()
}

/// Returns the users of the server, as far as this process has mapped them.
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
    while let Some(handle) = handle(table.mapped()) {
        let part = table.mapped();
        table.map(map_slots(handle, table.buckets_of(part)));
    }
    keep(table);
}

/// Returns how many users are in memory, and how many can be.
pub fn used() -> (u64, u64) {
    let buckets = match USERS.made() {
        Some(memory) => {
            let buckets = memory.head.buckets.load(Ordering::Relaxed) as usize;
            return UserTable::<'_, 511>::new(&memory.head.table, buckets).used();
        }
        None => most_buckets(),
    };
    UserTable::<'_, 511>::new(&TableHead::default(), buckets).used()
}

/// Doubles the buckets in use. No session waits for that: while one session does it, others use the table as it is.
/// Returns whether the table may have grown.
#[cold]
pub fn grow() -> bool {
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
            // Without memory this statement fails, and the next try is a minute later.
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
