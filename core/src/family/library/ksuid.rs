//! KSUIDs (github.com/segmentio/ksuid): 32 bits of seconds since 2014 and 128 random ones, as 27 digits of base62.

use crate::clock::Micros;
use crate::codec::text;
use crate::family::reading::{Context, Input, Reading};

/// 2014-05-13T16:53:20Z in seconds.
const EPOCH: Micros = 1_400_000_000;

/// Reads a KSUID.
pub fn ksuid(id: &Input<'_>, context: &Context<'_>) -> Vec<Reading> {
    let read = id.text().and_then(|text| Some((text, parse(text)?)));
    let readings = read.map(|(text, (seconds, payload))| {
        let at = (EPOCH + Micros::from(seconds)) * 1_000_000;
        let reading = Reading::new("ksuid", String::from_utf8_lossy(text))
            .part("payload", format!("{payload:032x}"));
        if matches!((seconds, payload), (0, 0) | (u32::MAX, u128::MAX)) {
            return reading.constant(seconds == 0);
        }
        let reading = reading.time(at, context.is_plausible(at));
        // One KSUID of two million has no lower case; a UUID in crockford-check never has any.
        let has_lower_case = text.iter().any(u8::is_ascii_lowercase);
        if has_lower_case {
            reading
        } else {
            reading.odd()
        }
    });
    readings.into_iter().collect()
}

/// Returns the seconds and the payload: 160 bits, as five words of 32.
fn parse(digits: &[u8]) -> Option<(u32, u128)> {
    let base62 = text::by_name(b"base62")?;
    let mut words = [0_u32; 5];
    (digits.len() == 27).then_some(())?;
    for &digit in digits {
        let mut carry = u64::from(base62.digit(digit)?);
        for word in words.iter_mut().rev() {
            let sum = u64::from(*word) * 62 + carry;
            (*word, carry) = (sum as u32, sum >> 32);
        }
        (carry == 0).then_some(())?;
    }
    let [seconds, payload @ ..] = words;
    let payload = payload
        .into_iter()
        .fold(0, |sum: u128, word| sum << 32 | u128::from(word));
    Some((seconds, payload))
}
