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

const MS: u32 = 1_000;
const SECOND: u32 = 1_000_000;

/// `epoch` is in milliseconds, as the systems themselves write it.
const fn builtin(
    name: &'static str,
    (time, node, seq): (u32, (u32, u32), u32),
    unit: u32,
    epoch: i64,
    order: Order,
    start: u32,
) -> Builtin {
    let epoch = epoch * 1_000;
    match Layout::derive(Definition {
        order,
        time,
        node,
        seq,
        unit,
        epoch,
        start,
    }) {
        Ok(layout) => Builtin { name, layout },
        // Evaluated by the compiler: a table that breaks a rule does not build.
        #[allow(clippy::panic)]
        Err(_) => panic!("not a layout"),
    }
}

use Order::{TimeNodeSeq, TimeSeqNode};

/// Every built-in layout. Later ones never change the meaning of earlier ones.
pub static BUILTINS: [Builtin; 15] = [
    // Instagram, "Sharding & IDs" (2011). All 64 bits, so a positive bigint ends in 2046.
    builtin(
        "instagram",
        (41, (13, 0), 10),
        MS,
        1_314_220_021_721,
        TimeNodeSeq,
        0,
    ),
    // twitter-archive/snowflake, tag snowflake-2010: datacenter and worker of 5 bits each.
    builtin(
        "twitter",
        (41, (5, 5), 12),
        MS,
        1_288_834_974_657,
        TimeNodeSeq,
        0,
    ),
    // Meituan-Dianping/Leaf, SnowflakeIDGenImpl. It draws a tick's first sequence from 0 to 99;
    // here from 128, because id % 2^k is uneven over any range that is not a power of two.
    builtin(
        "leaf",
        (41, (10, 0), 12),
        MS,
        1_288_834_974_657,
        TimeNodeSeq,
        7,
    ),
    // Discord developer documentation, "Snowflakes": worker and process of 5 bits each.
    builtin(
        "discord",
        (42, (5, 5), 12),
        MS,
        1_420_070_400_000,
        TimeNodeSeq,
        0,
    ),
    // callicoder's SequenceGenerator.java: epoch 2015-01-01.
    builtin(
        "java",
        (41, (10, 0), 12),
        MS,
        1_420_070_400_000,
        TimeNodeSeq,
        0,
    ),
    // sony/sonyflake v1: the sequence stands above the machine.
    builtin(
        "sonyflake",
        (39, (16, 0), 8),
        10 * MS,
        1_409_529_600_000,
        TimeSeqNode,
        0,
    ),
    // sony/sonyflake v2 with its defaults.
    builtin(
        "sonyflake2",
        (39, (16, 0), 8),
        10 * MS,
        1_735_689_600_000,
        TimeSeqNode,
        0,
    ),
    // GUAIK-ORG's goSnowFlake.
    builtin(
        "goflake",
        (41, (10, 0), 12),
        MS,
        1_474_802_888_000,
        TimeNodeSeq,
        0,
    ),
    // The snowflake that circulates as Taobao's: 16 workers, 1024 ids per millisecond.
    builtin(
        "taobao",
        (49, (4, 0), 10),
        MS,
        1_361_753_741_828,
        TimeNodeSeq,
        0,
    ),
    // baidu/uid-generator with its defaults: 28 bits of seconds, over since 2024-11-20.
    builtin(
        "baidu",
        (28, (22, 0), 13),
        SECOND,
        1_463_673_600_000,
        TimeNodeSeq,
        0,
    ),
    // Mastodon's timestamp_id: no node.
    builtin("mastodon", (48, (0, 0), 16), MS, 0, TimeNodeSeq, 0),
    // pgEdge's snowflake extension: epoch 2023-01-01.
    builtin(
        "pgedge",
        (41, (10, 0), 12),
        MS,
        1_672_531_200_000,
        TimeNodeSeq,
        0,
    ),
    // tikv/pd, timestamp oracle: physical milliseconds and a logical counter, no node.
    builtin("tso", (46, (0, 0), 18), MS, 0, TimeNodeSeq, 0),
    // yitter/IdGenerator with its defaults; under 2^53 until 2089.
    builtin(
        "yitter",
        (52, (6, 0), 6),
        MS,
        1_582_136_402_000,
        TimeNodeSeq,
        0,
    ),
    // pg_mint's, for JavaScript: 53 bits, so that every id is exact in a double. 16 nodes, 256 ids per
    // millisecond, until 2094.
    builtin(
        "javascript",
        (41, (4, 0), 8),
        MS,
        1_735_689_600_000,
        TimeNodeSeq,
        0,
    ),
];

/// Returns the built-in layout of a name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Layout> {
    BUILTINS
        .iter()
        .find(|builtin| builtin.name == name)
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
