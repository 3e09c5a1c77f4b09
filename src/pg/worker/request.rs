//! Between sessions and the background worker that does something for all of them: questions are counted, and the
//! worker says up to which it has come, and what went wrong.

use crate::pg::backend::guc::max_wait;
use crate::pg::error::report;
use crate::pg::machine::clock;
use mint_core::Micros;
use pgrx::bgworkers::{BackgroundWorkerBuilder, BgWorkerStartTime};
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering, fence};

/// The longest reason that is kept.
const NOTE: usize = 500;

/// How long a look at what the worker has done is off.
pub const POLL: Micros = 2_000;

/// In shared memory, zeroed at first.
///
/// - `worker`: its process; 0 when there is none.
/// - `started`: when one was last asked for; moved by compare-and-swap.
/// - `asked`: counts what sessions wait for; `answered`: the count that the worker has dealt with.
/// - `note`, `noted`: what went wrong last, and how long that is; 0 when nothing did. Written by the worker alone, while
///   `edition` is odd.
#[repr(C)]
pub struct Requests {
    worker: AtomicU32,
    noted: AtomicU32,
    started: AtomicI64,
    asked: AtomicU64,
    answered: AtomicU64,
    edition: AtomicU32,
    note: [AtomicU8; NOTE],
}

fn own_pid() -> u32 {
    // SAFETY: reads a number that was set when the process started.
    unsafe { pg_sys::MyProcPid }.unsigned_abs()
}

/// How a worker is started.
pub struct Kind {
    /// What the server shows.
    pub name: &'static str,
    /// The function in this library.
    pub function: &'static str,
    /// What the function is given.
    pub argument: u32,
}

impl Requests {
    /// Wakes the worker, or starts one.
    pub fn wake(&self, kind: &Kind) {
        let Ok(pid @ 1..) = i32::try_from(self.worker.load(Ordering::Acquire)) else {
            self.start(kind);
            return;
        };
        // SAFETY: a process that is gone has no entry. One that goes now leaves its latch to the next, which is
        // woken for nothing.
        unsafe {
            let process = pg_sys::BackendPidGetProc(pid);
            if !process.is_null() {
                pg_sys::SetLatch(&raw mut (*process).procLatch);
            }
        }
    }

    /// Whether there is a worker, or one was started just now and may not have come yet.
    pub fn is_served_or_started(&self) -> bool {
        const WHILE: Micros = 2_000_000;
        let last = self.started.load(Ordering::Relaxed);
        self.is_served() || last != 0 && clock::up() - last <= WHILE
    }

    #[cold]
    fn start(&self, kind: &Kind) {
        let now = clock::up();
        let last = self.started.load(Ordering::Relaxed);
        if self.is_served_or_started() {
            return;
        }
        // One of the sessions that ask at once. Should a worker have come meanwhile, the second one leaves.
        let swap = (Ordering::AcqRel, Ordering::Relaxed);
        if self
            .started
            .compare_exchange(last, now, swap.0, swap.1)
            .is_err()
        {
            return;
        }
        let worker = BackgroundWorkerBuilder::new(kind.name)
            .set_type(kind.name)
            .set_library("pg_mint")
            .set_function(kind.function)
            .set_argument(Some(pg_sys::Datum::from(kind.argument)))
            .enable_spi_access()
            .set_start_time(BgWorkerStartTime::RecoveryFinished)
            .set_restart_time(None)
            .load_dynamic();
        if worker.is_err() {
            self.started.store(0, Ordering::Relaxed);
            report(
                Code::ERRCODE_INSUFFICIENT_RESOURCES,
                format!("could not start background worker \"{}\"", kind.name),
            )
            .detail("All background workers are in use.")
            .hint("Raise max_worker_processes.")
            .raise();
        }
    }

    /// Whether there is a worker.
    pub fn is_served(&self) -> bool {
        self.worker.load(Ordering::Acquire) != 0
    }

    /// Whether there is a worker, or one was started just now.
    pub fn has_worker(&self) -> bool {
        self.is_served() || self.started.load(Ordering::Relaxed) != 0
    }

    /// Puts a question, and returns its number.
    fn ask(&self, kind: &Kind) -> u64 {
        let number = self.asked.fetch_add(1, Ordering::AcqRel) + 1;
        self.wake(kind);
        number
    }

    /// Asks the worker, and waits until `find` finds something, the worker has answered, or the caller's patience is at
    /// its end. An answer counts only if `counts` was true before the question: once it is, the worker is asked again.
    pub fn wait_for<T>(
        &self,
        kind: &Kind,
        counts: impl Fn() -> bool,
        find: impl Fn() -> Option<T>,
    ) -> Option<T> {
        let began = clock::up();
        let mut counted = counts();
        let mut question = self.ask(kind);
        loop {
            // Before looking: what was answered by then must be seen.
            let answered = counted && self.has_answered(question);
            let found = find();
            if found.is_some() || answered || clock::up() - began > max_wait() {
                return found;
            }
            if !counted && counts() {
                counted = true;
                question = self.ask(kind);
            }
            clock::pause(POLL);
        }
    }

    /// Whether the worker has dealt with a question.
    pub fn has_answered(&self, question: u64) -> bool {
        self.answered.load(Ordering::Acquire) >= question
    }

    /// The last question. **The worker's**, before it looks at what is wanted.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Acquire)
    }

    /// All questions up to this one were dealt with. **The worker's.**
    pub fn answer(&self, question: u64) {
        self.answered.store(question, Ordering::Release);
    }

    /// Makes this process the worker. False when there is one already. **The worker's.**
    pub fn enter(&self) -> bool {
        self.replace_worker(0, own_pid())
    }

    /// Ends the worker's service; the next one can be started at once. **The worker's.**
    pub fn leave(&self) {
        if self.replace_worker(own_pid(), 0) {
            self.started.store(0, Ordering::Relaxed);
        }
    }

    fn replace_worker(&self, old: u32, new: u32) -> bool {
        self.worker
            .compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// What went wrong last, if anything did.
    pub fn note(&self) -> Option<String> {
        let bytes: Vec<u8> = loop {
            let edition = self.edition.load(Ordering::Acquire);
            let length = self.noted.load(Ordering::Relaxed) as usize;
            let bytes = self.note.iter().take(length);
            let bytes = bytes.map(|byte| byte.load(Ordering::Relaxed)).collect();
            fence(Ordering::Acquire);
            if edition & 1 == 0 && self.edition.load(Ordering::Relaxed) == edition {
                break bytes;
            }
            std::thread::yield_now();
            pgrx::check_for_interrupts!();
        };
        if bytes.is_empty() {
            return None;
        }
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Keeps what went wrong, or that nothing did. **The worker's.**
    pub fn set_note(&self, note: Option<&str>) {
        let text = note.unwrap_or_default();
        let length = text.floor_char_boundary(NOTE);
        // A worker that was ended in the middle has left it odd.
        let edition = self.edition.load(Ordering::Relaxed) | 1;
        self.edition.store(edition, Ordering::Relaxed);
        fence(Ordering::Release);
        for (place, byte) in self.note.iter().zip(text[..length].bytes()) {
            place.store(byte, Ordering::Relaxed);
        }
        self.noted.store(length as u32, Ordering::Relaxed);
        self.edition
            .store(edition.wrapping_add(1), Ordering::Release);
    }
}
