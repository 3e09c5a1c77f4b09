//! Statistics of the server, in shared memory: how long sessions have waited, and for what, and how often they did rare
//! things. No code decides anything by them.
//!
//! The path that most calls take counts nothing. A session counts when it waits, writes to disk, takes values from a
//! sequence, gives a slot to another owner or raises an error. Ids are not counted but computed, from the words of the
//! lanes and the values that were taken from sequences.

use crate::pg::backend::wait::WaitEvent;
use crate::pg::machine::clock;
use crate::pg::shmem::rendezvous::Stamp;
use crate::pg::shmem::segment::NamedSegment;
use mint_core::Micros;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// The cause of a wait.
#[derive(Debug, Clone, Copy)]
#[repr(usize)]
pub enum Wait {
    /// The next tick of a layout whose rate is used up.
    Capacity,
    /// A clock that was set back.
    Clock,
    /// A clock behind the ceiling that an earlier run of the server has left.
    Ceiling,
    /// A lease from the registry, or its beginning.
    Lease,
    /// The next segment of a sequence.
    Segment,
    /// Another transaction that has drawn a number for the same user.
    UserLock,
}

/// The number of causes of waits.
pub const WAITS: usize = Wait::UserLock as usize + 1;

static EVENTS: [WaitEvent; WAITS] = [
    WaitEvent::new(c"MintCapacity"),
    WaitEvent::new(c"MintClock"),
    WaitEvent::new(c"MintCeiling"),
    WaitEvent::new(c"MintLease"),
    WaitEvent::new(c"MintSegment"),
    WaitEvent::new(c"MintUserLock"),
];

/// The counts besides waits.
#[derive(Debug, Clone, Copy)]
#[repr(usize)]
pub enum Count {
    ClockStepsBack,
    ClockStepsForward,
    CeilingWrites,
    SectionRaises,
    Refills,
    SegmentEvictions,
    SectionEvictions,
    UserEvictions,
    LeaseRenewals,
    LeaseFailures,
    /// Calls that were refused as the clock is behind, before the epoch or too far ahead.
    ClockRefusals,
    /// Calls that were refused as the server has no lease.
    LeaseRefusals,
    /// Calls that were refused as the layout has ended.
    LayoutEndRefusals,
    /// Values that were taken from sequences to be drawn here, since the server started.
    ValuesTaken,
    /// Values that were taken and given up before they were drawn, or drawn before the last reset.
    ValuesDropped,
}

const COUNTS: usize = Count::ValuesDropped as usize + 1;

/// The families whose ids are computed.
#[derive(Debug, Clone, Copy)]
#[repr(usize)]
pub enum Family {
    Snowflakes,
    ObjectIds,
    SegmentValues,
}

const FAMILIES: usize = Family::SegmentValues as usize + 1;

/// The statistics, in shared memory. All fields but `reset` are zero at first.
///
/// - `waits`, `waited`: for each cause, calls and microseconds.
/// - `shown`: the most that was ever computed for a family. A value that is computed while sessions move the words can
///   be too low for a short time, but a count must not decrease.
/// - `reset`: the time since when the statistics count.
#[repr(C)]
struct Statistics {
    waits: [AtomicU64; WAITS],
    waited: [AtomicU64; WAITS],
    counts: [AtomicU64; COUNTS],
    shown: [AtomicU64; FAMILIES],
    reset: AtomicI64,
}

static STAMP: Stamp = Stamp::new(b't', 3);
static MEMORY: NamedSegment<Statistics> =
    NamedSegment::new(c"pg_mint statistics", &STAMP, |statistics, _| {
        statistics.reset.store(clock::now(), Ordering::Relaxed);
    });

/// Registers the memory. Called once, when the library is loaded.
pub fn init() {
    MEMORY.register();
}

fn memory() -> &'static Statistics {
    MEMORY.memory().head
}

/// Maps the memory, which can fail. Call it before a lock under which no error can be raised.
pub fn map() {
    memory();
}

/// Counts something. Cannot fail once the memory is mapped. A session that sees the number sees what was written before it.
pub fn add(count: Count, by: u64) {
    // A session with nothing to count maps no memory for it.
    if by != 0 {
        memory().counts[count as usize].fetch_add(by, Ordering::Release);
    }
}

/// Counts a segment that was taken from a sequence, and its values that can be drawn.
pub fn note_refill(values: u64) {
    add(Count::Refills, 1);
    add(Count::ValuesTaken, values);
}

/// Returns a count.
pub fn count(count: Count) -> u64 {
    memory().counts[count as usize].load(Ordering::Acquire)
}

impl Wait {
    /// Returns the event by which the server shows the wait.
    pub const fn event(self) -> &'static WaitEvent {
        &EVENTS[self as usize]
    }

    /// Begins to wait, for the first time of a call or again. The wait ends when the value is dropped.
    pub fn begin(self, is_first: bool) -> Waiting {
        let index = self as usize;
        memory().waits[index].fetch_add(is_first.into(), Ordering::Relaxed);
        Waiting {
            index,
            began: clock::up(),
        }
    }
}

/// Guard of a wait, which counts its time when dropped, also when an error unwinds.
pub struct Waiting {
    index: usize,
    began: Micros,
}

impl Waiting {
    /// Returns how long the wait has lasted.
    pub fn span(&self) -> Micros {
        clock::up() - self.began
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let span = self.span().max(0).unsigned_abs();
        memory().waited[self.index].fetch_add(span, Ordering::Relaxed);
    }
}

/// Returns how many calls have waited for each cause, and how long.
pub fn waits() -> [(u64, Micros); WAITS] {
    let memory = memory();
    std::array::from_fn(|index| {
        let waited = memory.waited[index].load(Ordering::Relaxed);
        let waits = memory.waits[index].load(Ordering::Relaxed);
        (waits, waited.cast_signed())
    })
}

/// Runs `work` while no other session computes ids, or resets their inputs.
pub fn locked<T>(work: impl FnOnce() -> T) -> T {
    MEMORY.memory().locked(work)
}

/// Returns the count computed for a family, or a larger one that was shown before.
pub fn never_less(family: Family, computed: u64) -> u64 {
    let shown = &memory().shown[family as usize];
    shown.fetch_max(computed, Ordering::Relaxed).max(computed)
}

/// Returns the time since when the statistics count.
pub fn since() -> Micros {
    memory().reset.load(Ordering::Relaxed)
}

/// Sets all statistics but the counts of values to zero, and returns the time. The caller holds the lock.
pub fn reset() -> Micros {
    let memory = memory();
    let all = [
        &memory.waits[..],
        &memory.waited,
        &memory.counts[..Count::ValuesTaken as usize],
        &memory.shown,
    ];
    for counter in all.into_iter().flatten() {
        counter.store(0, Ordering::Relaxed);
    }
    let now = clock::now();
    memory.reset.store(now, Ordering::Relaxed);
    now
}
