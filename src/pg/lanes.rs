//! Minting with what the server lends: clock, latch, shared memory and settings.

use super::shared::{Shared, shared};
use super::{ceilings, claims, clock, errors, random, session, settings};
use mint_core::mint::Refusal;
use mint_core::{Ceiling, ClockAnchor, Host, Lane, Layout, Lookup, Micros, Run, Slice, mint};
use pgrx::{PgSqlErrorCode, pg_sys};
use std::convert::Infallible;

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
        Lookup::Missing => new_lane(shared, layout, node),
    }
}

#[cold]
fn new_lane(shared: &Shared, layout: &Layout, node: u64) -> &'static Lane {
    shared
        .locked(|table| table.insert(layout, node))
        .unwrap_or_else(|| {
            errors::report(
                PgSqlErrorCode::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED,
                format!("no room for the first lane of layout {layout}"),
                Some("Every slot of the lane table is in use.".to_owned()),
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
