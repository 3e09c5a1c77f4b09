//! Layouts as text, bytes and ids, over arbitrary ones.

use mint_core::LayoutError::*;
use mint_core::snowflake::definition::{Definition, Order};
use mint_core::{BUILTINS, IdError, Lane, Layout, LayoutError, Micros};
use proptest::prelude::*;
use proptest::sample::select;

const ORDERS: [Order; 6] = [
    Order::TimeNodeSeq,
    Order::TimeSeqNode,
    Order::NodeTimeSeq,
    Order::NodeSeqTime,
    Order::SeqTimeNode,
    Order::SeqNodeTime,
];

/// Text has the timestamps of the years -9999 to 9999.
fn epochs() -> impl Strategy<Value = Micros> {
    let first = jiff::Timestamp::MIN.as_microsecond();
    let last = jiff::Timestamp::MAX.as_second() * 1_000_000;
    prop_oneof![
        Just(first),
        Just(last),
        Just(0_i64),
        first..=last,
        0..2_000_000_000_000_000_i64
    ]
}

fn units() -> impl Strategy<Value = u32> {
    prop_oneof![
        select(&[1, 1_000, 10_000, 1_000_000, 3_600_000_000][..]),
        1..=3_600_000_000_u32
    ]
}

/// Any layout of at most `bits` bits.
fn layouts(bits: u32) -> impl Strategy<Value = Layout> {
    let widths = (0..64_u32, 0..64_u32, 0..64_u32, 0..64_u32, 0..64_u32);
    (select(&ORDERS[..]), widths, units(), epochs()).prop_filter_map(
        "the 64th bit can only be the time's",
        move |(order, (time, seq, upper, lower, start), unit, epoch)| {
            let time = 1 + time % (bits - 1);
            let seq = 1 + seq % (bits - time);
            let most = (bits - time - seq).min(31);
            let upper = upper % (most + 1);
            let lower = if upper == 0 {
                0
            } else {
                lower % (most - upper + 1)
            };
            let start = start % (seq + 1);
            let node = (upper, lower);
            Layout::new(Definition {
                order,
                time,
                node,
                seq,
                unit,
                epoch,
                start,
            })
            .ok()
        },
    )
}

