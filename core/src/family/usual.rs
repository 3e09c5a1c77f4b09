//! The constants by which `id_inspect` weighs the readings of a number: how usual it is in each format.
//!
//! A snowflake of almost any layout is a number that almost any other layout allows, but seldom makes: a tweet is of
//! data center 1 or 10 to 13, a busy server counts from 0 in each millisecond, a hash is any number. The *surprise* is
//! the information in an id under its layout, in bits: less of it is a better explanation of the same number. A number
//! of no known format has a surprise, too, so a format that fits by chance does not win because it is the only one.
//!
//! The sources of [`USUAL`] are the published ids in `core/tests/vectors` that made the order, and those that a row
//! names. No row was changed for the ids that are held out there.

use crate::clock::Micros;
use crate::family::reading::{Context, NONE_OF_THESE, OLDEST};
use crate::snowflake::builtin::Builtin;
use crate::snowflake::definition::Field;
use crate::snowflake::id::Parts;

/// The usual values of a field.
#[derive(Debug, Clone, Copy)]
enum Values {
    /// Any number: a hash, a random one, an address.
    Any,
    /// Small ones, and large ones now and then.
    Small,
    /// The first few, from this one on.
    First(u64),
    /// Values from the first number to below the second.
    Range(u64, u64),
    /// The first few in both halves of a split shard.
    Halves,
    /// Milliseconds, 3 bits that are seldom set, 5 bits of a count, 2 more of such bits and 4 of a kind of things.
    ByteDance,
}

/// The usual ids of a layout.
#[derive(Debug, Clone, Copy)]
struct Usual {
    layout: &'static str,
    /// The first year in which there were such ids, and the first one without.
    years: (i64, i64),
    /// The rarity of ids of the layout beside tweets, in bits.
    rare: f64,
    shard: Values,
    seq: Values,
}

const fn usual(
    layout: &'static str,
    years: (i64, i64),
    rare: f64,
    shard: Values,
    seq: Values,
) -> Usual {
    Usual {
        layout,
        years,
        rare,
        shard,
        seq,
    }
}

/// The end of a format that is in use.
const TODAY: i64 = 10_000;

/// Layouts of which something is known; the others are rare, and count from 0. If a layout has several rows, the one
/// counts in which an id is the least surprising.
#[rustfmt::skip]
const USUAL: [Usual; 26] = [
    // Data center 1 in its first years, then 10 to 13, of 32 machines each. Since 2024, sequences are any number below 512.
    usual("twitter", (2010, 2015), 0.0, Values::Range(32, 64), Values::First(0)),
    usual("twitter", (2015, 2024), 0.0, TWITTER, Values::First(0)),
    usual("twitter", (2024, TODAY), 0.0, TWITTER, Values::Range(0, 512)),
    // The sequence continues from one tick to the next.
    usual("discord", (2015, TODAY), 0.0, Values::Halves, Values::Small),
    usual("instagram", (2011, TODAY), 1.0, Values::Any, Values::Any),
    // Since version 2.0 of 2017. The sequence is a hash of the table and a counter.
    usual("mastodon", (2017, TODAY), 0.0, Values::Any, Values::Any),
    // The shard is half of an address.
    usual("sonyflake", (2014, TODAY), 4.0, Values::Any, Values::First(0)),
    usual("sonyflake2", (2025, TODAY), 5.0, Values::Any, Values::First(0)),
    usual("tsid", (2020, TODAY), 1.5, Values::Any, Values::Any),
    usual("tso", (2016, TODAY), 2.0, Values::Any, Values::Small),
    // Sequences below 5 are for clocks that stepped back.
    usual("yitter", (2020, TODAY), 4.0, Values::First(0), Values::First(5)),
    // The shard is a hash of the machine's addresses.
    usual("java", (2015, TODAY), 7.5, Values::Any, Values::First(0)),
    usual("pgdog", (2025, TODAY), 8.0, Values::Small, Values::First(0)),
    usual("pgdog_compact", (2025, TODAY), 6.0, Values::First(0), Values::First(0)),
    usual("javascript", (2025, TODAY), 5.0, Values::First(0), Values::First(0)),
    usual("pgedge", (2023, TODAY), 6.0, Values::Small, Values::First(0)),
    usual("leaf", (2017, TODAY), 10.0, Values::Small, Values::Range(0, 128)),
    // Its issue 100 on GitHub: 28 bits of seconds ended on 2024-11-20, and most services set fields of their own.
    usual("baidu", (2016, 2025), 10.0, Values::Small, Values::First(0)),
    // LinkedIn, of links of 2018 to 2026: machines below 192, and the first or the second id of a millisecond.
    usual("unix", (2010, TODAY), 1.0, Values::Range(0, 192), Values::Range(0, 2)),
    // ClickHouse, generateSnowflakeID, since version 24.6: a hash of the server.
    usual("unix", (2010, TODAY), 5.0, Values::Any, Values::First(0)),
    // Videos of TikTok and Douyin, articles of Toutiao and Juejin (arXiv 2504.13279, unfurl): machines below 64.
    usual("bytedance", (2012, TODAY), 2.5, Values::Range(0, 64), Values::ByteDance),
    // Microblogs, of links of 2012 to 2026. The service began in August 2009. Cards have numbers of the same length.
    usual("weibo", (2009, TODAY), 1.0, Values::Any, Values::Any),
    // Its SnowflakeService: both halves of the shard are random, or set as in its first years; the sequence counts on.
    usual("pixelfed", (2019, 2022), 6.5, Values::Halves, Values::First(0)),
    usual("pixelfed", (2019, TODAY), 1.0, Values::Any, Values::Any),
    usual("pixelfed", (2019, TODAY), 3.0, Values::Any, Values::Small),
    usual(OTHER, (0, TODAY), 10.0, Values::Small, Values::First(0)),
];

