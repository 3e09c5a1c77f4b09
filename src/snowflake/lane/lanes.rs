//! The lanes of the server, in shared memory.

use crate::pg::backend::local::{Local, LocalOnce};
use crate::pg::catalog::privilege;
use crate::pg::error::report;
use crate::pg::machine::{clock, random};
use crate::pg::shmem::rendezvous::Stamp;
use crate::pg::shmem::segment::{Memory, NamedSegment};
use crate::snowflake::settings;
use mint_core::{
    BUILTINS, ClockAnchor, Lane, LaneTable, Layout, LayoutKey, Lookup, Micros, TableCount,
};
use pgrx::PgSqlErrorCode as Code;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The head of the segment of lanes. Only `count`, `start_generation` and `anchor` change after sessions can see it.
#[repr(C, align(64))]
struct Head {
    count: TableCount,
    /// The most lanes of single shards.
    limit: AtomicU32,
    /// The keys of the hash function.
    secret: [AtomicU64; 2],
    /// The number of times that a lane was started above an id.
    start_generation: AtomicU64,
    anchor: ClockAnchor,
}

static STAMP: Stamp = Stamp::new(b'l', 2);
static LANES: NamedSegment<Head, Lane> =
    NamedSegment::sized_by(&settings::MAX_LANES, &STAMP, slots, prepare);

/// Registers the memory. Called once, when the library is loaded.
pub fn init() {
    LANES.register();
}

/// Returns at least twice as many slots as lanes, which keeps probing short, and leaves room for shared lanes.
fn slots() -> usize {
    ((settings::max_lanes() * 2).next_power_of_two() as usize).max(64)
}

fn prepare(head: &Head, lanes: &[Lane]) {
    let limit = settings::max_lanes().min(lanes.len() as u32 / 2);
    head.limit.store(limit, Ordering::Relaxed);
    for word in &head.secret {
        word.store(random::bits(), Ordering::Relaxed);
    }
    // The built-in layouts must find room, even with many lanes of others.
    for builtin in &BUILTINS {
        let _ = table(head, lanes).insert_shared(&builtin.layout, 0);
    }
}

fn table<'a>(head: &'a Head, lanes: &'a [Lane]) -> LaneTable<'a> {
    let secret = [0, 1].map(|word: usize| head.secret[word].load(Ordering::Relaxed));
    let limit = head.limit.load(Ordering::Relaxed);
    LaneTable::new(&head.count, lanes, limit, secret)
}

/// The lanes of the server, as mapped by this process.
pub struct Shared {
    memory: &'static Memory<Head, Lane>,
    /// The state that detects steps of the clock.
    pub anchor: &'static ClockAnchor,
    /// The number of times that a lane was started above an id. Ids that were taken before it rose are dropped.
    pub start_generation: &'static AtomicU64,
    table: LaneTable<'static>,
}

/// Returns the lanes. The first call of this process maps them.
#[inline]
pub fn shared() -> &'static Shared {
    static SHARED: LocalOnce<Shared> = LocalOnce::new();
    SHARED.get_or(|| {
        let memory = LANES.memory();
        Shared {
            memory,
            anchor: &memory.head.anchor,
            start_generation: &memory.head.start_generation,
            table: table(memory.head, memory.slots),
        }
    })
}

/// Runs `work` on the table under its lock: no other session makes a lane meanwhile.
pub fn locked<T>(work: impl FnOnce(&LaneTable<'static>) -> T) -> T {
    let shared = shared();
    shared.memory.locked(|| work(&shared.table))
}

/// Returns the lane of a shard, and makes it if there is none.
#[inline]
pub fn lane(shared: &Shared, layout: &Layout, shard: u64) -> &'static Lane {
    match shared.table.find(layout, shard) {
        Lookup::Found(lane) => lane,
        _ => shared_lane(shared, layout, shard),
    }
}

/// A shard with a shared lane, which it keeps.
#[derive(Clone, Copy)]
struct Sharer {
    layout: LayoutKey,
    shard: u64,
    lane: &'static Lane,
}

/// The sharers, direct-mapped by the shard.
static SHARERS: [Local<Option<Sharer>>; 64] = [const { Local::new(None) }; 64];

/// Returns the lane of a shard without a lane of its own, and makes one if there is room.
#[inline(never)]
fn shared_lane(shared: &Shared, layout: &Layout, shard: u64) -> &'static Lane {
    let entry = &SHARERS[(shard ^ layout.key().spread()) as usize % SHARERS.len()];
    if let Some(sharer) = entry.get()
        && (sharer.layout, sharer.shard) == (layout.key(), shard)
    {
        return sharer.lane;
    }
    let Lookup::Found(lane) = shared.table.find_shared(layout, shard) else {
        return new_lane(shared, layout, shard);
    };
    entry.set(Some(Sharer {
        layout: layout.key(),
        shard,
        lane,
    }));
    lane
}

#[cold]
fn new_lane(shared: &Shared, layout: &Layout, shard: u64) -> &'static Lane {
    // Lanes are counted by role: a role may create many databases, but no roles.
    let maker = privilege::session_user().to_u32();
    locked(|table| table.insert(layout, shard, maker)).unwrap_or_else(|| {
        let (_, share) = shared.table.shares();
        report(
            Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
            format!("could not find free lane for layout \"{layout}\""),
        )
        .detail(format!(
            "All lanes are in use, including those that custom layouts share and the {share} reserved for this role."
        ))
        .hint("Increase \"pg_mint.max_lanes\" and restart the server.")
        .raise()
    })
}

/// Accepts the current clock, and returns how far it jumped.
pub fn accept_clock() -> Micros {
    shared().anchor.accept(clock::now(), clock::up())
}

/// Returns by how much the clock has run ahead of the trusted one, if a session has made the memory.
pub fn surplus() -> Option<Micros> {
    let memory = LANES.if_made()?;
    memory.head.anchor.surplus(clock::now(), clock::up())
}

/// Returns the lanes from which ids were minted, if a session has made the memory.
pub fn made_lanes() -> impl Iterator<Item = &'static Lane> {
    let memory = LANES.if_made();
    let lanes = memory.map_or(&[][..], |memory| memory.slots);
    lanes.iter().filter(|lane| lane.last() != 0)
}

/// Returns how many shards have a lane, and how many can.
pub fn used() -> (u32, u32) {
    match LANES.if_made() {
        Some(memory) => table(memory.head, memory.slots).used(),
        None => (0, settings::max_lanes()),
    }
}

/// Returns the lanes from which ids were minted.
pub fn lanes() -> impl Iterator<Item = &'static Lane> {
    shared().table.lanes().filter(|lane| lane.last() != 0)
}

/// Returns these lanes, each with its layout and the start of the tick of its last id.
pub fn issued_lanes() -> impl Iterator<Item = (&'static Lane, Layout, Micros)> {
    lanes().filter_map(|lane| {
        let layout = lane.layout()?;
        let at = layout.tick_start(lane.last() >> layout.seq.width)?;
        Some((lane, layout, at))
    })
}
