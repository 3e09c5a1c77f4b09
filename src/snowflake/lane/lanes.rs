//! The lanes of the server, in shared memory.

use crate::pg::backend::local::{Local, LocalOnce};
use crate::pg::catalog::privilege;
use crate::pg::error::report;
use crate::pg::machine::{clock, random};
use crate::pg::shmem::{Memory, NamedSegment, Stamp};
use crate::snowflake::settings;
use mint_core::{
    BUILTINS, ClockAnchor, Lane, LaneTable, Layout, LayoutKey, Lookup, Micros, TableCount,
};
use pgrx::PgSqlErrorCode as Code;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What stands before the lanes in shared memory. All but `count` and `anchor` is written before another session sees it.
#[repr(C, align(64))]
struct Head {
    count: TableCount,
    /// How many lanes nodes may have of their own.
    limit: AtomicU32,
    /// By which the lanes are spread.
    secret: [AtomicU64; 2],
    anchor: ClockAnchor,
}

static STAMP: Stamp = Stamp::new(b'l', 1);
static LANES: NamedSegment<Head, Lane> =
    NamedSegment::with_slots(c"pg_mint lanes", &STAMP, slots, init);

/// Twice as many slots as lanes at least: that keeps probing short, and leaves room for shared lanes.
fn slots() -> usize {
    ((settings::max_lanes() * 2).next_power_of_two() as usize).max(64)
}

fn init(head: &Head, lanes: &[Lane]) {
    let limit = settings::max_lanes().min(lanes.len() as u32 / 2);
    head.limit.store(limit, Ordering::Relaxed);
    for word in &head.secret {
        word.store(random::bits(), Ordering::Relaxed);
    }
    // Users of the built-in layouts must find room, however many lanes others make.
    for builtin in &BUILTINS {
        let _ = table(head, lanes).insert_shared(&builtin.layout, 0);
    }
}

fn table<'a>(head: &'a Head, lanes: &'a [Lane]) -> LaneTable<'a> {
    let secret = [0, 1].map(|word: usize| head.secret[word].load(Ordering::Relaxed));
    let limit = head.limit.load(Ordering::Relaxed);
    LaneTable::new(&head.count, lanes, limit, secret)
}

/// The lanes of the server, as this process sees them.
pub struct Shared {
    memory: &'static Memory<Head, Lane>,
    /// The watch over the clock.
    pub anchor: &'static ClockAnchor,
    table: LaneTable<'static>,
}

#[inline]
pub fn shared() -> &'static Shared {
    static SHARED: LocalOnce<Shared> = LocalOnce::new();
    SHARED.get_or(|| {
        let memory = LANES.memory();
        Shared {
            memory,
            anchor: &memory.head.anchor,
            table: table(memory.head, memory.slots),
        }
    })
}

/// Runs `work` on the table while no lane is made.
pub fn locked<T>(work: impl FnOnce(&LaneTable<'static>) -> T) -> T {
    let shared = shared();
    shared.memory.locked(|| work(&shared.table))
}

/// The lane of a node, made if there is none.
#[inline]
pub fn lane(shared: &Shared, layout: &Layout, node: u64) -> &'static Lane {
    match shared.table.find(layout, node) {
        Lookup::Found(lane) => lane,
        _ => shared_lane(shared, layout, node),
    }
}

/// A node that was found to share a lane, for good.
#[derive(Clone, Copy)]
struct Sharer {
    layout: LayoutKey,
    node: u64,
    lane: &'static Lane,
}

/// Direct-mapped by the node.
static SHARERS: [Local<Option<Sharer>>; 64] = [const { Local::new(None) }; 64];

/// The lane of a node that has, or had until now, none of its own.
#[inline(never)]
fn shared_lane(shared: &Shared, layout: &Layout, node: u64) -> &'static Lane {
    let known = &SHARERS[(node ^ layout.key().spread()) as usize % SHARERS.len()];
    if let Some(sharer) = known.get()
        && (sharer.layout, sharer.node) == (layout.key(), node)
    {
        return sharer.lane;
    }
    let Lookup::Found(lane) = shared.table.find_shared(layout, node) else {
        return new_lane(shared, layout, node);
    };
    known.set(Some(Sharer {
        layout: layout.key(),
        node,
        lane,
    }));
    lane
}

#[cold]
fn new_lane(shared: &Shared, layout: &Layout, node: u64) -> &'static Lane {
    // A role can make many databases, but no roles.
    let maker = privilege::session_user();
    locked(|table| table.insert(layout, node, maker)).unwrap_or_else(|| {
        let (all, share) = shared.table.shares();
        report(Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED, format!("no room for the first lane of layout {layout}")).detail(format!(
                "All lanes of single nodes are in use, and so are the lanes that further layouts can have: half of {all} for all roles, and {share} for this one."
            )).hint("Raise pg_mint.max_lanes and restart the server.").raise()
    })
}

/// Believes the clock as it stands, and says by how much it had jumped.
pub fn accept_clock() -> Micros {
    shared().anchor.accept(clock::now(), clock::up())
}

/// Every lane from which an id was minted.
pub fn lanes() -> impl Iterator<Item = &'static Lane> {
    shared().table.lanes().filter(|lane| lane.last() != 0)
}
