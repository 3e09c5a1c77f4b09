//! CUIDs (github.com/paralleldrive/cuid), which begin with their time, and CUID2s (github.com/paralleldrive/cuid2), which are
//! a hash of everything.

use crate::clock::Micros;
use crate::family::reading::{Context, Input, Reading};

/// The digits of a CUID: the letter c, 8 of time, 4 of a counter, 4 of the process, 8 random ones.
const CUID: usize = 25;
/// The usual digits of a CUID2.
const CUID2: usize = 24;

/// Reads a CUID.
pub fn cuid(id: &Input<'_>, context: &Context<'_>) -> Vec<Reading> {
    let read = id.text().and_then(|text| {
        let digits = text.strip_prefix(b"c")?;
        (text.len() == CUID && is_base36(digits)).then_some(())?;
        let [time, low, counter, process, ..] = digits.as_chunks::<4>().0 else {
            return None;
        };
        let at = Micros::from(base36(time)) * 36_i64.pow(4) + Micros::from(base36(low));
        let at = at * 1_000;
        let reading = Reading::new("cuid", String::from_utf8_lossy(text))
            .time(at, context.is_plausible(at))
            .node(Some(String::from_utf8_lossy(process).into_owned()));
        Some(reading.sequence(base36(counter).into()))
    });
    read.into_iter().collect()
}

/// Reads a text that can be a CUID2 of the usual length. It requires a digit, to exclude words, which rejects one CUID2 of
/// a thousand.
pub fn cuid2(id: &Input<'_>, _: &Context<'_>) -> Vec<Reading> {
    Reading::if_text("cuid2", id, |text| {
        text.len() == CUID2
            && is_base36(text)
            && text[0].is_ascii_lowercase()
            && text.iter().any(u8::is_ascii_digit)
    })
}

/// Returns whether all digits are those of base36.
pub(super) fn is_base36(text: &[u8]) -> bool {
    let is_digit = |digit: &u8| digit.is_ascii_digit() || digit.is_ascii_lowercase();
    text.iter().all(is_digit)
}

/// Returns the number of four digits.
pub(super) fn base36(digits: &[u8; 4]) -> u32 {
    let value = |digit: u8| char::from(digit).to_digit(36).unwrap_or(0);
    digits
        .iter()
        .fold(0, |number, &digit| number * 36 + value(digit))
}
