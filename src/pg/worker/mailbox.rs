//! Requests of sessions to the background worker that serves all of them. Requests are counted; the worker stores the
//! number of the last one that it has answered, and its last error.

use crate::pg::backend::guc::max_wait;
use crate::pg::backend::wait::WaitEvent;
use crate::pg::error::report;
use crate::pg::machine::clock;
use crate::pg::machine::server::process_id;
use mint_core::Micros;
use pgrx::bgworkers::{BackgroundWorkerBuilder, BgWorkerStartTime};
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

/// The interval at which a waiting session looks for an answer.
pub const POLL: Micros = 2_000;

/// The state of the requests, in shared memory that is zeroed at first.
///
/// - `worker`: the worker's process id; 0 when there is none.
/// - `started`: when a worker was started last; moved by compare-and-swap.
/// - `last`: the number of the last request; `answered`: that of the last one that the worker has answered.
#[repr(C)]
pub struct Mailbox {
    worker: AtomicU32,
    started: AtomicI64,
    last: AtomicU64,
    answered: AtomicU64,
}

/// Returns the DETAIL of an error that the last request of a worker caused.
pub fn last_failure(note: &str) -> String {
    format!(
        "The last request failed: {}.",
        note.trim_end().trim_end_matches('.')
    )
}

/// A kind of worker.
pub struct WorkerKind {
    /// The name that the server shows.
    pub name: &'static str,
    /// The entry point in this library.
    pub function: &'static str,
    /// The argument of the entry point.
    pub argument: u64,
    /// The wait of sessions that make requests.
    pub event: &'static WaitEvent,
}

impl WorkerKind {
    /// Starts a worker. Returns false if all are in use.
    pub fn start(&self) -> bool {
        let worker = BackgroundWorkerBuilder::new(self.name)
            .set_type(self.name)
            .set_library("pg_mint")
            .set_function(self.function)
            .set_argument(Some(pg_sys::Datum::from(self.argument)))
            .enable_spi_access()
            .set_start_time(BgWorkerStartTime::RecoveryFinished)
            .set_restart_time(None);
        worker.load_dynamic().is_ok()
    }
}

#[cold]
fn refuse_start(kind: &WorkerKind) -> ! {
    report(
        Code::ERRCODE_INSUFFICIENT_RESOURCES,
        format!("could not start background worker \"{}\"", kind.name),
    )
    .detail("All background workers are in use.")
    .hint("Increase \"max_worker_processes\".")
    .raise()
}

impl Mailbox {
    /// Wakes the worker, or starts one. If all are in use, waits at most for `pg_mint.max_wait`: parallel queries of
    /// any role can take them for a while.
    pub fn wake(&self, kind: &WorkerKind) {
        const RETRY: Micros = 50_000;
        let began = clock::up();
        while !self.wake_if_possible(kind) {
            if clock::up() - began >= max_wait() {
                refuse_start(kind);
            }
            clock::pause(RETRY, kind.event);
        }
    }

    /// Wakes the worker, or starts one. Returns false if none can be started.
    pub fn wake_if_possible(&self, kind: &WorkerKind) -> bool {
        let Ok(pid @ 1..) = i32::try_from(self.worker.load(Ordering::Acquire)) else {
            return self.start_if_possible(kind);
        };
        // SAFETY: a process that is gone has no entry. The latch of a process that ends now goes to the next one, which
        // is woken without need.
        unsafe {
            let process = pg_sys::BackendPidGetProc(pid);
            if !process.is_null() {
                pg_sys::SetLatch(&raw mut (*process).procLatch);
            }
        }
        true
    }

    /// Returns whether there is a worker, or one was started that has not arrived yet.
    pub fn is_served_or_started(&self) -> bool {
        const WHILE: Micros = 2_000_000;
        let last = self.started.load(Ordering::Relaxed);
        self.is_served() || last != 0 && clock::up() - last <= WHILE
    }

    /// Starts a worker, unless there is one or another session has started one. Returns false if none can be started.
    pub fn start_if_possible(&self, kind: &WorkerKind) -> bool {
        let now = clock::up();
        let last = self.started.load(Ordering::Relaxed);
        if self.is_served_or_started() {
            return true;
        }
        // Only one of several sessions starts a worker. If there is one by then, the second worker ends.
        let swap = self
            .started
            .compare_exchange(last, now, Ordering::AcqRel, Ordering::Relaxed);
        if swap.is_err() {
            return true;
        }
        let is_started = kind.start();
        if !is_started {
            self.started.store(0, Ordering::Relaxed);
        }
        is_started
    }

    /// Returns whether there is a worker.
    pub fn is_served(&self) -> bool {
        self.worker.load(Ordering::Acquire) != 0
    }

    /// Makes a request, and returns its number.
    fn request(&self, kind: &WorkerKind) -> u64 {
        let number = self.last.fetch_add(1, Ordering::AcqRel) + 1;
        self.wake(kind);
        number
    }

    /// Makes a request, and waits until `find` finds something or the worker has answered, at most for
    /// `pg_mint.max_wait`. An answer counts only if `counts` was true before the request: once it is, another request
    /// is made.
    pub fn wait_for<T>(
        &self,
        kind: &WorkerKind,
        counts: impl Fn() -> bool,
        find: impl Fn() -> Option<T>,
    ) -> Option<T> {
        const RESTART: Micros = 1_000_000;
        let began = clock::up();
        let mut woken = began;
        let mut counted = counts();
        let mut number = self.request(kind);
        loop {
            // Read this before `find`, which then sees all that was written before the answer.
            let is_answered = counted && self.is_answered(number);
            let found = find();
            if found.is_some() || is_answered || clock::up() - began > max_wait() {
                return found;
            }
            if !counted && counts() {
                counted = true;
                number = self.request(kind);
            }
            // A worker that was about to end did not see the request.
            if clock::up() - woken > RESTART && !self.is_served_or_started() {
                woken = clock::up();
                self.wake_if_possible(kind);
            }
            clock::pause(POLL, kind.event);
        }
    }

    /// Returns whether the worker has answered a request.
    pub fn is_answered(&self, number: u64) -> bool {
        self.answered.load(Ordering::Acquire) >= number
    }

    /// Returns the number of the last request. **For the worker**, before it reads the requests.
    pub fn last(&self) -> u64 {
        self.last.load(Ordering::Acquire)
    }

    /// Answers all requests up to this one. **For the worker.**
    pub fn answer(&self, number: u64) {
        self.answered.store(number, Ordering::Release);
    }

    /// Makes this process the worker. Returns false if there is one already. **For the worker.**
    pub fn enter(&self) -> bool {
        self.replace_worker(0, process_id())
    }

    /// Ends the worker's service; the next one can be started at once. **For the worker.**
    pub fn leave(&self) {
        if self.replace_worker(process_id(), 0) {
            self.started.store(0, Ordering::Relaxed);
        }
    }

    fn replace_worker(&self, old: u32, new: u32) -> bool {
        self.worker
            .compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}
