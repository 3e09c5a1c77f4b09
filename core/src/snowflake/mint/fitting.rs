//! Minting of ids that fit a condition, such as the partition by hash that their rows are for.

use crate::snowflake::lane::Lane;
use crate::snowflake::layout::Layout;
use crate::snowflake::mint::host::{Host, Policy};
use crate::snowflake::mint::{Refusal, mint};

/// The number of words that are searched before a caller can be interrupted.
const LOOKAHEAD: u64 = 4_096;

/// Mints a word that `fits`, or returns none if no word of the run that it took fits: then call it again. The other
/// words of the run are lost.
///
/// The words after the lane's last one are searched before one swap takes those up to the first that fits, so no more
/// are lost. If the lane moves meanwhile, by another session or to a new tick, the swap takes as many other words, and
/// one of them is as likely to fit.
///
/// As with [`mint()`], the word is above all that were minted before, and the same limits apply.
///
/// # Errors
/// As [`mint()`].
#[inline(always)]
pub fn mint_fitting<H: Host>(
    lane: &Lane,
    layout: &Layout,
    policy: &Policy,
    host: &mut H,
    fits: impl Fn(u64) -> bool,
) -> Result<Option<u64>, Refusal<H::Interrupt>> {
    let last = lane.last();
    let want = (1..LOOKAHEAD)
        .find(|ahead| fits(last + ahead))
        .unwrap_or(LOOKAHEAD);
    let run = mint(lane, layout, want, policy, host)?;
    // From the end, where the word is that the search found.
    Ok((run.first..run.first + run.count).rfind(|&word| fits(word)))
}