/// Any timestamps, often near a tick of the layout or its ends.
fn timestamps(layout: Layout) -> impl Strategy<Value = Micros> {
    let near = (0..=layout.max_tick() + 1, -2..=2_i64).prop_map(move |(tick, by)| {
        let start = i128::from(tick) * i128::from(layout.unit()) + i128::from(layout.epoch() + by);
        Micros::try_from(start).unwrap_or(Micros::MAX)
    });
    prop_oneof![8 => near, 1 => any::<Micros>(), 1 => select(&[Micros::MIN, Micros::MAX, 0][..])]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn text_says_all_of_a_layout(layout in layouts(64)) {
        prop_assert_eq!(layout.to_string().parse(), Ok(layout));
        prop_assert_eq!(layout.fields().parse(), Ok(layout));
    }

    #[test]
    fn bytes_and_lanes_keep_all_of_a_layout(layout in layouts(64), node: u64) {
        prop_assert_eq!(Layout::from_bytes(&layout.to_bytes()), Ok(layout));
        prop_assert_eq!(Lane::alone(&layout, node).layout(), Some(layout));
    }

    /// Accepted bytes are of a layout that text can express, and are its only stored form.
    /// Near every multiple of the unit, up to the largest age there is.
    #[test]
    fn ticks_by_the_reciprocal_are_those_of_a_division(
        layout in layouts(63),
        age in 0..=i64::MAX.unsigned_abs(),
        near in -1..=1_i64,
    ) {
        let unit = layout.unit().unsigned_abs();
        let edge = (age / unit * unit).saturating_add_signed(near).min(i64::MAX.unsigned_abs());
        for age in [age, edge, i64::MAX.unsigned_abs()] {
            prop_assert_eq!(layout.ticks(age), age / unit);
        }
    }

    #[test]
    fn arbitrary_bytes_are_refused_or_a_layout(
        mut bytes: [u8; 20],
        widths in [0..66_u8, 0..9, 0..9, 0..20, 0..7, 0..20],
        plausible: bool,
    ) {
        if plausible {
            bytes[0] = Layout::VERSION;
            bytes[1..7].copy_from_slice(&widths);
            bytes[7] = 0;
        }
        if let Ok(layout) = Layout::from_bytes(&bytes) {
            prop_assert_eq!(layout.fields().parse(), Ok(layout));
            prop_assert_eq!(Layout::from_bytes(&layout.to_bytes()), Ok(layout));
        }
    }

    #[test]
    fn arbitrary_text_never_panics(
        text in ".*",
        words in prop::collection::vec("(time|node|seq|unit|epoch|start|):[0-9]{0,3}[+a-zµ(]{0,3}.{0,2}", 0..6),
    ) {
        let _ = text.parse::<Layout>();
        let _ = words.join(" ").parse::<Layout>();
    }

    #[test]
    fn ids_are_positive_and_decode_to_what_was_encoded(
        (layout, at) in layouts(64).prop_flat_map(|layout| (Just(layout), timestamps(layout))),
        node: u64,
        sequence: u64,
    ) {
        let (node, sequence) = (node & layout.node.max(), sequence & layout.seq.max());
        let inside = at >= layout.epoch() && layout.end().is_none_or(|end| at < end);
        match layout.encode(at, node as i64, sequence as i64) {
            Err(error) => prop_assert!(!inside, "{} {}: {}", layout, at, error),
            Ok(id) => {
                prop_assert!(inside && id >= 0);
                let parts = layout.decode(id).unwrap();
                prop_assert_eq!((parts.node, parts.sequence), (node, sequence));
                let late = i128::from(at) - i128::from(parts.at);
                prop_assert!((0..i128::from(layout.unit())).contains(&late));
            }
        }
    }

    /// What is converted has the same fields, and is converted back.
    #[test]
    fn a_converted_id_has_the_same_fields(
        (from, at) in layouts(64).prop_flat_map(|layout| (Just(layout), timestamps(layout))),
        (other, near) in (layouts(64), any::<bool>()),
        node in 0..4_u64,
        sequence in 0..4_u64,
    ) {
        let near = near.then(|| Layout::new(Definition { epoch: from.epoch(), unit: from.unit() as u32, ..*other.definition() }).unwrap());
        let to = near.unwrap_or(other);
        let Ok(id) = from.encode(at, (node & from.node.max()) as i64, (sequence & from.seq.max()) as i64) else {
            return Ok(());
        };
        let parts = from.decode(id).unwrap();
        match from.convert(id, &to) {
            Ok(converted) => {
                prop_assert_eq!(to.decode(converted), Ok(parts));
                prop_assert_eq!(to.convert(converted, &from), Ok(id));
            }
            Err(IdError::NotATick { .. }) => {
                let age = i128::from(parts.at) - i128::from(to.epoch());
                prop_assert!(age % i128::from(to.unit()) != 0);
            }
            Err(error) => {
                let encoded = to.encode(parts.at, parts.node as i64, parts.sequence as i64);
                prop_assert_eq!(encoded, Err(error));
            }
        }
    }

    #[test]
    fn ids_that_no_layout_field_explains_are_refused(layout in layouts(63), id: i64) {
        let d = layout.definition();
        let bits = d.time + d.node.0 + d.node.1 + d.seq;
        let stray = id < 0 || id >> bits != 0;
        match layout.decode(id) {
            Ok(_) => prop_assert!(!stray),
            Err(error) => {
                let expected = IdError::NotAnId { id, layout: layout.to_string() };
                prop_assert_eq!(error, expected);
            }
        }
        prop_assert_eq!(layout.decode(id | i64::MIN).is_err(), true);
    }

    /// Against the definition itself, applied to each of the layout's ids.
    #[test]
    fn bounds_bracket_exactly_the_ids_of_a_range(
        (layout, at) in layouts(9).prop_flat_map(|layout| (Just(layout), timestamps(layout))),
    ) {
        if !layout.time_on_top() {
            prop_assert_eq!(layout.min_id(at), Err(IdError::TimeNotOnTop(layout.to_string())));
            prop_assert_eq!(layout.max_id(at), Err(IdError::TimeNotOnTop(layout.to_string())));
            return Ok(());
        }
        let ids = || (0..512).filter_map(|id| Some((id, layout.decode(id).ok()?.at)));
        let least = |holds: &dyn Fn(Micros) -> bool| ids().filter(|x| holds(x.1)).map(|x| x.0).min();
        let most = |holds: &dyn Fn(Micros) -> bool| ids().filter(|x| holds(x.1)).map(|x| x.0).max();
        prop_assert_eq!(layout.min_id(at), Ok(least(&|time| time >= at)));
        prop_assert_eq!(layout.min_id_after(at), Ok(least(&|time| time > at)));
        prop_assert_eq!(layout.max_id(at), Ok(most(&|time| time <= at)));
        prop_assert_eq!(layout.max_id_before(at), Ok(most(&|time| time < at)));
    }
}

