//! The request for the next segment from another server, in the slot of its sequence.

use crate::pg::machine::clock;
use mint_core::Micros;
use std::sync::atomic::{AtomicU32, Ordering};

/// 0 when there is none. Otherwise what became of it, and since when, in tenths of a second since boot.
#[repr(transparent)]
pub struct Request(AtomicU32);

/// How exact times are.
pub const TENTH: Micros = 100_000;

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
        let tenths = (clock::up() / TENTH) as u32;
        self.0.store(tenths << 2 | fate as u32, Ordering::Release);
    }

    /// Ends it, as the segment is there or the worker is gone.
    pub fn end(&self) {
        self.0.store(0, Ordering::Release);
    }

    /// Returns whether it is so, and not for longer than `span`.
    pub fn is(&self, fate: Fate, span: Micros) -> bool {
        let state = self.0.load(Ordering::Acquire);
        let since = Micros::from(state >> 2) * TENTH;
        state & 3 == fate as u32 && clock::up() - since <= span
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
