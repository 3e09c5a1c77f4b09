//! Minting: the algorithm that moves a lane's word, and waits or fails when it must not.
//!
//! The order of the steps is the algorithm. Bounds are read before the word (a lease's after it), the word before
//! the clock: the other way round, a session that loses the processor between the two sees another's
//! newer tick and mistakes it for a clock that stepped back. All checks look at the *last* id of a run
//! and stand before the swap; a swap that succeeds proves that the word is the one they were made for.

pub mod fitting;
pub mod host;
mod obstacle;
pub mod open_tick;

use crate::atomic::Ordering;
use crate::clock::{Micros, SECOND};
use crate::snowflake::lane::Lane;
use crate::snowflake::layout::Layout;
use crate::snowflake::lease::Lease;
use crate::snowflake::mint::host::{Host, Policy, Wait, WaitCause};
use crate::snowflake::mint::obstacle::{Obstacle, bound_obstacle, past_the_end, too_far_ahead};
use crate::snowflake::mint_error::MintError;
use std::mem::take;

/// Consecutive words of a lane, which only the caller has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The first word.
    pub first: u64,
    /// Their number, at least 1.
    pub count: u64,
}

/// Why minting ended without ids: the host interrupted it, or policy or layout refuse it.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal<I> {
    /// The host interrupted it.
    Interrupted(I),
    /// Policy, layout or lease refuse it.
    Refused(MintError),
}

impl<I> From<I> for Refusal<I> {
    fn from(interrupt: I) -> Self {
        Refusal::Interrupted(interrupt)
    }
}

/// Mints up to `want` ids (at least 1) from a lane in one swap.
///
/// A `want` above one is cut to half of what the lane can still issue without a wait or a renewal, so that a call for
/// millions leaves room for others.
///
/// - **Unique**: no word of a lane is ever in two runs.
/// - **Ordered**: every run is above all runs minted before it.
/// - **Overflow** of a tick's sequence takes the next tick, ahead of the clock up to `max_ahead`;
///   beyond that it waits, at most to the next tick. The end of the time field is an error.
/// - **Clock steps back**: continues from the last id up to `max_ahead`. Beyond that, the call waits
///   if the whole wait fits into `max_wait`, and otherwise fails immediately.
///
/// # Errors
/// [`MintError`], or what interrupted the wait.
#[inline(always)]
pub fn mint<H: Host>(
    lane: &Lane,
    layout: &Layout,
    want: u64,
    policy: &Policy,
    host: &mut H,
) -> Result<Run, Refusal<H::Interrupt>> {
    let request = MintRequest::new(lane, layout, want, policy);
    match request.attempt(host) {
        Ok(run) => Ok(run),
        Err(obstacle) => request.wait_or_fail(obstacle, host),
    }
}

/// Mints one id if [`mint`] could do so in its first attempt, without removing an obstacle. Returns its word.
#[inline(always)]
pub fn mint_at_once<H: Host>(
    lane: &Lane,
    layout: &Layout,
    policy: &Policy,
    host: &mut H,
) -> Option<u64> {
    let request = MintRequest::new(lane, layout, 1, policy);
    request.attempt(host).ok().map(|run| run.first)
}

/// The parameters of a call of [`mint`]. They are passed by value, and only to functions that are inlined or on the way
/// to an error, so that the fields stay in registers.
#[derive(Clone, Copy)]
struct MintRequest<'a> {
    lane: &'a Lane,
    layout: &'a Layout,
    want: u64,
    policy: &'a Policy,
    /// The clock was checked: the lane can move far at once.
    clock_checked: bool,
}

/// The action that removes an obstacle.
enum Remedy {
    Pause(Micros, WaitCause),
    Renewal,
}

impl<'a> MintRequest<'a> {
    #[inline(always)]
    fn new(lane: &'a Lane, layout: &'a Layout, want: u64, policy: &'a Policy) -> Self {
        Self {
            lane,
            layout,
            want,
            policy,
            clock_checked: false,
        }
    }