/// Layouts that could issue the same id have one lane: the key is all but width and presentation.
#[test]
fn layouts_whose_ids_could_be_equal_share_their_lanes() {
    let key = |text: &str| text.parse::<Layout>().unwrap().key();
    assert_eq!(key("twitter"), key("leaf"));
    assert_eq!(key("discord"), key("java"));
    assert_ne!(key("java"), key("goflake"));
    assert_ne!(key("sonyflake"), key("sonyflake2"));
    let base = "time:20 node:4 seq:8 epoch:2020-01-01T00:00:00Z";
    for other in [
        "time:20 seq:8 node:4 epoch:2020-01-01T00:00:00Z",
        "time:20 node:5 seq:7 epoch:2020-01-01T00:00:00Z",
        "time:20 node:4 seq:8 unit:2ms epoch:2020-01-01T00:00:00Z",
        "node:4 time:20 seq:8 epoch:2020-01-01T00:00:00Z",
    ] {
        assert_ne!(key(base), key(other), "{other}");
    }
}

#[test]
#[allow(
    clippy::too_many_lines,
    reason = "a table, a line or three for each kind"
)]
fn each_kind_of_bad_text_has_its_error() {
    let own = str::to_owned;
    let with = |rest: &str| format!("time:41 node:10 seq:12 epoch:2020-01-01T00:00:00Z {rest}");
    let epoch = |text: &str| format!("time:41 node:10 seq:12 epoch:{text}");
    let width = |field, value: &str| BadWidth {
        field,
        value: own(value),
    };
    let cases: Vec<(String, LayoutError)> = vec![
        (own(""), UnknownName(own(""))),
        (own("Twitter"), UnknownName(own("Twitter"))),
        (with("bogus"), NotAField(own("bogus"))),
        (with("shard:1"), UnknownField(own("shard"))),
        (with("time:41"), Repeated("time")),
        (with("unit:1ms unit:1ms"), Repeated("unit")),
        (
            own("node:10 seq:12 epoch:2020-01-01T00:00:00Z"),
            Missing("time"),
        ),
        (
            own("time:41 node:10 epoch:2020-01-01T00:00:00Z"),
            Missing("seq"),
        ),
        (own("time:41 seq:12"), Missing("epoch")),
        (own("time:+4"), width("time", "+4")),
        (own("node:5+"), width("node", "")),
        (own("seq:100"), width("seq", "100")),
        (own("node:0"), ZeroWidth("node")),
        (
            own("time:41 node:20 seq:12 epoch:2020-01-01T00:00:00Z"),
            TooWide(73),
        ),
        (
            own("node:11 time:41 seq:12 epoch:2020-01-01T00:00:00Z"),
            SignBit,
        ),
        (
            own("time:1 node:31 seq:32 epoch:2020-01-01T00:00:00Z"),
            SignBit,
        ),
        (
            own("time:20 node:32 seq:10 epoch:2020-01-01T00:00:00Z"),
            NodeTooWide(32),
        ),
        (
            own("time:20 node:16+16 seq:10 epoch:2020-01-01T00:00:00Z"),
            NodeTooWide(32),
        ),
        (with("unit:0ms"), BadUnit(own("0ms"))),
        (with("unit:3601s"), BadUnit(own("3601s"))),
        (with("unit:1ns"), BadUnit(own("1ns"))),
        (with("unit:ms"), BadUnit(own("ms"))),
        (epoch("2020-01-01"), BadEpoch(own("2020-01-01"))),
        (
            epoch("2020-01-01T00:00:00"),
            BadEpoch(own("2020-01-01T00:00:00")),
        ),
        (
            epoch("2016-12-31T23:59:60Z"),
            BadEpoch(own("2016-12-31T23:59:60Z")),
        ),
        (
            epoch("2020-01-01T00:00:00+01:00[Europe/Paris]"),
            BadEpoch(own("2020-01-01T00:00:00+01:00[Europe/Paris]")),
        ),
        (
            epoch("2020-01-01T00:00:00.0000001Z"),
            FineEpoch(own("2020-01-01T00:00:00.0000001Z")),
        ),
        (with("start:100"), BadStart(own("100"))),
        (with("start:random(100)"), BadStart(own("random(100)"))),
        (with("start:random(8192)"), BadStart(own("random(8192)"))),
    ];
    for (text, error) in cases {
        assert_eq!(text.parse::<Layout>(), Err(error), "{text}");
    }
    let mut bytes = BUILTINS[0].layout.to_bytes();
    bytes[0] = 2;
    assert_eq!(Layout::from_bytes(&bytes), Err(BadBytes(1)));
}

