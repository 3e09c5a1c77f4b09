//! Flakes of Pleroma (git.pleroma.social/pleroma/elixir-libraries/flake_id): 64 bits of milliseconds since 1970, 48 of the
//! machine and 16 of a count, as 18 digits of base62.

use crate::clock::Micros;
use crate::codec::text;
use crate::family::reading::{Context, Input, Reading};

/// The digits until the year 2275.
const LENGTH: usize = 18;
/// The largest count that is usual: it begins at 0 in each millisecond.
const MOST: i64 = 255;

/// Reads a flake.
pub fn flake(id: &Input<'_>, context: &Context<'_>) -> Vec<Reading> {
    let read = id.text().and_then(|text| {
        let base62 = text::by_name(b"base62")?;
        let is_number = text.iter().all(u8::is_ascii_digit);
        (text.len() == LENGTH && !is_number).then_some(())?;
        let bits = text.iter().try_fold(0_u128, |bits, &digit| {
            Some(bits * 62 + u128::from(base62.digit(digit)?))
        })?;
        let at = (bits >> 64) as Micros * 1_000;
        let count = (bits & 0xffff) as i64;
        let machine = hex::encode(&bits.to_be_bytes()[8..14]);
        let reading = Reading::new("flake", String::from_utf8_lossy(text))
            .time(at, context.is_plausible(at))
            .node(Some(machine))
            .sequence(count);
        Some(if count > MOST { reading.odd() } else { reading })
    });
    read.into_iter().collect()
}
