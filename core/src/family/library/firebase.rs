//! Push ids of Firebase's Realtime Database: 48 bits of milliseconds since 1970 and 72 random ones, as 20 digits of 64.

use crate::clock::Micros;
use crate::family::reading::{Context, Input, Reading};

/// The digits, in the order of ASCII.
const DIGITS: &[u8; 64] = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

/// Digits of the time, and of all.
const TIME: usize = 8;
const ALL: usize = 20;

/// Reads a push id. Any word of 20 such letters has a time, though seldom one of today's ids.
pub fn firebase(id: &Input<'_>, context: &Context<'_>) -> Vec<Reading> {
    let read = id.text().and_then(|text| {
        let values: Vec<i64> = text.iter().map_while(|&digit| value(digit)).collect();
        (values.len() == ALL && text.len() == ALL).then_some(())?;
        let (time, _) = values.split_at(TIME);
        let at: Micros = time.iter().fold(0, |at, value| at << 6 | value) * 1_000;
        let random = String::from_utf8_lossy(&text[TIME..]);
        let reading = Reading::new("firebase", String::from_utf8_lossy(text))
            .time(at, context.is_plausible(at))
            .part("random", random.into_owned());
        Some(reading)
    });
    read.into_iter().collect()
}

/// Returns the value of a digit.
fn value(digit: u8) -> Option<i64> {
    let place = DIGITS.iter().position(|one| *one == digit)?;
    place.try_into().ok()
}
