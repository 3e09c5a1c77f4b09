//! Deadlines of a worker, which end each of its waits: for locks, latches, and libraries that repeat a call that a
//! signal interrupted.
//!
//! While there is a deadline, a timer counts towards it ten times a second. Once it has passed, the next check for
//! interrupts raises an error. Some waits never check: dblink connects without a check until PostgreSQL 15, and cancels
//! without one until 16; libpq looks up names without one in all versions. Such a call waits for a socket that it has
//! opened. So the timer replaces the sockets that were opened [`opening`] by `/dev/null`, on which the call fails.

use crate::pg::error::{interrupt, report};
use crate::pg::machine::clock;
use crate::pg::ports::SetLatch;
use crate::pg::worker::ticker::Ticker;
use mint_core::Micros;
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicU64, Ordering::Relaxed};

/// The longest time for work.
#[derive(Clone, Copy, Debug)]
pub struct TimeLimit {
    /// Counted from the beginning of the work.
    pub usual: Micros,
    /// Counted from when the server wants the worker to end, for all work together.
    pub ending: Micros,
}

/// The limit of a request, with the connection that it can need.
pub const REQUEST: TimeLimit = TimeLimit {
    usual: 3_000_000,
    ending: 500_000,
};
/// The limit of the cleanup after a request that failed.
pub const CLEANUP: TimeLimit = TimeLimit {
    usual: 500_000,
    ending: 700_000,
};

/// The interval of the timer.
const TICK: Micros = 100_000;
/// The descriptors from 0 on that can be sockets. The server opens far fewer for itself.
const DESCRIPTORS: usize = 4_096;

/// The limit of the current work. A handler of a signal reads these fields, so they are atomics.
///
/// - `until`: the deadline by the clock since boot.
/// - `ending`: as in [`TimeLimit`].
/// - `asked`: when the worker noticed that it is to end; 0 before.
/// - `left`, `left_ending`: ticks until the timer ends the work, and from when the worker is to end.
/// - `is_opening`, `sockets`: whether sockets are replaced, and those that stay, a bit for each.
/// - `is_over`: whether the timer has ended the work.
/// - `nowhere`: a descriptor of `/dev/null`; 0 before.
struct Current {
    until: AtomicI64,
    ending: AtomicI64,
    asked: AtomicI64,
    left: AtomicI64,
    left_ending: AtomicI64,
    is_opening: AtomicBool,
    is_over: AtomicBool,
    sockets: [AtomicU64; DESCRIPTORS / 64],
    nowhere: AtomicI32,
}

static CURRENT: Current = Current {
    until: AtomicI64::new(Micros::MAX),
    ending: AtomicI64::new(0),
    asked: AtomicI64::new(0),
    left: AtomicI64::new(i64::MAX),
    left_ending: AtomicI64::new(i64::MAX),
    is_opening: AtomicBool::new(false),
    is_over: AtomicBool::new(false),
    sockets: [const { AtomicU64::new(0) }; DESCRIPTORS / 64],
    nowhere: AtomicI32::new(0),
};

/// Returns whether the server wants the worker to end.
pub fn is_asked_to_end() -> bool {
    // SAFETY: a flag that the handler of a signal sets.
    unsafe { (&raw const pg_sys::ShutdownRequestPending).read_volatile() != 0 }
}

/// Returns whether the deadline of the last work has passed.
pub fn has_passed() -> bool {
    let now = clock::up();
    // The timer and the clock can disagree a little.
    CURRENT.is_over.load(Relaxed)
        || now >= CURRENT.until.load(Relaxed)
        || is_asked_to_end() && now >= last_moment(now)
}

/// Returns when the current work must end because the worker must.
fn last_moment(now: Micros) -> Micros {
    let asked = CURRENT.asked.compare_exchange(0, now, Relaxed, Relaxed);
    asked.err().unwrap_or(now) + CURRENT.ending.load(Relaxed)
}

/// Raises an error once the deadline has passed. For work that waits in short steps.
pub fn check() {
    if has_passed() {
        interrupt(Code::ERRCODE_QUERY_CANCELED, "request took too long").raise();
    }
}

/// Raises the error that ends a worker.
pub fn end() -> ! {
    interrupt(
        Code::ERRCODE_ADMIN_SHUTDOWN,
        "terminating background worker due to administrator command",
    )
    .raise()
}

