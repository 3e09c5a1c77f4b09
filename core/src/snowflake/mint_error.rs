//! Reasons why no id can be minted now, and their messages.

use crate::clock::{Micros, duration_text, timestamp_text};
use crate::snowflake::layout::Layout;

/// Reason why no id can be minted now. Durations are in microseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MintError {
    /// The time field is used up: the layout has come to its end.
    Exhausted,
    /// The clock stands before the layout's epoch.
    BeforeEpoch,
    /// The lane is `ahead` of the clock, and reaching it takes `need`, which is longer than the policy's `max_wait`.
    /// The clock was set back, `max_ahead` lowered, or the lease released.
    ClockBehind {
        /// The time by which the lane's last id is ahead of the clock.
        ahead: Micros,
        /// The wait that a call would need.
        need: Micros,
    },
    /// The clock is `behind` the durable ceiling of an earlier run of the server, below which ids may
    /// have been issued, and reaching it takes `need`, which is longer than the policy's `max_wait`.
    BelowFloor {
        /// The time by which the ceiling is ahead of the clock. It is not positive when the clock has passed the
        /// ceiling, and only the next tick of the layout is far.
        behind: Micros,
        /// The wait that a call would need.
        need: Micros,
    },
    /// The lease begins at `from`, and reaching it takes `need`, which is longer than the policy's `max_wait`.
    BeforeLease {
        /// The start of the lease.
        from: Micros,
        /// The wait that a call would need.
        need: Micros,
    },
    /// The lease ended at `until`, and was not renewed within the policy's `max_wait`.
    LeaseEnded {
        /// The end of the lease.
        until: Micros,
    },
    /// A lane is to start above an id that is `ahead` of the clock, more than `reach`.
    BeyondReach {
        /// The time by which the id is ahead of the clock.
        ahead: Micros,
        /// The most that it can be.
        reach: Micros,
    },
    /// The clock went forward by `by` more than the time that passed.
    ClockJumped {
        /// The surplus.
        by: Micros,
    },
}

/// Returns the name of the lane of (layout, shard) in messages.
#[must_use]
pub fn lane_name(layout: &Layout, shard: u64) -> String {
    format!("lane (layout \"{layout}\", shard {shard})")
}

/// Returns the message for a lease that has ended.
#[must_use]
pub fn lease_ended(until: Micros) -> String {
    let until = timestamp_text(until);
    format!("node lease ended at {until}")
}

impl MintError {
    /// Returns the message, for a lane of (layout, shard) and a floor that is named so.
    #[must_use]
    pub fn message(&self, layout: &Layout, shard: u64, floor: &str) -> String {
        let lane = lane_name(layout, shard);
        match self {
            Self::Exhausted => {
                format!("layout \"{layout}\" has reached the end of its time field")
            }
            Self::BeforeEpoch => {
                format!("epoch of layout \"{layout}\" is in the future")
            }
            Self::ClockBehind { ahead, .. } => {
                let ahead = duration_text(*ahead);
                format!("system clock is {ahead} behind the last id of {lane}")
            }
            Self::BelowFloor { behind: ..=0, need } => {
                let need = duration_text(*need);
                format!("next tick of layout \"{layout}\" is {need} away")
            }
            Self::BelowFloor { behind, .. } => {
                let behind = duration_text(*behind);
                format!("system clock is {behind} behind {floor}")
            }
            Self::BeforeLease { from, .. } => {
                let from = timestamp_text(*from);
                format!("node lease does not start until {from}")
            }
            Self::LeaseEnded { until } => lease_ended(*until),
            Self::BeyondReach { ahead, .. } => {
                let ahead = duration_text(*ahead);
                format!("id is {ahead} ahead of the system clock")
            }
            Self::ClockJumped { by } => {
                let by = duration_text(*by);
                format!("system clock jumped forward by {by}")
            }
        }
    }
}
