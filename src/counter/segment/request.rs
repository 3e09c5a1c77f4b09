//! The request for the next segment from another server, in the slot of its sequence.

use crate::pg::machine::clock;
use mint_core::Micros;
use std::sync::atomic::{AtomicU32, Ordering};

/// 0 when there is none. Otherwise what became of it, and since when, in milliseconds since boot: the lower 30 bits of them.
#[repr(transparent)]
pub struct Request(AtomicU32);

const MILLISECOND: Micros = 1_000;

/// Returns the bits of the current time, in their place.
fn now() -> u32 {
    ((clock::up() / MILLISECOND) as u32) << 2
}

/// What became of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// A background worker is about it.
    Running = 1,
    Failed,
    /// No worker was free.
    PutOff,
}

impl Request {
    /// Records what became of it.
    pub fn set(&self, fate: Fate) {
        self.0.store(now() | fate as u32, Ordering::Release);
    }

    /// Ends it, as the segment is there or the worker is gone.
    pub fn end(&self) {
        self.0.store(0, Ordering::Release);
    }

    /// Returns whether it is so, and not for longer than `span`.
    pub fn is(&self, fate: Fate, span: Micros) -> bool {
        let state = self.0.load(Ordering::Acquire);
        let since = now().wrapping_sub(state & !3) >> 2;
        state & 3 == fate as u32 && Micros::from(since) <= span / MILLISECOND
    }

    /// Returns whether a worker is about it. One that was killed, or never started, is not waited for for ever.
    pub fn is_running(&self) -> bool {
        self.is(Fate::Running, 10_000_000)
    }

    /// Returns whether nobody is to ask who still has values.
    pub fn rests(&self) -> bool {
        self.is_running() || self.is(Fate::Failed, 5_000_000) || self.is(Fate::PutOff, 1_000_000)
    }
}