/// Fields that a built-in layout does not get anew, and their order, are its own.
#[test]
fn a_built_in_layout_with_changes_is_shown_in_full() {
    for (text, full) in [
        ("twitter", "twitter"),
        (" twitter\tnode:5+5 ", "twitter"),
        ("twitter start:random(128) node:10", "leaf"),
        ("leaf start:zero node:5+5", "twitter"),
        (
            "instagram epoch:2026-01-01T00:00:00Z",
            "time:41 node:13 seq:10 unit:1ms epoch:2026-01-01T00:00:00Z",
        ),
        (
            "twitter seq:14 node:8",
            "time:41 node:8 seq:14 unit:1ms epoch:2010-11-04T01:42:54.657Z",
        ),
        (
            "sonyflake unit:1ms",
            "time:39 seq:8 node:16 unit:1ms epoch:2014-09-01T00:00:00Z",
        ),
        (
            "mastodon node:4 seq:12",
            "time:48 node:4 seq:12 unit:1ms epoch:1970-01-01T00:00:00Z",
        ),
        (
            "leaf seq:7 time:40",
            "time:40 node:10 seq:7 unit:1ms epoch:2010-11-04T01:42:54.657Z start:random(128)",
        ),
    ] {
        assert_eq!(text.parse::<Layout>().unwrap().to_string(), full, "{text}");
    }
}

#[test]
fn each_kind_of_bad_change_has_its_error() {
    let own = str::to_owned;
    for (text, error) in [
        ("twitter node:8 bogus", NotAField(own("bogus"))),
        ("twitter node:8 leaf", NotAField(own("leaf"))),
        ("Twitter node:8", UnknownName(own("Twitter"))),
        ("node:8 twitter", NotAField(own("twitter"))),
        ("twitter shard:8", UnknownField(own("shard"))),
        ("twitter node:8 node:8", Repeated("node")),
        ("twitter node:13", TooWide(66)),
        ("twitter seq:14", TooWide(65)),
        ("twitter node:32 seq:1", TooWide(74)),
        ("twitter time:20 node:32", NodeTooWide(32)),
        ("leaf seq:6", BadStart(own("random(128)"))),
    ] {
        assert_eq!(text.parse::<Layout>(), Err(error), "{text}");
    }
}

