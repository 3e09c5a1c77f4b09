//! Numbers: snowflakes of every built-in layout, Unix times, and numbers that are nothing else.

use crate::clock::Micros;
use crate::family::reading::{Context, Input, Part, Reading};
use crate::snowflake::builtin::{BUILTINS, Builtin};

/// The layouts that are the most common, in this order; the others follow in that of [`BUILTINS`].
const COMMON: [&str; 5] = ["twitter", "discord", "instagram", "mastodon", "sonyflake"];

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
    let rank = |builtin: &&Builtin| COMMON.iter().position(|name| *name == builtin.name);
    let mut builtins: Vec<&Builtin> = BUILTINS.iter().collect();
    builtins.sort_by_key(|builtin| rank(builtin).unwrap_or(COMMON.len()));
    builtins
        .into_iter()
        .filter_map(|builtin| of_layout(number, builtin, context))
        .collect()
}

fn of_layout(number: i64, builtin: &Builtin, context: &Context<'_>) -> Option<Reading> {
    let layout = &builtin.layout;
    let parts = layout.decode(number).ok()?;
    let has_shard = layout.shard.width > 0;
    let shard = parts.shard.cast_signed();
    let mut reading = Reading::new("snowflake", number.to_string())
        .version(builtin.name)
        .time(
            parts.at,
            context.is_plausible_since(layout.epoch(), parts.at),
        )
        .node(has_shard.then(|| shard.to_string()))
        .sequence(parts.sequence.cast_signed());
    let lower = layout.shard_split();
    if lower > 0 {
        let halves = vec![shard >> lower, shard & ((1 << lower) - 1)];
        reading = reading.part("node_parts", Part::Numbers(halves));
    }
    let is_of_caller = has_shard && context.nodes.contains(&shard);
    Some(if context.nodes.is_empty() || is_of_caller {
        reading
    } else {
        reading.with_wrong_node()
    })
}

/// Reads a number that counts something else.
pub fn integer(id: &Input<'_>, _: &Context<'_>) -> Vec<Reading> {
    let number = id.number().map(plain);
    number.into_iter().collect()
}

/// Returns a number of which no format says more.
pub fn plain(number: i64) -> Reading {
    Reading::new("integer", number.to_string()).saying_nothing()
}
