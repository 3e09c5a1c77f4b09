//! The reasons why a pass of minting gives no ids.

use crate::clock::Micros;
use crate::snowflake::layout::Layout;
use crate::snowflake::lease::Lease;
use crate::snowflake::mint::host::{Host, Policy};
use crate::snowflake::mint_error::MintError;

/// The reason why an attempt did not mint.
pub(super) enum Obstacle {
    /// The layout's rate: wait until the tick can be used.
    Capacity { need: Micros },
    /// The lane's last id is `behind` ahead of the clock, more than the policy allows.
    Clock { behind: Micros, need: Micros },
    /// The first tick that starts at or after the floor is too far ahead; the clock is `behind` the
    /// floor, or within the floor's tick.
    Floor { behind: Micros, need: Micros },
    /// The lane would move far at once.
    Leap { now: Micros },
    /// The run reaches the limit of the ceiling.
    Ceiling { beyond: Micros },
    /// The run reaches the end of the lease.
    Lease { until: Micros },
    /// Waiting does not help.
    Never(MintError),
}

/// Returns the obstacle of a tick that starts at or after the end of the lease or the limit of the ceiling.
#[cold]
pub(super) fn bound_obstacle<H: Host>(start: Micros, host: &H) -> Obstacle {
    match host.lease().map(Lease::until) {
        Some(until) if until <= start => Obstacle::Lease { until },
        _ => Obstacle::Ceiling { beyond: start },
    }
}

/// Returns the reason why there is no such tick: the layout has ended, or the floor is wrong.
#[cold]
pub(super) fn past_the_end(layout: &Layout, floor: Micros, now: Micros) -> MintError {
    if layout.word_at(floor) >> layout.seq.width <= layout.max_tick() {
        return MintError::Exhausted;
    }
    let need = floor.saturating_sub(now);
    MintError::BelowFloor { behind: need, need }
}

/// Returns why the run would begin too far ahead: the clock stepped back, the floor is ahead of the clock, or the lane's
/// rate is used up.
#[cold]
pub(super) fn too_far_ahead(
    layout: &Layout,
    policy: &Policy,
    last: u64,
    floor: Micros,
    start: Micros,
    now: Micros,
) -> Obstacle {
    let need = start.saturating_sub(now).saturating_sub(policy.max_ahead);
    let ahead = |word: u64| layout.word_start_saturating(word).saturating_sub(now);
    let (lane_ahead, floor_ahead) = (ahead(last), ahead(layout.word_at(floor)));
    // Releasing a lease moves the lane to the lease's end. There the floor, not a clock step, is the cause.
    if lane_ahead > policy.max_ahead && lane_ahead > floor_ahead {
        let behind = lane_ahead;
        Obstacle::Clock { behind, need }
    } else if floor_ahead > policy.max_ahead {
        let behind = floor.saturating_sub(now);
        Obstacle::Floor { behind, need }
    } else {
        Obstacle::Capacity { need }
    }
}
