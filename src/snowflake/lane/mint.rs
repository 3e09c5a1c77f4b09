//! Minting with the clock, latch, shared memory and settings of the server.

use crate::pg::backend::recovery;
use crate::pg::catalog::privilege;
use crate::pg::machine::{clock, random};
use crate::snowflake::error::{IN_RECOVERY, log_step, refuse};
use crate::snowflake::lane::lanes::Shared;
use crate::snowflake::lane::open_ticks::Key;
use crate::snowflake::lane::{ceiling, lanes, open_ticks, session};
use crate::snowflake::layout::cache::Parsed;
use crate::snowflake::node::grantor;
use crate::snowflake::settings;
use crate::statistics::{self, Count, Wait};
use mint_core::snowflake::mint::Refusal;
use mint_core::{
    Ceiling, ClockAnchor, Host, Lane, Layout, Lease, Micros, OpenTick, Policy, Run, WaitCause,
    mint, mint_at_once, mint_fitting, start_above,
};
use pgrx::check_for_interrupts;
use std::convert::Infallible;
use std::sync::atomic::Ordering;

/// The host of the algorithm in a backend. An interrupt is an error of PostgreSQL's own.
struct Backend {
    anchor: &'static ClockAnchor,
    lease: Option<&'static Lease>,
    /// The width and the number of the shard.
    shard: (u32, u64),
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

    fn pause(&mut self, wait: mint_core::Wait) -> Result<(), Infallible> {
        let cause = match wait.cause {
            WaitCause::Capacity => Wait::Capacity,
            WaitCause::Clock => Wait::Clock,
            WaitCause::Ceiling => Wait::Ceiling,
            WaitCause::Lease => Wait::Lease,
        };
        let _waiting = cause.begin(wait.is_first);
        clock::pause(wait.span, cause.event());
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
        ceiling::current()
    }

    fn raise(&mut self, beyond: Micros) -> Result<(), Infallible> {
        self.watch_steps();
        ceiling::raise(beyond);
        Ok(())
    }

    #[inline]
    fn lease(&self) -> Option<&Lease> {
        self.lease
    }

    fn renew(&mut self, is_first: bool) -> Result<(), Infallible> {
        if let Some(lease) = self.lease {
            let _waiting = Wait::Lease.begin(is_first);
            self.lease = Some(grantor::renew(lease, self.shard));
        }
        Ok(())
    }
}

impl Backend {
    #[inline(always)]
    fn new(shared: &Shared, layout: &Layout, shard: u64) -> Self {
        Self {
            anchor: shared.anchor,
            lease: grantor::lease(layout, shard),
            shard: (layout.shard.width, shard),
        }
    }

    /// Logs a step of the clock, once for the whole server.
    fn watch_steps(&self) {
        if let Some(by) = self.anchor.step(clock::now(), clock::up()) {
            let count = if by < 0 {
                Count::ClockStepsBack
            } else {
                Count::ClockStepsForward
            };
            statistics::add(count, 1);
            log_step(by);
        }
    }
}

/// Mints one id, and keeps its tick for [`open_ticks::next`]. `generation` is that of [`grantor`] from before the shard
/// was looked up.
pub fn next_id(layout: &Parsed, key: Key, shard: u64, generation: u32) -> i64 {
    let shared = memory();
    let lane = lanes::lane(shared, layout, shard);
    let word = match settings::session_cache() {
        ..=1 => {
            let policy = settings::policy();
            let mut host = Backend::new(shared, layout, shard);
            let minted = mint(lane, layout, 1, &policy, &mut host);
            let Run { first, .. } = accept(minted, layout, shard, &policy);
            if let Parsed::Kept(layout) = layout {
                let place = (lane, host.lease);
                let tick = OpenTick::new(layout, place, (shard, first), policy.max_ahead);
                open_ticks::keep(tick, key, generation);
            }
            first
        }
        reserve => reserved_id(shared, lane, layout, shard, reserve),
    };
    let id = layout.id(shard, word);
    session::set_last_id(id);
    id
}

/// Mints the next id of a key for which the session has minted, like [`next_id`], if that cannot raise an error: most
/// often the first id of the clock's tick.
pub fn next_tick(layout: &'static Layout, key: Key) -> Option<i64> {
    let (shard, lane, lease) = open_ticks::place(layout, key)?;
    // The generator of random bits can fail.
    if layout.start_mask() != 0 {
        return None;
    }
    let policy = settings::policy();
    let mut host = Backend {
        anchor: lanes::shared().anchor,
        lease,
        shard: (layout.shard.width, shard),
    };
    let word = mint_at_once(lane, layout, &policy, &mut host)?;
    let tick = OpenTick::new(layout, (lane, lease), (shard, word), policy.max_ahead);
    open_ticks::keep(tick, key, grantor::generation());
    let id = layout.id(shard, word);
    session::set_last_id(id);
    Some(id)
}

