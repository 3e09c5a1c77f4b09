//! Starting a lane above an id that another server issued, or that was imported.

use crate::clock::Micros;
use crate::snowflake::lane::Lane;
use crate::snowflake::layout::Layout;
use crate::snowflake::lease::Lease;
use crate::snowflake::mint::Refusal;
use crate::snowflake::mint::host::{Host, Policy};
use crate::snowflake::mint_error::MintError;

/// Lets a lane issue nothing at or below `word` from now on, also after a crash: a ceiling above it is on disk before
/// the lane moves.
///
/// - **Bounded**: a word whose tick starts more than `reach` ahead of the clock is refused, as the lane could issue
///   nothing until then, and after a restart no lane of the server.
/// - **Clock**: a clock that jumped forward is refused, as it is by minting.
/// - **Lease**: the word must lie before the lease's end, as later ids can be another server's.
///
/// # Errors
/// [`MintError`], or what interrupted the wait for a renewal.
pub fn start_above<H: Host>(
    lane: &Lane,
    layout: &Layout,
    word: u64,
    policy: &Policy,
    reach: Micros,
    host: &mut H,
) -> Result<(), Refusal<H::Interrupt>> {
    let start = layout.word_start_saturating(word);
    // Only the floor tells whether the clock can be trusted.
    if !host.ceiling().is_attached() {
        host.raise(Micros::MIN)?;
    }
    check_clock(start, policy, reach, host).map_err(Refusal::Refused)?;
    let began = host.up();
    let mut is_first = true;
    while let Some(until) = host.lease().map(Lease::until).filter(|&end| end <= start) {
        if host.up().saturating_sub(began) > policy.max_wait {
            return Err(Refusal::Refused(MintError::LeaseEnded { until }));
        }
        host.renew(std::mem::take(&mut is_first))?;
    }
    if host.ceiling().limit() <= start {
        host.raise(start)?;
    }
    lane.advance_to(word);
    Ok(())
}

/// Checks that the clock is right, and near enough.
fn check_clock<H: Host>(
    start: Micros,
    policy: &Policy,
    reach: Micros,
    host: &mut H,
) -> Result<(), MintError> {
    let (now, up) = (host.now(), host.up());
    // As in minting, a clock too far below the floor to mint by is not checked; the reach is measured from it all the
    // same.
    if host.ceiling().floor().saturating_sub(now) <= policy.max_ahead {
        let checked = host.anchor().check(now, up, policy.max_jump);
        checked.map_err(|by| MintError::ClockJumped { by })?;
    }
    let ahead = start.saturating_sub(now);
    if ahead > reach {
        return Err(MintError::BeyondReach { ahead, reach });
    }
    Ok(())
}
