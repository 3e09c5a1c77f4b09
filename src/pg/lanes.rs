//! Minting with what the server lends: clock, latch, shared memory and settings.

use super::local::{Local, Once};
use super::shmem::{Idea, Memory, Stamp};
use super::{catalog, ceilings, claims, clock, errors, random, session, settings};
use mint_core::mint::Refusal;
use mint_core::{
    BUILTINS, Ceiling, ClockAnchor, Host, Lane, LaneTable, Layout, LayoutKey, Lookup, Micros, Run,
    Slice, TableCount, mint,
};
use pgrx::{PgSqlErrorCode, pg_sys};
use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What stands before the lanes in shared memory. All but `count` and `anchor` is written before anybody sees it.
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
static LANES: Idea<Head, Lane> = Idea::with_slots(c"pg_mint lanes", &STAMP, slots, init);

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
struct Shared {
    memory: &'static Memory<Head, Lane>,
    anchor: &'static ClockAnchor,
    table: LaneTable<'static>,
}

#[inline]
fn shared() -> &'static Shared {
    static SHARED: Once<Shared> = Once::new();
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

/// The world as a backend sees it. Interrupts leave by PostgreSQL's own errors.
struct Backend {
    anchor: &'static ClockAnchor,
    slice: Option<&'static Slice>,
    /// Width and number of the node.
    node: (u32, u64),
}

impl Host for Backend {
    type Interrupt = Infallible;

    #[inline]
    fn now(&mut self) -> Micros {
        clock::now()
    }

    fn up(&mut self) -> Micros {
        clock::up()
    }

    fn anchor(&self) -> &ClockAnchor {
        self.anchor
    }

    fn pause(&mut self, span: Micros) -> Result<(), Infallible> {
        clock::pause(span);
        Ok(())
    }

    fn random(&mut self) -> u64 {
        random::bits()
    }

    fn stepped_back(&mut self, _: Micros) {
        self.watch_steps();
    }

    #[inline]
    fn ceiling(&self) -> &Ceiling {
        ceilings::current()
    }

    fn raise(&mut self, beyond: Micros) -> Result<(), Infallible> {
        self.watch_steps();
        ceilings::raise(beyond);
        Ok(())
    }

    #[inline]
    fn slice(&self) -> Option<&Slice> {
        self.slice
    }

    fn renew(&mut self) -> Result<(), Infallible> {
        if let Some(slice) = self.slice {
            self.slice = Some(claims::renew(slice, self.node));
        }
        Ok(())
    }
}

impl Backend {
    /// Logs what the clock did, once for the whole server.
    fn watch_steps(&self) {
        if let Some(by) = self.anchor.step(clock::now(), clock::up()) {
            errors::log_step(by);
        }
    }
}

/// Mints one id.
#[inline(always)]
pub fn next_id(layout: &Layout, node: u64) -> i64 {
    let shared = ready();
    let lane = lane(shared, layout, node);
    let word = match settings::reserve() {
        ..=1 => run(shared, lane, layout, node, 1).first,
        reserve => reserved(shared, lane, layout, node, reserve),
    };
    let id = layout.id(node, word);
    session::set_last_id(id);
    id
}

/// Mints up to `want` ids in one swap.
pub fn next_run(layout: &Layout, node: u64, want: u64) -> Run {
    let shared = ready();
    let lane = lane(shared, layout, node);
    // What the session has reserved lies below the run: issued later, it would be out of order.
    *session::reservation(lane) = None;
    let run = run(shared, lane, layout, node, want);
    session::set_last_id(layout.id(node, run.first + (run.count - 1)));
    run
}

/// Recovery is over, as this process saw it. It does not come back while the process lives.
static mut RECOVERED: bool = false;

/// The shared memory, unless the server is in recovery, where ids would repeat the primary's.
#[inline(always)]
fn ready() -> &'static Shared {
    // SAFETY: a backend is one thread.
    if unsafe { !RECOVERED } {
        // SAFETY: a call without preconditions. Asked once, because pgrx guards each call of the
        // server against its errors, which costs as much as an id.
        if unsafe { pg_sys::RecoveryInProgress() } {
            refuse_in_recovery();
        }
        // SAFETY: as above.
        unsafe { RECOVERED = true };
    }
    shared()
}

#[cold]
pub fn refuse_in_recovery() -> ! {
    errors::report(
        PgSqlErrorCode::ERRCODE_READ_ONLY_SQL_TRANSACTION,
        "cannot mint ids during recovery".to_owned(),
        Some("The primary may be minting the same ids.".to_owned()),
        Some("Mint on the primary, or promote this server.".to_owned()),
    )
}

#[inline]
fn lane(shared: &Shared, layout: &Layout, node: u64) -> &'static Lane {
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
    let maker = catalog::database();
    locked(|table| table.insert(layout, node, maker)).unwrap_or_else(|| {
        let (all, share) = shared.table.shares();
        errors::report(
            PgSqlErrorCode::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
            format!("no room for the first lane of layout {layout}"),
            Some(format!(
                "All lanes of single nodes are in use, and so are the lanes that further layouts can have: half of {all} for all databases, and {share} for this one."
            )),
            Some("Raise pg_mint.max_lanes and restart the server.".to_owned()),
        )
    })
}

// Always: with one id wanted, the half about runs of many falls away.
#[inline(always)]
fn run(shared: &Shared, lane: &Lane, layout: &Layout, node: u64, want: u64) -> Run {
    let policy = settings::policy();
    let mut host = Backend {
        anchor: shared.anchor,
        slice: claims::slice(layout, node),
        node: (layout.node.width, node),
    };
    match mint(lane, layout, want, &policy, &mut host) {
        Ok(run) => run,
        Err(Refusal::Refused(error)) => errors::refuse(&error, layout, node, policy.max_ahead),
        Err(Refusal::Interrupted(never)) => match never {},
    }
}

/// The next id of the session's reservation. Leftovers are dropped when their tick is past, or when
/// another layout of this lane, with more bits of time, took them beyond this one's end.
fn reserved(shared: &Shared, lane: &'static Lane, layout: &Layout, node: u64, reserve: u64) -> u64 {
    let current = session::reservation(lane)
        .map(|(_, run)| run)
        .filter(|left| {
            let tick = left.first >> layout.seq.width;
            let start = layout.tick_start(tick);
            tick <= layout.max_tick()
                && start.is_some_and(|at| clock::now().saturating_sub(at) < layout.unit())
        });
    let Run { first, count } = current.unwrap_or_else(|| run(shared, lane, layout, node, reserve));
    let left = (count > 1).then_some((
        lane,
        Run {
            first: first + 1,
            count: count - 1,
        },
    ));
    *session::reservation(lane) = left;
    first
}

/// Believes the clock as it stands, and says by how much it had jumped.
pub fn accept_clock() -> Micros {
    shared().anchor.accept(clock::now(), clock::up())
}

/// Every lane from which an id was minted.
pub fn lanes() -> impl Iterator<Item = &'static Lane> {
    shared().table.lanes().filter(|lane| lane.last() != 0)
}

/// How far a lane is ahead of the clock; negative when behind.
pub fn ahead(at: Micros) -> Micros {
    at.saturating_sub(clock::now())
}

/// Whether the layout's last id is past.
pub fn expired(layout: &Layout) -> bool {
    layout.end().is_some_and(|end| end <= clock::now())
}