/// Mints up to `want` ids in one swap. Returns them with the [`start_generation`] from before.
pub fn next_run(layout: &Layout, shard: u64, want: u64) -> (Run, u64) {
    let shared = memory();
    let generation = shared.start_generation.load(Ordering::Acquire);
    let lane = lanes::lane(shared, layout, shard);
    // The session's reserved ids are below the run: issued later, they would be out of order.
    session::reserve(lane, None);
    let run = run(shared, lane, layout, shard, want);
    session::set_last_id(layout.id(shard, run.first + (run.count - 1)));
    (run, generation)
}

/// Mints the next id that `fits`. The ids between, and those that the session has reserved, are lost.
pub fn next_fitting(layout: &Layout, shard: u64, fits: impl Fn(i64) -> bool) -> i64 {
    let shared = memory();
    let lane = lanes::lane(shared, layout, shard);
    session::reserve(lane, None);
    let policy = settings::policy();
    let mut host = Backend::new(shared, layout, shard);
    let fits = |word| fits(layout.id(shard, word));
    let word = loop {
        let minted = mint_fitting(lane, layout, &policy, &mut host, fits);
        if let Some(word) = accept(minted, layout, shard, &policy) {
            break word;
        }
        check_for_interrupts!();
    };
    let id = layout.id(shard, word);
    session::set_last_id(id);
    id
}

/// Returns how often a lane was started above an id. Ids that were taken before the last time must not be issued.
#[inline]
pub fn start_generation() -> u64 {
    lanes::shared().start_generation.load(Ordering::Acquire)
}

/// Lets the lane of a shard issue nothing at or below `word` from now on. Returns the start of the tick that it
/// continues in, or after.
pub fn start_lane_above(layout: &Layout, shard: u64, word: u64) -> Micros {
    let shared = memory();
    let policy = settings::policy();
    let mut host = Backend::new(shared, layout, shard);
    // This check comes before a lane is made, which lasts.
    let reach = if privilege::is_superuser() && !grantor::has_registry() {
        policy.max_jump
    } else {
        policy.max_ahead
    };
    let lane = lanes::lane(shared, layout, shard);
    let started = start_above(lane, layout, word, &policy, reach, &mut host);
    accept(started, layout, shard, &policy);
    // The count rises after the lane has moved, so that ids taken before are dropped.
    shared.start_generation.fetch_add(1, Ordering::AcqRel);
    layout.word_start_saturating(lane.last())
}

/// Returns the shared memory. Raises an error in recovery, where ids would repeat the primary's.
#[inline(always)]
fn memory() -> &'static Shared {
    recovery::refuse(&IN_RECOVERY);
    lanes::shared()
}

// Always inlined, so that the compiler removes the code for runs of many ids if one is wanted.
#[inline(always)]
fn run(shared: &Shared, lane: &Lane, layout: &Layout, shard: u64, want: u64) -> Run {
    let policy = settings::policy();
    let mut host = Backend::new(shared, layout, shard);
    let minted = mint(lane, layout, want, &policy, &mut host);
    accept(minted, layout, shard, &policy)
}

/// Returns core's result, or raises its error.
#[inline(always)]
fn accept<T>(
    result: Result<T, Refusal<Infallible>>,
    layout: &Layout,
    shard: u64,
    policy: &Policy,
) -> T {
    match result {
        Ok(value) => value,
        Err(Refusal::Refused(error)) => {
            let floor = ceiling::name_of_floor();
            refuse(&error, (layout, shard), policy.max_ahead, floor)
        }
        Err(Refusal::Interrupted(never)) => match never {},
    }
}

/// Returns the next id of the session's reservation. The others are dropped when their tick is past, or when they are
/// beyond this layout's end, because another layout of the lane with more bits of time took them.
fn reserved_id(
    shared: &Shared,
    lane: &'static Lane,
    layout: &Layout,
    shard: u64,
    reserve: u64,
) -> u64 {
    session::notice_generation(shared.start_generation.load(Ordering::Acquire));
    let current = session::reservation(lane).filter(|left| {
        let tick = left.first >> layout.seq.width;
        let start = layout.tick_start(tick);
        tick <= layout.max_tick()
            && start.is_some_and(|at| clock::now().saturating_sub(at) < layout.unit())
    });
    let Run { first, count } = current.unwrap_or_else(|| run(shared, lane, layout, shard, reserve));
    let left = (count > 1).then_some(Run {
        first: first + 1,
        count: count - 1,
    });
    session::reserve(lane, left);
    first
}