/// Runs `work`. Past the limit, the next check for interrupts in it raises an error. Limits are not nested.
pub fn within<T>(limit: TimeLimit, work: impl FnOnce() -> T) -> T {
    CURRENT.until.store(clock::up() + limit.usual, Relaxed);
    CURRENT.ending.store(limit.ending, Relaxed);
    CURRENT.is_over.store(false, Relaxed);
    if is_asked_to_end() && has_passed() {
        end();
    }
    let _counting = Counting::begin(limit);
    work()
}

/// Guard of [`within`]: the timer counts. Dropped also when an error unwinds.
struct Counting {
    _ticker: Ticker,
}

impl Counting {
    fn begin(limit: TimeLimit) -> Self {
        let now = clock::up();
        let ending = match CURRENT.asked.load(Relaxed) {
            0 => limit.ending,
            asked => asked + limit.ending - now,
        };
        CURRENT.left.store(ticks(limit.usual), Relaxed);
        CURRENT.left_ending.store(ticks(ending), Relaxed);
        Self {
            _ticker: Ticker::start((TICK / 1_000) as u32, tick),
        }
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        // No tick must end the work that follows, as the timer is stopped after this.
        CURRENT.left.store(i64::MAX, Relaxed);
        CURRENT.left_ending.store(i64::MAX, Relaxed);
        // SAFETY: an interrupt that nobody saw does not belong to the work that follows.
        unsafe { (&raw mut pg_sys::QueryCancelPending).write_volatile(0) };
    }
}

/// Returns how many ticks a time takes, rounded up.
fn ticks(time: Micros) -> i64 {
    (time + TICK - 1) / TICK
}

/// Counts a tick. The handler of a signal: it reads no clock.
fn tick() {
    let mut left = CURRENT.left.fetch_sub(1, Relaxed);
    if is_asked_to_end() {
        left = left.min(CURRENT.left_ending.fetch_sub(1, Relaxed));
    }
    if left > 1 {
        return;
    }
    CURRENT.is_over.store(true, Relaxed);
    // SAFETY: flags for the handlers of signals, and the call that each of them makes.
    unsafe {
        (&raw mut pg_sys::QueryCancelPending).write_volatile(1);
        (&raw mut pg_sys::InterruptPending).write_volatile(1);
        SetLatch(pg_sys::MyLatch);
    }
    if CURRENT.is_opening.load(Relaxed) {
        let new =
            (0..DESCRIPTORS).filter(|&descriptor| is_socket(descriptor) && !was_open(descriptor));
        for descriptor in new {
            // SAFETY: a handler can call it. The library that has opened the descriptor closes it, as it would close
            // the socket.
            unsafe { libc::dup2(CURRENT.nowhere.load(Relaxed), descriptor as c_int) };
        }
    }
}

/// Runs `work`, which opens sockets and waits for them without checks for interrupts. Past the limit of [`within`],
/// they fail.
pub fn opening<T>(work: impl FnOnce() -> T) -> T {
    if CURRENT.nowhere.load(Relaxed) == 0 {
        let flags = libc::O_RDWR | libc::O_CLOEXEC;
        // SAFETY: a string; the descriptor stays as long as the process.
        let nowhere = unsafe { libc::open(c"/dev/null".as_ptr(), flags) };
        if nowhere < 0 {
            report(Code::ERRCODE_IO_ERROR, "could not open file \"/dev/null\"").raise();
        }
        CURRENT.nowhere.store(nowhere, Relaxed);
    }
    for (word, bits) in CURRENT.sockets.iter().enumerate() {
        let bit = |bit: usize| u64::from(is_socket(word * 64 + bit)) << bit;
        bits.store((0..64).map(bit).sum(), Relaxed);
    }
    CURRENT.is_opening.store(true, Relaxed);
    let _opening = Opening;
    work()
}

/// Guard of [`opening`]; dropped also when an error unwinds.
struct Opening;

impl Drop for Opening {
    fn drop(&mut self) {
        CURRENT.is_opening.store(false, Relaxed);
    }
}

/// Returns whether a socket was open before [`opening`].
fn was_open(descriptor: usize) -> bool {
    CURRENT.sockets[descriptor / 64].load(Relaxed) >> (descriptor % 64) & 1 == 1
}

fn is_socket(descriptor: usize) -> bool {
    // SAFETY: zeroes are a valid `stat` to write to; a handler can call it.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        let found = libc::fstat(descriptor as c_int, &raw mut stat) == 0;
        found && stat.st_mode & libc::S_IFMT == libc::S_IFSOCK
    }
}
