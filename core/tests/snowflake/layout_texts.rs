//! Texts of layouts, one by one: errors, built-in ones, and these with changes.

use mint_core::LayoutError::*;
use mint_core::snowflake::definition::Definition;
use mint_core::{BUILTINS, Layout, LayoutError};

#[test]
#[allow(
    clippy::too_many_lines,
    reason = "a table, a line or three for each kind"
)]
fn each_kind_of_bad_text_has_its_error() {
    let own = str::to_owned;
    let with = |rest: &str| format!("time:41 shard:10 seq:12 epoch:2020-01-01T00:00:00Z {rest}");
    let epoch = |text: &str| format!("time:41 shard:10 seq:12 epoch:{text}");
    let width = |field, value: &str| BadWidth {
        field,
        value: own(value),
    };
    let cases: Vec<(String, LayoutError)> = vec![
        (own(""), UnknownName(own(""))),
        (own("Twitte"), UnknownName(own("Twitte"))),
        (with("bogus"), NotAField(own("bogus"))),
        (with("node:1"), UnknownField(own("node"))),
        (with("time:41"), Repeated("time")),
        (with("unit:1ms unit:1ms"), Repeated("unit")),
        (
            own("shard:10 seq:12 epoch:2020-01-01T00:00:00Z"),
            Missing("time"),
        ),
        (
            own("time:41 shard:10 epoch:2020-01-01T00:00:00Z"),
            Missing("seq"),
        ),
        (own("time:41 seq:12"), Missing("epoch")),
        (own("time:+4"), width("time", "+4")),
        (own("shard:5+"), width("shard", "")),
        (own("shard:5+3+2"), TooManyParts(own("5+3+2"))),
        (own("seq:100"), width("seq", "100")),
        (own("shard:0"), ZeroWidth("shard")),
        (
            own("time:41 shard:20 seq:12 epoch:2020-01-01T00:00:00Z"),
            TooWide(73),
        ),
        (
            own("shard:11 time:41 seq:12 epoch:2020-01-01T00:00:00Z"),
            SignBit,
        ),
        (
            own("time:1 shard:31 seq:32 epoch:2020-01-01T00:00:00Z"),
            SignBit,
        ),
        (
            own("time:20 shard:32 seq:10 epoch:2020-01-01T00:00:00Z"),
            ShardTooWide(32),
        ),
        (
            own("time:20 shard:16+16 seq:10 epoch:2020-01-01T00:00:00Z"),
            ShardTooWide(32),
        ),
        (with("unit:0ms"), BadUnit(own("0ms"))),
        (with("unit:3601s"), BadUnit(own("3601s"))),
        (with("unit:1ns"), BadUnit(own("1ns"))),
        (with("unit:ms"), BadUnit(own("ms"))),
        (
            epoch("2020-01-01T00:00:00+16:00"),
            BadEpoch(own("2020-01-01T00:00:00+16:00")),
        ),
        (
            epoch("9999-12-31T00:00:00Z"),
            EpochOutOfRange(own("9999-12-31T00:00:00Z")),
        ),
        (epoch(""), BadEpoch(own(""))),
        (epoch("-1288834974657"), BadEpoch(own("-1288834974657"))),
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

/// Fields that a built-in layout does not get again, and their order, are its own.
#[test]
fn a_built_in_layout_with_changes_is_shown_in_full() {
    for (text, full) in [
        ("twitter", "twitter"),
        (" twitter\tshard:5+5 ", "twitter"),
        ("twitter start:random(128) shard:10", "leaf"),
        ("leaf start:zero shard:5+5", "twitter"),
        ("TWITTER", "twitter"),
        ("Leaf start:zero shard:5+5", "twitter"),
        (
            "instagram epoch:2026-01-01T00:00:00Z",
            "time:41 shard:13 seq:10 unit:1ms epoch:2026-01-01T00:00:00Z",
        ),
        (
            "twitter seq:14 shard:8",
            "time:41 shard:8 seq:14 unit:1ms epoch:2010-11-04T01:42:54.657Z",
        ),
        (
            "sonyflake unit:1ms",
            "time:39 seq:8 shard:16 unit:1ms epoch:2014-09-01T00:00:00Z",
        ),
        (
            "mastodon shard:4 seq:12",
            "time:48 shard:4 seq:12 unit:1ms epoch:1970-01-01T00:00:00Z",
        ),
        (
            "leaf seq:7 time:40",
            "time:40 shard:10 seq:7 unit:1ms epoch:2010-11-04T01:42:54.657Z start:random(128)",
        ),
    ] {
        assert_eq!(text.parse::<Layout>().unwrap().to_string(), full, "{text}");
    }
}

#[test]
fn each_kind_of_bad_change_has_its_error() {
    let own = str::to_owned;
    for (text, error) in [
        ("twitter shard:8 bogus", NotAField(own("bogus"))),
        ("twitter shard:8 leaf", NotAField(own("leaf"))),
        ("Twitte shard:8", UnknownName(own("Twitte"))),
        ("shard:8 twitter", NotAField(own("twitter"))),
        ("twitter node:8", UnknownField(own("node"))),
        ("twitter shard:8 shard:8", Repeated("shard")),
        ("twitter shard:13", TooWide(66)),
        ("twitter seq:14", TooWide(65)),
        ("twitter shard:32 seq:1", TooWide(74)),
        ("twitter time:20 shard:32", ShardTooWide(32)),
        (
            "leaf seq:6",
            InheritedStart {
                start: own("random(128)"),
                seq: 6,
            },
        ),
    ] {
        assert_eq!(text.parse::<Layout>(), Err(error), "{text}");
    }
}

/// Digits alone are milliseconds since 1970, where they can be nothing else.
#[test]
fn an_epoch_can_be_milliseconds() {
    for (millis, shown) in [
        // Articles and sources of the systems print these epochs.
        ("1288834974657", "2010-11-04T01:42:54.657Z"),
        ("1314220021721", "2011-08-24T21:07:01.721Z"),
        ("1361753741828", "2013-02-25T00:55:41.828Z"),
        ("1420070400000", "2015-01-01T00:00:00Z"),
        ("0", "1970-01-01T00:00:00Z"),
        ("100000000000", "1973-03-03T09:46:40Z"),
        ("9999999999999", "2286-11-20T17:46:39.999Z"),
    ] {
        let layout = |epoch: &str| format!("time:40 seq:12 epoch:{epoch}").parse::<Layout>();
        assert_eq!(layout(millis), layout(shown), "{millis}");
        let text = layout(millis).unwrap().to_string();
        assert_eq!(text, format!("time:40 seq:12 unit:1ms epoch:{shown}"));
    }
    for ambiguous in [
        "1",
        // A year, a date, seconds, a date with a time, microseconds, nanoseconds, and what no word holds.
        "2020", "20200101", "1288834974", "99999999999", "10000000000000", "20200101000000",
        "1288834974657000", "1288834974657000000", "99999999999999999999",
    ] {
        let error = AmbiguousEpoch(ambiguous.to_owned());
        let text = format!("twitter epoch:{ambiguous}");
        assert_eq!(text.parse::<Layout>(), Err(error));
    }
}

/// Widths whose sum wraps around are too wide, not small.
#[test]
fn widths_that_overflow_are_too_wide() {
    let d = *BUILTINS[0].layout.definition();
    for shard in [(u32::MAX, 2), (u32::MAX, u32::MAX), (1, u32::MAX)] {
        assert!(matches!(
            Layout::new(Definition { shard, ..d }),
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
instagram 01290d000a000000000003e80004ab46b18d27a8 time:41 shard:13 seq:10 unit:1ms epoch:2011-08-24T21:07:01.721Z
twitter 012905050c000000000003e80004943046d6a9e8 time:41 shard:5+5 seq:12 unit:1ms epoch:2010-11-04T01:42:54.657Z
leaf 01290a000c000700000003e80004943046d6a9e8 time:41 shard:10 seq:12 unit:1ms epoch:2010-11-04T01:42:54.657Z start:random(128)
discord 012a05050c000000000003e800050b8be7bf8000 time:42 shard:5+5 seq:12 unit:1ms epoch:2015-01-01T00:00:00Z
java 01290a000c000000000003e800050b8be7bf8000 time:41 shard:10 seq:12 unit:1ms epoch:2015-01-01T00:00:00Z
sonyflake 012710000801000000002710000501f5af1bc000 time:39 seq:8 shard:16 unit:10ms epoch:2014-09-01T00:00:00Z
sonyflake2 01271000080100000000271000062a99ba0c6000 time:39 seq:8 shard:16 unit:10ms epoch:2025-01-01T00:00:00Z
goflake 01290a000c000000000003e800053d534e40c200 time:41 shard:10 seq:12 unit:1ms epoch:2016-09-25T11:28:08Z
taobao 013104000a000000000003e80004d682000d9fa0 time:49 shard:4 seq:10 unit:1ms epoch:2013-02-25T00:55:41.828Z
baidu 011c16000d000000000f42400005333410fec000 time:28 shard:22 seq:13 unit:1s epoch:2016-05-19T16:00:00Z
mastodon 0130000010000000000003e80000000000000000 time:48 seq:16 unit:1ms epoch:1970-01-01T00:00:00Z
pgedge 01290a000c000000000003e80005f128840d4000 time:41 shard:10 seq:12 unit:1ms epoch:2023-01-01T00:00:00Z
tso 012e000012000000000003e80000000000000000 time:46 seq:18 unit:1ms epoch:1970-01-01T00:00:00Z
yitter 0134060006000000000003e800059ef1d63a3880 time:52 shard:6 seq:6 unit:1ms epoch:2020-02-19T18:20:02Z
javascript 0129040008000000000003e800062a99ba0c6000 time:41 shard:4 seq:8 unit:1ms epoch:2025-01-01T00:00:00Z
tsid 012a0a000c000c00000003e800059b08c1fa4000 time:42 shard:10 seq:12 unit:1ms epoch:2020-01-01T00:00:00Z start:random(4096)
pgdog 01290a000c000000000003e800064484302ea8c0 time:41 shard:10 seq:12 unit:1ms epoch:2025-11-26T19:13:15Z
pgdog_compact 0129060006000000000003e800064484302ea8c0 time:41 shard:6 seq:6 unit:1ms epoch:2025-11-26T19:13:15Z
";

/// PostgreSQL's `to_json(timestamptz)` printed these texts.
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
