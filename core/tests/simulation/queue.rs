//! The queue of due events.

use crate::request::{Answer, Request};
use mint_core::Micros;

/// A member's events belong to one life of it, except for `FailMember`, `CorrectClock` and `Lie`.
#[derive(Debug)]
pub enum Event {
    Mint,
    Ask,
    Arrive(u64, Request),
    Answer(u64, Answer),
    Timeout(u64),
    FailMember,
    CorrectClock,
    Lie,
    Start,
    Restore(Micros),
    Replicate,
    BackUp,
    FailRegistry,
    AdjustRegistryClock,
    ChangeSettings,
}

#[derive(Debug)]
pub struct Due {
    pub at: Micros,
    pub number: u64,
    pub member: usize,
    pub life: u32,
    pub event: Event,
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}
