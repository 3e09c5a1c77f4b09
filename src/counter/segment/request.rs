//! The request for the next segment from another server, in the slot of its sequence.

use crate::pg::machine::clock;
use mint_core::clock::{Micros, SECOND};
use std::sync::atomic::{AtomicU32, Ordering};

/// 0 when the last one has brought a segment, or there was none. Otherwise what became of it, and since when, in milliseconds
/// since boot: the lower 28 bits of them.
#[repr(transparent)]
pub struct Request(AtomicU32);

/// The bit of a failure. It stays until there is a segment.
const TROUBLED: u32 = 8;

/// Returns the bits of the current time, in their place.
fn now() -> u32 {
    ((clock::up() / 1_000) as u32) << 4
}

/// The fate of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// A background worker serves it.
    Running = 1,
    /// It is not its turn.
    PutOff = 2,
    /// No worker could start.
    NoWorker = 3 | TROUBLED as isize,
    Failed = 4 | TROUBLED as isize,
    /// It has failed after more than a second, in which it kept requests of others waiting.
    FailedLate = 5 | TROUBLED as isize,
}

impl Request {
    /// Records the fate of the request.
    pub fn set(&self, fate: Fate) {
        let state = now() | self.0.load(Ordering::Acquire) & TROUBLED | fate as u32;
        self.0.store(state, Ordering::Release);
    }

    /// Records that it has failed.
    pub fn fail(&self) {
        let is_early = self.is(Fate::Running, SECOND);
        self.set([Fate::FailedLate, Fate::Failed][usize::from(is_early)]);
    }

    /// Ends it, as the segment is there, or the slot has gone to another sequence.
    pub fn end(&self) {
        self.0.store(0, Ordering::Release);
    }

    /// Returns whether it is so, and not for longer than `span`.
    fn is(&self, fate: Fate, span: Micros) -> bool {
        let state = self.0.load(Ordering::Acquire);
        let since = now().wrapping_sub(state & !15) >> 4;
        (state ^ fate as u32) & 7 == 0 && Micros::from(since) <= span / 1_000
    }

    /// Returns whether a worker serves the request. A worker that was killed, or never started, counts for ten seconds.
    pub fn is_running(&self) -> bool {
        self.is(Fate::Running, 10 * SECOND)
    }

    /// Returns whether no request has brought a segment since one has failed.
    pub fn is_troubled(&self) -> bool {
        self.0.load(Ordering::Acquire) & TROUBLED != 0
    }

    /// Returns whether it has failed within the last second.
    pub fn has_failed(&self) -> bool {
        self.is(Fate::Failed, SECOND) || self.is(Fate::FailedLate, SECOND)
    }

    /// Returns whether nobody is to ask again yet, as it has failed: for a second, which nobody notices who has corrected the
    /// cause. For longer if it was late, so that it is running a small part of the time, and while values are left.
    pub fn rests(&self, needed: bool) -> bool {
        let span = if needed { SECOND } else { 5 * SECOND };
        self.is(Fate::Failed, span) || self.is(Fate::FailedLate, 10 * SECOND)
    }

    /// Returns whether a session that still has values is to ask.
    pub fn is_due(&self) -> bool {
        let is_put_off = self.is(Fate::PutOff, SECOND) || self.is(Fate::NoWorker, SECOND);
        !self.is_running() && !self.rests(false) && !is_put_off
    }
}
