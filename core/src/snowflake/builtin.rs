//! The layouts of other systems, by name.
//!
//! A published name is frozen: what it means is stored in defaults, indexes and partition bounds.
//! A system that changes its layout gets a new name, as sonyflake2 did.

use crate::snowflake::definition::{Definition, Order};
use crate::snowflake::layout::Layout;

/// A layout with a name.
#[derive(Debug, Clone, Copy)]
pub struct Builtin {
    /// The name, in lower case.
    pub name: &'static str,
    /// The layout.
    pub layout: Layout,
}

pub(crate) const MS: u32 = 1_000;

/// Returns a layout with ticks of a millisecond, and time, shard and sequence in this order. `epoch` is in
/// milliseconds, as the systems themselves write it.
pub(crate) const fn millis(time: u32, shard: (u32, u32), seq: u32, epoch: i64) -> Definition {
    Definition {
        order: Order::TimeNodeSeq,
        time,
        shard,
        seq,
        unit: MS,
        epoch: epoch * 1_000,
        start: 0,
    }
}

pub(crate) const fn builtin(name: &'static str, definition: Definition) -> Builtin {
    match Layout::derive(definition) {
        Ok(layout) => Builtin { name, layout },
        // Evaluated by the compiler: a table that breaks a rule does not build.
        #[allow(clippy::panic)]
        Err(_) => panic!("not a layout"),
    }
}

/// Every built-in layout. Later ones never change the meaning of earlier ones.
pub static BUILTINS: [Builtin; 18] = [
    // Instagram, `Sharding & IDs` (2011). The fields take all 64 bits, so the sign bit ends positive ids in 2046.
    builtin("instagram", millis(41, (13, 0), 10, 1_314_220_021_721)),
    // twitter-archive/snowflake, tag snowflake-2010: datacenter and worker of 5 bits each.
    builtin("twitter", millis(41, (5, 5), 12, 1_288_834_974_657)),
    // Meituan-Dianping/Leaf, SnowflakeIDGenImpl. It draws a tick's first sequence from 0 to 99;
    // here from 128, because id % 2^k is uneven over any range that is not a power of two.
    builtin(
        "leaf",
        Definition {
            start: 7,
            ..millis(41, (10, 0), 12, 1_288_834_974_657)
        },
    ),
    // Discord developer documentation, "Snowflakes": worker and process of 5 bits each.
    builtin("discord", millis(42, (5, 5), 12, 1_420_070_400_000)),
    // callicoder's SequenceGenerator.java: epoch 2015-01-01.
    builtin("java", millis(41, (10, 0), 12, 1_420_070_400_000)),
    // sony/sonyflake v1: the sequence stands above the machine.
    builtin(
        "sonyflake",
        Definition {
            order: Order::TimeSeqNode,
            unit: 10 * MS,
            ..millis(39, (16, 0), 8, 1_409_529_600_000)
        },
    ),
    // sony/sonyflake v2 with its defaults.
    builtin(
        "sonyflake2",
        Definition {
            order: Order::TimeSeqNode,
            unit: 10 * MS,
            ..millis(39, (16, 0), 8, 1_735_689_600_000)
        },
    ),
    // GUAIK-ORG's goSnowFlake.
    builtin("goflake", millis(41, (10, 0), 12, 1_474_802_888_000)),
    // The snowflake that circulates as Taobao's: 16 workers, 1024 ids per millisecond.
    builtin("taobao", millis(49, (4, 0), 10, 1_361_753_741_828)),
    // baidu/uid-generator with its defaults: 28 bits of seconds, over since 2024-11-20.
    builtin(
        "baidu",
        Definition {
            unit: 1_000 * MS,
            ..millis(28, (22, 0), 13, 1_463_673_600_000)
        },
    ),
    // Mastodon's timestamp_id: no shard.
    builtin("mastodon", millis(48, (0, 0), 16, 0)),
    // pgEdge's snowflake extension: epoch 2023-01-01.
    builtin("pgedge", millis(41, (10, 0), 12, 1_672_531_200_000)),
    // tikv/pd, timestamp oracle: physical milliseconds and a logical counter, no shard.
    builtin("tso", millis(46, (0, 0), 18, 0)),
    // yitter/IdGenerator with its defaults; under 2^53 until 2089.
    builtin("yitter", millis(52, (6, 0), 6, 1_582_136_402_000)),
    // pg_mint's, for JavaScript: 53 bits, so that every id is exact in a double. 16 shards, 256 ids per
    // millisecond, until 2094.
    builtin("javascript", millis(41, (4, 0), 8, 1_735_689_600_000)),
    // f4b6a3/tsid-creator and hypersistence-tsid with their defaults: a tick begins anywhere in its sequence, and ids
    // past its last sequence carry into the next tick, as in every lane.
    builtin(
        "tsid",
        Definition {
            start: 12,
            ..millis(42, (10, 0), 12, 1_577_836_800_000)
        },
    ),
    // PgDog's `unique_id_function`, standard and compact: the latter is below 2^53.
    builtin("pgdog", millis(41, (10, 0), 12, 1_764_184_395_000)),
    builtin("pgdog_compact", millis(41, (6, 0), 6, 1_764_184_395_000)),
];

/// The layout of calls without one.
pub const DEFAULT_LAYOUT: &Layout = &BUILTINS[0].layout;

/// Returns the built-in layout of a name, in upper or lower case.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Layout> {
    BUILTINS
        .iter()
        .find(|builtin| builtin.name.eq_ignore_ascii_case(name))
        .map(|builtin| &builtin.layout)
}

/// Returns the name of a layout that is built in.
#[must_use]
pub fn name_of(layout: &Layout) -> Option<&'static str> {
    BUILTINS
        .iter()
        .find(|builtin| builtin.layout.definition() == layout.definition())
        .map(|builtin| builtin.name)
}
