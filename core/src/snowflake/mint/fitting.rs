//! Minting of ids that fit a condition, such as the partition by hash that their rows are for.

use crate::snowflake::lane::Lane;
use crate::snowflake::layout::Layout;
use crate::snowflake::mint::host::{Host, Policy};
use crate::snowflake::mint::{Refusal, mint};

/// How many words are looked at before a caller can be interrupted.
const LOOKAHEAD: u64 = 4_096;

/// Mints a word that `fits`, or none if there was none among those that were taken: then call it again. Other words that
/// were taken are lost to the lane.
///
/// The search is ahead of where the lane stands, so one swap takes the words up to the first one that fits, and no more of
/// them are lost. Where the lane went elsewhere meanwhile, because another session moved it or a new tick began,
/// the words taken are others, and as likely to have one that fits.
///
/// Else as [`mint()`]: what is returned is above all ids minted before, and is minted under the same limits.
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
    // From the end, where the search has found one.
    Ok((run.first..run.first + run.count).rfind(|&word| fits(word)))
}
