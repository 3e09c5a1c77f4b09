//! Notes of Misskey (packages/backend/src/misc/id): 8 digits of base36 with the milliseconds since 2000; behind them an
//! aid has 2 digits of a count, and an aidx 4 of the process and 4 of a count.

use crate::clock::Micros;
use crate::family::library::cuid::{base36, is_base36};
use crate::family::reading::{Context, Input, Reading};

/// 2000-01-01T00:00:00Z, and the first ids of either kind: 2018 and 2023.
const EPOCH: Micros = 946_684_800_000_000;
const AID: Micros = 1_514_764_800_000_000;
const AIDX: Micros = 1_672_531_200_000_000;

/// Reads an aid or an aidx. A word without a digit or a hexadecimal number is hardly one.
pub fn misskey(id: &Input<'_>, context: &Context<'_>) -> Vec<Reading> {
    let read = id.text().and_then(|text| {
        let (version, first) = match text.len() {
            10 => ("aid", AID),
            16 => ("aidx", AIDX),
            _ => return None,
        };
        let [high, low, rest @ ..] = text.as_chunks::<4>().0 else {
            return None;
        };
        let is_number = text.iter().all(u8::is_ascii_digit);
        (is_base36(text) && !is_number).then_some(())?;
        let at = Micros::from(base36(high)) * 36_i64.pow(4) + Micros::from(base36(low));
        let at = EPOCH + at * 1_000;
        let reading = Reading::new("misskey", String::from_utf8_lossy(text))
            .version(version)
            .time(at, at >= first && context.is_plausible(at));
        let reading = match rest {
            [process, count] => reading
                .node(Some(String::from_utf8_lossy(process).into_owned()))
                .sequence(base36(count).into()),
            // A tenth of all texts of 10 such digits have a time of these years.
            _ => reading.surprising(2.0),
        };
        let is_mixed =
            text.iter().any(u8::is_ascii_digit) && !text.iter().all(u8::is_ascii_hexdigit);
        Some(if is_mixed { reading } else { reading.odd() })
    });
    read.into_iter().collect()
}
