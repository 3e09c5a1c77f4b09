//! Numbers: snowflakes of every built-in layout, Unix times, and mere numbers.

use crate::clock::Micros;
use crate::family::reading::{Context, Input, Part, Reading};
use crate::family::usual;
use crate::snowflake::builtin::{BUILTINS, Builtin};

/// Reads seconds and milliseconds since 1970.
pub fn unix(id: &Input<'_>, context: &Context<'_>) -> Vec<Reading> {
    let Some(number) = id.number() else {
        return Vec::new();
    };
    let units: [(&str, Micros); 2] = [("s", 1_000_000), ("ms", 1_000)];
    let times = units.into_iter().filter_map(|(unit, micros)| {
        let at = number.checked_mul(micros)?;
        let reading = Reading::new("unix", number.to_string()).version(unit);
        Some(reading.time(at, context.is_plausible(at)))
    });
    times.collect()
}

/// Reads a snowflake of each layout.
pub fn snowflake(id: &Input<'_>, context: &Context<'_>) -> Vec<Reading> {
    id.number()
        .map_or_else(Vec::new, |number| snowflakes(number, context))
}

/// Reads a number by each layout that can have made it.
pub fn snowflakes(number: i64, context: &Context<'_>) -> Vec<Reading> {
    BUILTINS
        .iter()
        .filter_map(|builtin| of_layout(number, builtin, context))
        .collect()
}

fn of_layout(number: i64, builtin: &Builtin, context: &Context<'_>) -> Option<Reading> {
    let layout = &builtin.layout;
    let parts = layout.decode(number).ok()?;
    let shard = parts.shard.cast_signed();
    let reading = Reading::new("snowflake", number.to_string())
        .version(builtin.name)
        .time(
            parts.at,
            context.is_plausible_since(layout.epoch(), parts.at),
        )
        .sequence(parts.sequence.cast_signed())
        .surprising(usual::of_layout(builtin, &parts, context.now));
    if layout.shard.width == 0 {
        return Some(reading.without_node(context));
    }
    let reading = reading.of_node(shard, context);
    let lower = layout.shard_split();
    if lower == 0 {
        return Some(reading);
    }
    let halves = vec![shard >> lower, shard & ((1 << lower) - 1)];
    Some(reading.part("node_parts", Part::Numbers(halves)))
}

/// Reads a number as a count of something else.
pub fn integer(id: &Input<'_>, _: &Context<'_>) -> Vec<Reading> {
    let number = id.number().map(plain);
    number.into_iter().collect()
}

/// Returns a number as nothing but a number.
pub fn plain(number: i64) -> Reading {
    Reading::new("integer", number.to_string()).saying_nothing()
}
