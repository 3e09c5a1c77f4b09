//! CockroachDB's `unique_rowid()`: 10 microseconds since 2015, and 15 bits of the node below them.

use crate::clock::Micros;
use crate::family::reading::{Context, Input, Reading};
use crate::family::usual;

/// 2015-01-01T00:00:00Z.
const EPOCH: Micros = 1_420_070_400_000_000;
const UNIT: Micros = 10;
/// Bits of the node.
const NODE: u32 = 15;
/// The rarity of these ids beside tweets, in bits.
const RARE: f64 = 2.0;

/// Reads a row's id.
pub fn cockroachdb(id: &Input<'_>, context: &Context<'_>) -> Vec<Reading> {
    let number = id.number().filter(|&number| number > 0);
    let readings = number.map(|number| {
        let at = EPOCH + (number >> NODE) * UNIT;
        let node = number & ((1 << NODE) - 1);
        let surprise = RARE
            + usual::of_time(at, EPOCH, UNIT as f64, context)
            + usual::of_first(NODE, node.unsigned_abs());
        Reading::new("cockroachdb", number.to_string())
            .time(at, context.is_plausible_since(EPOCH, at))
            .server_node(node, context)
            .surprising(usual::beside_any(number, surprise))
    });
    readings.into_iter().collect()
}