    /// Makes one pass of the algorithm; repeats it only when another session moved the word meanwhile.
    // Inlined into both the fast and the slow path, as the compiler would make them share one copy.
    #[inline(always)]
    fn attempt<H: Host>(self, host: &mut H) -> Result<Run, Obstacle> {
        let Self { lane, layout, .. } = self;
        loop {
            let ceiling = host.ceiling();
            let (mut limit, mut floor) = (ceiling.limit(), ceiling.floor());
            let last = lane.word.load(Ordering::Acquire);
            // The lease is read after the word: a release first ends the lease, and then moves the words.
            let mut until = Micros::MAX;
            if let Some(lease) = host.lease() {
                until = lease.until();
                limit = limit.min(until);
                floor = floor.max(lease.from());
            }
            let now = host.now();

            let mut first = self.next_word_counting_skips(last, now, floor, host)?;
            let mut start = layout.word_start_saturating(first);
            if start < floor {
                first = first_word_at(lane, layout, first, floor, host);
                start = layout.word_start_saturating(first);
            }
            let (mut count, mut end) = (1, first);
            if self.want > 1 {
                let reach = now.saturating_add(self.policy.max_ahead);
                count = batch_size(layout, first, self.want, reach.min(until.saturating_sub(1)));
                end += count - 1;
                start = layout.word_start_saturating(end);
            }
            if end >> layout.seq.width > layout.max_tick() {
                let error = past_the_end(layout, floor, now);
                return Err(not_taken(lane, last, first, Obstacle::Never(error)));
            }
            if start.saturating_sub(now) > self.policy.max_ahead {
                let obstacle = too_far_ahead(layout, self.policy, last, floor, start, now);
                return Err(not_taken(lane, last, first, obstacle));
            }
            if start >= limit {
                return Err(not_taken(lane, last, first, bound_obstacle(start, host)));
            }
            let swapped =
                (lane.word).compare_exchange(last, end, Ordering::AcqRel, Ordering::Acquire);
            if swapped.is_ok() {
                return Ok(Run { first, count });
            }
            lane.uncount_skipped_between(last, first);
        }
    }

    /// Returns the word after `last`, or the first one of the clock's tick when the last one's is over. Counts the
    /// words in between as skipped here, not where the word is moved, so that a word that follows the last one costs
    /// nothing.
    #[inline(always)]
    fn next_word_counting_skips<H: Host>(
        self,
        last: u64,
        now: Micros,
        floor: Micros,
        host: &mut H,
    ) -> Result<u64, Obstacle> {
        let Self { layout, policy, .. } = self;
        if now < layout.epoch() {
            return Err(Obstacle::Never(MintError::BeforeEpoch));
        }
        // Most often the last tick continues, or is ahead of the clock. Then the next word does not
        // depend on the clock's reading, and the processor does not need to wait for it.
        let passed = now.saturating_sub(layout.word_start_saturating(last));
        if passed < layout.unit() {
            return Ok(last + 1);
        }
        // The lane moves far when it is new, was idle for long, or the clock jumped. A clock that is too far below the
        // floor to mint by is not checked: it is wrong, and its correction must not count as a jump.
        let usable = floor.saturating_sub(now) <= policy.max_ahead;
        if passed > policy.max_jump && usable && !self.clock_checked {
            return Err(Obstacle::Leap { now });
        }
        let tick = layout.ticks(now.saturating_sub(layout.epoch()).unsigned_abs());
        if tick > layout.max_tick() {
            return Err(Obstacle::Never(MintError::Exhausted));
        }
        let first = first_word(layout, tick << layout.seq.width, host);
        self.lane.count_skipped_between(last, first);
        Ok(first)
    }

    /// Waits, checks or raises as each obstacle demands, until ids are minted or it is hopeless.
    #[cold]
    fn wait_or_fail<H: Host>(
        mut self,
        mut obstacle: Obstacle,
        host: &mut H,
    ) -> Result<Run, Refusal<H::Interrupt>> {
        let began = host.up();
        let mut is_first = true;
        loop {
            if let Some(remedy) = self.resolve(obstacle, began, host)? {
                let is_first = take(&mut is_first);
                if is_first {
                    self.lane.note_wait();
                }
                let before = host.up();
                let waited = match remedy {
                    Remedy::Pause(span, cause) => host.pause(Wait {
                        span,
                        cause,
                        is_first,
                    }),
                    Remedy::Renewal => host.renew(is_first),
                };
                self.lane.note_waited(host.up().saturating_sub(before));
                waited?;
            }
            match self.attempt(host) {
                Ok(run) => return Ok(run),
                Err(next) => obstacle = next,
            }
        }
    }

