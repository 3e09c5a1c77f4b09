//! The request for the next segment from another server, in the slot of its sequence.

use crate::pg::machine::clock;
use mint_core::Micros;
use std::sync::atomic::{AtomicU32, Ordering};

/// The [`Fate`] of the request, and since when: the lower 30 bits of milliseconds since boot. 0 when there is none.
#[repr(transparent)]
pub struct Request(AtomicU32);

const MILLISECOND: Micros = 1_000;

/// Returns the bits of the current time, in their place.
fn now() -> u32 {
    ((clock::up() / MILLISECOND) as u32) << 2
}

/// The fate of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// A background worker serves it.
    Running = 1,
    Failed,
    /// No worker was free.
    PutOff,
}

impl Request {
    /// Records the fate of the request.
    pub fn set(&self, fate: Fate) {
        self.0.store(now() | fate as u32, Ordering::Release);
    }

    /// Ends the request, as the segment is there or the worker is gone.
    pub fn end(&self) {
        self.0.store(0, Ordering::Release);
    }

    /// Returns whether the request has this fate, and not for longer than `span`.
    pub fn is(&self, fate: Fate, span: Micros) -> bool {
        let state = self.0.load(Ordering::Acquire);
        let since = now().wrapping_sub(state & !3) >> 2;
        state & 3 == fate as u32 && Micros::from(since) <= span / MILLISECOND
    }

    /// Returns whether a worker serves the request. A worker that was killed, or never started, counts for ten seconds.
    pub fn is_running(&self) -> bool {
        self.is(Fate::Running, 10_000_000)
    }

    /// Returns whether a session that still has values should not ask now.
    pub fn rests(&self) -> bool {
        self.is_running() || self.is(Fate::Failed, 5_000_000) || self.is(Fate::PutOff, 1_000_000)
    }
}
