//! Timestamp identifiers (TIDs) of the AT Protocol: microseconds since 1970 and 10 bits of a clock, as 13 digits of 32.

use crate::clock::Micros;
use crate::family::reading::{Context, Input, Reading};

/// The digits by their value.
const DIGITS: &[u8; 32] = b"234567abcdefghijklmnopqrstuvwxyz";
/// The number of digits: they hold 65 bits, of which the first is zero, and the second in all ids of today.
const LENGTH: usize = 13;
/// Bits of the clock.
const CLOCK: u32 = 10;

/// Reads a TID. Half of all words of 13 such letters have a time, though seldom one of today's ids.
pub fn atproto(id: &Input<'_>, context: &Context<'_>) -> Vec<Reading> {
    let read = id.text().and_then(|text| {
        let number = parse(text)?;
        let at = (number >> CLOCK).cast_signed() as Micros;
        let clock = number & ((1 << CLOCK) - 1);
        let reading = Reading::new("atproto", String::from_utf8_lossy(text))
            .time(at, context.is_plausible(at))
            .node(Some(clock.to_string()));
        Some(reading)
    });
    read.into_iter().collect()
}

fn parse(text: &[u8]) -> Option<u64> {
    (text.len() == LENGTH).then_some(())?;
    let number = text.iter().try_fold(0_u128, |number, digit| {
        let value = DIGITS.iter().position(|it| it == digit)?;
        Some(number << 5 | value as u128)
    })?;
    u64::try_from(number).ok()
}