    /// Removes an obstacle, or returns the wait that does.
    fn resolve<H: Host>(
        &mut self,
        obstacle: Obstacle,
        began: Micros,
        host: &mut H,
    ) -> Result<Option<Remedy>, Refusal<H::Interrupt>> {
        let policy = self.policy;
        let waited = host.up().saturating_sub(began);
        let check_wait = |need: Micros, limit: Micros, error| match need.saturating_add(waited) {
            longer if longer > limit => Err(Refusal::Refused(error)),
            _ => Ok(()),
        };
        match obstacle {
            Obstacle::Never(error) => return Err(Refusal::Refused(error)),
            // The floor is needed to judge the clock, so the session attaches first.
            Obstacle::Leap { .. } if !host.ceiling().is_attached() => host.raise(Micros::MIN)?,
            Obstacle::Leap { now } => {
                let up = host.up();
                let checked = host.anchor().check(now, up, policy.max_jump);
                checked.map_err(|by| Refusal::Refused(MintError::ClockJumped { by }))?;
                self.clock_checked = true;
            }
            Obstacle::Ceiling { beyond } => host.raise(beyond)?,
            Obstacle::Lease { until } => {
                let error = MintError::LeaseEnded { until };
                check_wait(0, policy.max_wait, error)?;
                return Ok(Some(Remedy::Renewal));
            }
            Obstacle::Capacity { need } => {
                return Ok(Some(Remedy::Pause(need, WaitCause::Capacity)));
            }
            Obstacle::Clock { behind, need } => {
                self.lane.note_step(behind);
                host.stepped_back(behind);
                let ahead = behind;
                let error = MintError::ClockBehind { ahead, need };
                check_wait(need, policy.max_wait, error)?;
                return Ok(Some(Remedy::Pause(need, WaitCause::Clock)));
            }
            Obstacle::Floor { behind, need } => {
                // A floor this far ahead is normal after a restart, as a ceiling can run ahead of use.
                let due = policy.max_ahead + 2 * policy.window + self.layout.unit().min(SECOND);
                let (error, cause) = match host.lease().map(Lease::from) {
                    Some(from) if from > host.ceiling().floor() => {
                        (MintError::BeforeLease { from, need }, WaitCause::Lease)
                    }
                    _ => (MintError::BelowFloor { behind, need }, WaitCause::Ceiling),
                };
                check_wait(need, policy.max_wait.max(due), error)?;
                return Ok(Some(Remedy::Pause(need, cause)));
            }
        }
        Ok(None)
    }
}

/// Returns the word to begin at in a tick, of which `word` is the first one.
#[inline]
fn first_word<H: Host>(layout: &Layout, word: u64, host: &mut H) -> u64 {
    match layout.start_mask() {
        0 => word,
        mask => word | host.random() & mask,
    }
}

/// Returns the first word at or after the floor: rounded up, as ids of a tick that starts below it can have been
/// issued. Counts the words from `first`, which would be next without the floor, as skipped.
#[cold]
fn first_word_at<H: Host>(
    lane: &Lane,
    layout: &Layout,
    first: u64,
    floor: Micros,
    host: &mut H,
) -> u64 {
    let word = first_word(layout, layout.word_at(floor), host);
    lane.count_skipped_between(first - 1, word);
    word
}

/// Takes back the count of skipped words, because the lane was not moved, and returns the obstacle.
#[cold]
fn not_taken(lane: &Lane, last: u64, first: u64, obstacle: Obstacle) -> Obstacle {
    lane.uncount_skipped_between(last, first);
    obstacle
}

/// Returns half of what can be minted from `first` on in ticks that start at `reach` or before, at least 1, at most
/// `want`.
fn batch_size(layout: &Layout, first: u64, want: u64, reach: Micros) -> u64 {
    let age = reach.saturating_sub(layout.epoch()).max(0);
    let tick = layout.ticks(age.unsigned_abs()).min(layout.max_tick());
    let end = tick << layout.seq.width | layout.seq.max();
    let left = (end + 1).saturating_sub(first);
    want.min(left.div_ceil(2)).max(1)
}