/// The name of the row of all other layouts.
const OTHER: &str = "";

/// The machines of data centers 10 to 13.
const TWITTER: Values = Values::Range(320, 448);

/// The rarity of numbers of no known format, beside tweets, in bits: counters with a check digit, keys, hashes. It is
/// such that Instagram's layout, in which any lower bits are usual, has less than half of the numbers that fit it.
const UNKNOWN: f64 = -6.0;

/// Returns the surprise of a number of no known format: each length in bits is as likely as any other.
fn of_any(number: i64) -> f64 {
    let bits = 64 - number.unsigned_abs().leading_zeros();
    UNKNOWN + 6.0 + f64::from(bits.saturating_sub(1))
}

/// Returns by how much the surprise of a number in a format is above that of a number in none, which weighs `NONE_OF_THESE`.
pub(super) fn beside_any(number: i64, surprise: f64) -> f64 {
    surprise - of_any(number) - NONE_OF_THESE.log2()
}

/// The surprise of an id of a node that the caller has, if there is but one, in bits: most ids are of other systems.
const KNOWN: f64 = 7.0;

/// Returns the start of a year, to the day.
const fn start_of(year: i64) -> Micros {
    (year - 1970) * 31_556_952_000_000
}

/// Returns the surprise of an id with these fields in a layout, and whether there were such ids at that time.
pub(super) fn of_layout(builtin: &Builtin, parts: &Parts, context: &Context<'_>) -> (f64, bool) {
    let layout = &builtin.layout;
    let is_listed = USUAL.iter().any(|row| row.layout == builtin.name);
    let name = if is_listed { builtin.name } else { OTHER };
    let rows = || USUAL.iter().filter(|row| row.layout == name);
    let first = rows().map(|row| row.years.0).min().unwrap_or(0);
    let since = layout.epoch().max(start_of(first));
    let known = match context.nodes.contains(&parts.shard.cast_signed()) {
        true => KNOWN + (context.nodes.len() as f64).log2(),
        false => f64::MAX,
    };
    let shard = |row: &Usual| match row.shard {
        Values::Halves => {
            let width = layout.shard_split();
            let below = Field { shift: 0, width };
            let above = Field {
                shift: width,
                width: layout.shard.width - width,
            };
            let half =
                |field: Field| of_field(Values::First(0), field.width, field.take(parts.shard));
            half(above) + half(below)
        }
        values => of_field(values, layout.shard.width, parts.shard),
    };
    let surprise = |row: &Usual| {
        row.rare + shard(row).min(known) + of_field(row.seq, layout.seq.width, parts.sequence)
    };
    let is_plausible = context.is_plausible_since(layout.epoch(), parts.at);
    let is_then = |row: &&Usual| {
        is_plausible && (start_of(row.years.0)..start_of(row.years.1)).contains(&parts.at)
    };
    let then = rows().filter(is_then).map(surprise).min_by(f64::total_cmp);
    let ever = || rows().map(surprise).fold(f64::MAX, f64::min);
    let time = match then {
        Some(_) => of_time(parts.at, since, layout.unit() as f64, context),
        None => ABSURD + f64::from(layout.time.width),
    };
    (time + then.unwrap_or_else(ever), then.is_some())
}

/// The rarity of times that are not plausible, in bits.
const ABSURD: f64 = 12.0;

/// Returns the surprise of a time in such units of microseconds. Systems make more ids each year, so the last one is
/// three times as likely as the first. Times that are not plausible are as many as 63 bits of microseconds have.
pub(super) fn of_time(at: Micros, since: Micros, unit: f64, context: &Context<'_>) -> f64 {
    let since = since.max(OLDEST);
    if at < since || !context.is_plausible(at) {
        return ABSURD + 63.0 - unit.log2();
    }
    let all = (context.now.saturating_sub(since) as f64).max(unit);
    let place = at.saturating_sub(since) as f64 / all;
    (all / unit).log2() - (0.5 + place.min(1.0)).log2()
}

/// Returns the surprise of a number that is one of the first few, of those that a field can have.
pub(super) fn of_first(width: u32, value: u64) -> f64 {
    of_field(Values::First(0), width, value)
}

/// The share of ids whose field is as usual.
const MOST: f64 = 0.85;

fn of_field(values: Values, width: u32, value: u64) -> f64 {
    let all = (1_u64 << width) as f64;
    let chance = match values {
        Values::Any => return f64::from(width),
        Values::ByteDance => {
            let field = |shift, width| Field { shift, width }.take(value);
            let milliseconds = of_field(Values::Range(0, 1_000), 10, field(14, 10));
            let unset = of_first(3, field(11, 3)) + of_first(2, field(4, 2));
            return milliseconds + unset + 9.0;
        }
        // 1 / 2, 1 / 6, 1 / 12, ..., of which the sum is 1.
        Values::First(start) if value >= start => {
            let place = (value - start) as f64 + 1.0;
            1.0 / (place * (place + 1.0))
        }
        // Its share is 1 / (value + 1), and the sum of these is about the logarithm.
        Values::Small => 1.0 / ((value as f64 + 1.0) * (all.ln() + 0.58)),
        Values::Range(first, end) if (first..end).contains(&value) => 1.0 / (end - first) as f64,
        Values::First(_) | Values::Range(..) | Values::Halves => 0.0,
    };
    let usual = if width == 0 { 1.0 } else { MOST * chance };
    -(usual + (1.0 - MOST) / all).min(1.0).log2()
}
