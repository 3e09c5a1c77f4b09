//! The order of readings that no fact speaks against, by how usual the id is in them.
//!
//! A snowflake of almost any layout is a number that almost any other layout allows, but seldom makes: a tweet is of
//! data center 1 or 10 to 13, a busy server counts from 0 in each millisecond, a hash is any number. The *surprise* is
//! the information in an id under its layout, in bits: less of it is a better explanation of the same number.

use crate::clock::Micros;
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
}

/// The usual ids of a layout.
#[derive(Debug, Clone, Copy)]
struct Usual {
    layout: &'static str,
    /// The time when other ids became usual.
    until: Micros,
    /// The rarity of ids of the layout beside tweets, in bits.
    rare: f64,
    shard: Values,
    seq: Values,
}

const fn usual(layout: &'static str, rare: f64, shard: Values, seq: Values) -> Usual {
    Usual {
        layout,
        until: Micros::MAX,
        rare,
        shard,
        seq,
    }
}

/// Layouts of which something is known; the others are rare, and count from 0.
const USUAL: [Usual; 17] = [
    // Data center 1 in its first years, then 10 to 13, of 32 machines each. Since 2024, sequences are any number below 512.
    Usual {
        until: Y2015,
        ..usual("twitter", 0.0, Values::Range(32, 64), Values::First(0))
    },
    Usual {
        until: Y2024,
        ..usual("twitter", 0.0, TWITTER, Values::First(0))
    },
    usual("twitter", 0.0, TWITTER, Values::Range(0, 512)),
    // The sequence continues from one tick to the next.
    usual("discord", 0.0, Values::Halves, Values::Small),
    usual("instagram", 1.0, Values::Any, Values::Any),
    // The sequence is a hash of the table and a counter.
    usual("mastodon", 1.0, Values::Any, Values::Any),
    // The shard is half of an address.
    usual("sonyflake", 4.0, Values::Any, Values::First(0)),
    usual("sonyflake2", 5.0, Values::Any, Values::First(0)),
    usual("tsid", 1.5, Values::Any, Values::Any),
    usual("tso", 2.0, Values::Any, Values::Small),
    // Sequences below 5 are for clocks that stepped back.
    usual("yitter", 4.0, Values::First(0), Values::First(5)),
    // The shard is a hash of the machine's addresses.
    usual("java", 7.5, Values::Any, Values::First(0)),
    usual("pgdog", 7.0, Values::Small, Values::First(0)),
    usual("pgdog_compact", 5.0, Values::First(0), Values::First(0)),
    usual("javascript", 5.0, Values::First(0), Values::First(0)),
    usual("pgedge", 7.5, Values::Small, Values::First(0)),
    usual("leaf", 10.0, Values::Small, Values::Range(0, 128)),
];

const OTHER: Usual = usual("", 10.0, Values::Small, Values::First(0));

/// The machines of data centers 10 to 13.
const TWITTER: Values = Values::Range(320, 448);

/// 2015-01-01T00:00:00Z.
const Y2015: Micros = 1_420_070_400_000_000;
/// 2024-01-01T00:00:00Z.
const Y2024: Micros = 1_704_067_200_000_000;
/// 2005-01-01T00:00:00Z; hardly an id is older.
const FIRST: Micros = 1_104_537_600_000_000;

/// Returns the surprise of an id of a layout.
pub(super) fn of_layout(builtin: &Builtin, parts: &Parts, now: Micros) -> f64 {
    let layout = &builtin.layout;
    let mut usual = USUAL.iter();
    let usual = usual.find(|usual| usual.layout == builtin.name && parts.at < usual.until);
    let usual = usual.unwrap_or(&OTHER);
    let lower = layout.shard_split();
    let shard = match usual.shard {
        Values::Halves => {
            let below = Field {
                shift: 0,
                width: lower,
            };
            let above = Field {
                shift: lower,
                width: layout.shard.width.saturating_sub(lower),
            };
            let half = |field: Field| of_field(Values::First(0), field, field.take(parts.shard));
            half(above) + half(below)
        }
        values => of_field(values, layout.shard, parts.shard),
    };
    let time = of_time(parts.at, layout.epoch(), layout.unit(), now);
    usual.rare + time + shard + of_field(usual.seq, layout.seq, parts.sequence)
}

/// Returns the surprise of a time. Systems make more ids each year, so the last one is three times as likely as the first.
pub(super) fn of_time(at: Micros, epoch: Micros, unit: Micros, now: Micros) -> f64 {
    let first = epoch.max(FIRST);
    let ticks = |span: Micros| (span.max(0) as f64 / unit as f64).max(1.0);
    let all = ticks(now.saturating_sub(first));
    all.log2() - (0.5 + ticks(at.saturating_sub(first)) / all).log2()
}

/// Returns the surprise of a number that is one of the first few, of those that a field can have.
pub(super) fn of_first(width: u32, value: u64) -> f64 {
    let field = Field { shift: 0, width };
    of_field(Values::First(0), field, value)
}

/// The share of ids whose field is as usual.
const MOST: f64 = 0.85;

fn of_field(values: Values, field: Field, value: u64) -> f64 {
    if field.width == 0 {
        return 0.0;
    }
    let all = field.max() as f64 + 1.0;
    let chance = match values {
        Values::Any => return f64::from(field.width),
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
    -(MOST * chance + (1.0 - MOST) / all).log2()
}