/// Widths whose sum wraps around are too wide, not small.
#[test]
fn widths_that_overflow_are_too_wide() {
    let d = *BUILTINS[0].layout.definition();
    for node in [(u32::MAX, 2), (u32::MAX, u32::MAX), (1, u32::MAX)] {
        assert!(matches!(
            Layout::new(Definition { node, ..d }),
            Err(TooWide(_))
        ));
    }
}

/// Published names are frozen: a changed line here is a changed meaning of stored data.
#[test]
fn built_in_layouts_are_what_they_were() {
    let line = |b: &mint_core::snowflake::builtin::Builtin| {
        let hex: String = b
            .layout
            .to_bytes()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        format!("{} {hex} {}\n", b.name, b.layout.fields())
    };
    let table: String = BUILTINS.iter().map(line).collect();
    assert_eq!(table, FROZEN);
}

const FROZEN: &str = "\
instagram 01290d000a000000000003e80004ab46b18d27a8 time:41 node:13 seq:10 unit:1ms epoch:2011-08-24T21:07:01.721Z
twitter 012905050c000000000003e80004943046d6a9e8 time:41 node:5+5 seq:12 unit:1ms epoch:2010-11-04T01:42:54.657Z
leaf 01290a000c000700000003e80004943046d6a9e8 time:41 node:10 seq:12 unit:1ms epoch:2010-11-04T01:42:54.657Z start:random(128)
discord 012a05050c000000000003e800050b8be7bf8000 time:42 node:5+5 seq:12 unit:1ms epoch:2015-01-01T00:00:00Z
java 01290a000c000000000003e800050b8be7bf8000 time:41 node:10 seq:12 unit:1ms epoch:2015-01-01T00:00:00Z
sonyflake 012710000801000000002710000501f5af1bc000 time:39 seq:8 node:16 unit:10ms epoch:2014-09-01T00:00:00Z
sonyflake2 01271000080100000000271000062a99ba0c6000 time:39 seq:8 node:16 unit:10ms epoch:2025-01-01T00:00:00Z
goflake 01290a000c000000000003e800053d534e40c200 time:41 node:10 seq:12 unit:1ms epoch:2016-09-25T11:28:08Z
taobao 013104000a000000000003e80004d682000d9fa0 time:49 node:4 seq:10 unit:1ms epoch:2013-02-25T00:55:41.828Z
baidu 011c16000d000000000f42400005333410fec000 time:28 node:22 seq:13 unit:1s epoch:2016-05-19T16:00:00Z
mastodon 0130000010000000000003e80000000000000000 time:48 seq:16 unit:1ms epoch:1970-01-01T00:00:00Z
pgedge 01290a000c000000000003e80005f128840d4000 time:41 node:10 seq:12 unit:1ms epoch:2023-01-01T00:00:00Z
tso 012e000012000000000003e80000000000000000 time:46 seq:18 unit:1ms epoch:1970-01-01T00:00:00Z
yitter 0134060006000000000003e800059ef1d63a3880 time:52 node:6 seq:6 unit:1ms epoch:2020-02-19T18:20:02Z
javascript 0129040008000000000003e800062a99ba0c6000 time:41 node:4 seq:8 unit:1ms epoch:2025-01-01T00:00:00Z
";

/// By PostgreSQL's `to_json(timestamptz)`.
#[test]
fn timestamps_have_years_after_9999() {
    for (at, text) in [
        (0, "1970-01-01T00:00:00Z"),
        (-377_705_023_201_000_000, "-009999-01-02T01:59:59Z"),
        (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
        (253_402_300_800_000_000, "10000-01-01T00:00:00Z"),
        (2_253_381_950_087_247_000, "73376-10-30T14:34:47.247Z"),
        (i64::MAX, "294247-01-10T04:00:54.775807Z"),
    ] {
        assert_eq!(mint_core::clock::timestamp_text(at), text);
    }
}
