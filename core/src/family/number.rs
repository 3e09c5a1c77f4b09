//! Numbers: snowflakes of every layout that is built in or only read, Unix times, and mere numbers.

use crate::clock::Micros;
use crate::family::reading::{Context, Input, OLDEST, Part, Reading};
use crate::family::usual;
use crate::snowflake::builtin::{BUILTINS, Builtin, MS, builtin, millis};
use crate::snowflake::definition::{Definition, Order};

/// Units since 1970: their length in microseconds, and the rarity of such times beside tweets, in bits.
const UNITS: [(&str, f64, f64); 4] = [
    ("s", 1e6, -4.0),
    ("ms", 1e3, -4.0),
    ("us", 1.0, -1.0),
    ("ns", 1e-3, 4.5),
];

/// Reads seconds to nanoseconds since 1970.
pub fn unix(id: &Input<'_>, context: &Context<'_>) -> Vec<Reading> {
    let Some(number) = id.number() else {
        return Vec::new();
    };
    let times = UNITS.iter().filter_map(|&(version, unit, rare)| {
        let at = match version {
            "ns" => number.div_euclid(1_000),
            _ => number.checked_mul(unit as Micros)?,
        };
        let time = usual::of_time(at, OLDEST, unit, context);
        // Most clocks count microseconds. One of a thousand other numbers ends with three zeros, too.
        let zeros = if version == "ns" && number % 1_000 == 0 {
            -9.0
        } else {
            0.0
        };
        let reading = Reading::new("unix", number.to_string()).version(version);
        let reading = reading.surprising(usual::beside_any(number, rare + time + zeros));
        Some(reading.time(at, context.is_plausible(at)))
    });
    times.collect()
}

/// Layouts that no function has by name, as no database should generate such ids.
static FOREIGN: [Builtin; 4] = [
    // LinkedIn, whose manual has the time of a share (entity monitoring), and ClickHouse's generateSnowflakeID.
    builtin("unix", millis(41, (10, 0), 12, 0)),
    // TikTok, Douyin, Toutiao and Juejin: arXiv 2504.13279, and github.com/obsidianforensics/unfurl. The lowest bits
    // are of a machine; above them, there are milliseconds, a count and a kind of things.
    builtin(
        "bytedance",
        Definition {
            order: Order::TimeSeqNode,
            unit: 1_000 * MS,
            ..millis(31, (8, 0), 24, 0)
        },
    ),
    // Weibo: seconds since 1986-05-03T05:51:03Z, by programs that collect microblogs, which show the same time.
    builtin(
        "weibo",
        Definition {
            unit: 1_000 * MS,
            ..millis(41, (0, 0), 22, 515_483_463_000)
        },
    ),
    // github.com/pixelfed/pixelfed, app/Services/SnowflakeService.php.
    builtin("pixelfed", millis(41, (5, 5), 12, 1_549_756_800_000)),
];

/// Reads a snowflake of each layout.
pub fn snowflake(id: &Input<'_>, context: &Context<'_>) -> Vec<Reading> {
    id.number()
        .map_or_else(Vec::new, |number| snowflakes(number, context))
}

/// Reads a number by each layout that can have made it.
pub fn snowflakes(number: i64, context: &Context<'_>) -> Vec<Reading> {
    let builtins = BUILTINS
        .iter()
        .filter_map(|builtin| of_layout(number, builtin, context));
    let foreign = FOREIGN.iter().filter_map(|foreign| {
        let reading = of_layout(number, foreign, context)?;
        Some(reading.part("layout", foreign.layout.to_string()))
    });
    builtins.chain(foreign).collect()
}

fn of_layout(number: i64, builtin: &Builtin, context: &Context<'_>) -> Option<Reading> {
    let layout = &builtin.layout;
    let parts = layout.decode(number).ok()?;
    let shard = parts.shard.cast_signed();
    let (surprise, is_then) = usual::of_layout(builtin, &parts, context);
    let reading = Reading::new("snowflake", number.to_string())
        .version(builtin.name)
        .time(parts.at, is_then)
        .sequence(parts.sequence.cast_signed())
        .surprising(usual::beside_any(number, surprise));
    if layout.shard.width == 0 {
        return Some(reading.without_node(context));
    }
    let reading = reading.server_node(shard, context);
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

/// The largest number that counters have, but for a few, and the rarity of larger ones, in bits.
const LARGEST: i64 = 1 << 40;
const LARGE: f64 = 8.0;

/// Returns a number as nothing but a number.
pub fn plain(number: i64) -> Reading {
    let reading = Reading::new("integer", number.to_string()).saying_nothing();
    reading.surprising(if number > LARGEST { LARGE } else { 0.0 })
}
