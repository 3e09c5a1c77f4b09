//! Numbers and texts of no format, ids whose format is not a built-in layout, and ids of another time.

use crate::known::random;
use mint_core::Micros;
use mint_core::inspect::{Context, Input, Part, Reading, inspect};
use mint_core::snowflake::layout::Layout;

/// 2026-11-24T00:00:00Z.
const NOW: Micros = 1_795_478_400_000_000;

fn all(id: &Input<'_>) -> Vec<Reading> {
    let context = Context {
        now: NOW,
        nodes: &[],
    };
    inspect(id, &context)
}

fn timestamp(text: &str) -> Micros {
    text.parse::<jiff::Timestamp>().unwrap().as_microsecond()
}

/// The share of random numbers of 63 bits with a first reading that is rather right than wrong, of 5,000.
#[test]
fn random_numbers_are_of_no_format() {
    let numbers = random().map(|word| (word >> 1).cast_signed());
    let likely = |number: &i64| {
        let shown = number.to_string();
        let number = all(&Input::Number(*number));
        let text = all(&Input::Text(shown.as_bytes()));
        assert!(number[0].likelihood >= text[0].likelihood);
        number[0].likelihood > 0.5
    };
    let count = numbers.take(5_000).filter(likely).count();
    println!("{count} of 5000 above 0.5");
    assert!(count <= 5_000 * 3 / 100, "{count}");
}

/// Ids with the times of their publishers, by <https://github.com/obsidianforensics/unfurl>, the manuals of LinkedIn and
/// ClickHouse, and the posts themselves.
#[test]
fn ids_of_other_systems_have_their_time() {
    for (id, format, version, at) in [
        (
            "6685980502161199104", "snowflake", "unix", "2020-07-06T18:59:31.226Z",
        ),
        (
            "6318971194909560123", "snowflake", "unix", "2017-09-28T00:55:33.674Z",
        ),
        (
            "6854717870488702213", "snowflake", "bytedance", "2020-07-29T02:06:13Z",
        ),
        (
            "7582653507375746334", "snowflake", "bytedance", "2025-12-11T17:28:16Z",
        ),
        (
            "4230466846817001", "snowflake", "weibo", "2018-04-19T02:35:57Z",
        ),
        (
            "140364967936397312", "snowflake", "pixelfed", "2020-03-03T08:00:16.211Z",
        ),
        ("7qyuxfswax", "misskey", "aid", "2019-03-30T09:28:08Z"),
        (
            "9q05g8osu733039l", "misskey", "aidx", "2024-02-22T02:09:33.436Z",
        ),
        ("9sfjyFYxWIdEMexkYa", "flake", "", "2020-03-04T18:44:14.56Z"),
        (
            "1700000000123456", "unix", "us", "2023-11-14T22:13:20.123456Z",
        ),
        (
            "1556813561098000000", "unix", "ns", "2019-05-02T16:12:41.098Z",
        ),
        (
            "1556813561098123456", "unix", "ns", "2019-05-02T16:12:41.098123Z",
        ),
    ] {
        let readings = all(&Input::Text(id.as_bytes()));
        let is_it =
            |it: &&Reading| it.format == format && it.version.as_deref().unwrap_or("") == version;
        let place = readings.iter().position(|it| is_it(&it));
        let reading = &readings[place.unwrap()];
        assert_eq!(reading.time, Some(timestamp(at)), "{id}");
        println!("{id}: place {place:?}, {:.3}", reading.likelihood);
        assert!(place < Some(3), "{id}");
    }
}

/// The layout that such a reading names reads the same time, as functions have no name for it.
#[test]
fn layouts_that_have_no_name_are_named_as_text() {
    for id in [
        6_685_980_502_161_199_104, 6_854_717_870_488_702_213, 4_230_466_846_817_001,
    ] {
        let first = all(&Input::Number(id)).swap_remove(0);
        let mut parts = first.parts.iter();
        let (_, Part::Text(layout)) = parts.find(|(name, _)| *name == "layout").unwrap() else {
            panic!("{first:?}");
        };
        let layout: Layout = layout.parse().unwrap();
        assert_eq!(layout.decode(id).map(|parts| parts.at).ok(), first.time);
    }
}

/// The layout of ClickHouse, whose servers have any number: from 2021 to 2026.
#[test]
fn milliseconds_since_1970_are_no_other_layout() {
    let layout: Layout = "time:41 shard:10 seq:12 epoch:1970-01-01T00:00:00Z"
        .parse()
        .unwrap();
    for year in 2021..=2026 {
        let at = timestamp(&format!("{year}-01-01T05:17:11.123Z"));
        let first = all(&Input::Number(layout.encode(at, 514, 0).unwrap())).swap_remove(0);
        assert_eq!(
            (first.version.as_deref(), first.time),
            (Some("unix"), Some(at))
        );
        assert!(first.likelihood > 0.5, "{first:?}");
    }
}

/// Valid ids of no plausible time: TIDs of atproto's interoperability tests, a CUID, a push id. Their row is not likely.
#[test]
fn ids_of_another_time_have_a_row() {
    for (id, format) in [
        ("7777777777777", "atproto"),
        ("3zzzzzzzzzzzz", "atproto"),
        ("a222222222222", "atproto"),
        ("j222222222222", "atproto"),
        ("azzzzzzzzzzzz", "atproto"),
        ("czzzzzzzz0000qzrmn831i7rn", "cuid"),
        ("zzzzzzzzzzzzzzzzzzzz", "firebase"),
    ] {
        let readings = all(&Input::Text(id.as_bytes()));
        let reading = readings.iter().find(|it| it.format == format).unwrap();
        assert!(
            reading.time.is_some() && reading.likelihood < 0.2,
            "{id}: {readings:?}"
        );
    }
    for invalid in ["k222222222222", "zzzzzzzzzzzzz", "3jzfcij-j2z2a"] {
        let readings = all(&Input::Text(invalid.as_bytes()));
        assert!(
            readings.iter().all(|it| it.format != "atproto"),
            "{invalid}"
        );
    }
}

/// Fly.io writes a hyphen behind the prefix. Behind it, a ULID in lower case is not a TypeID.
#[test]
fn a_hyphen_ends_a_prefix() {
    for (id, prefix, format) in [
        (
            "deployment-01GTYFV11PM7D7B30AWZSH1FZE",
            "deployment",
            "ulid",
        ),
        (
            "deployment-01gtyfv11pm7d7b30awzsh1fze",
            "deployment",
            "ulid",
        ),
        ("my-app-01GTYFV11PM7D7B30AWZSH1FZE", "my-app", "ulid"),
        ("org-0ujtsYcgvSTl8PAuAdqWYSMnLOv", "org", "ksuid"),
    ] {
        let first = all(&Input::Text(id.as_bytes())).swap_remove(0);
        assert_eq!(first.format, format, "{id}");
        assert!(first.likelihood > 0.9 && first.parts.contains(&("prefix", prefix.into())));
    }
    for other in [
        "-", "--", "a-", "-a", "a--4jgmnx8Js8A", "A-4jgmnx8Js8A", "hello-world",
    ] {
        let readings = all(&Input::Text(other.as_bytes()));
        assert!(
            readings.iter().all(|it| it.likelihood < 0.1),
            "{other}: {readings:?}"
        );
    }
}

/// Words, slugs and numbers with a meaning of their own.
#[test]
fn words_are_no_ids() {
    for word in [
        "application", "abcdefghij", "9f86d08188", "9f86d081884c7d65", "a1b2c3d4e5f60718",
        "a-short-slug", "internationalized", "2026-11-29", "misunderstanding", "ISO-8859-15",
        "user_name", "9876543210",
    ] {
        let readings = all(&Input::Text(word.as_bytes()));
        assert!(
            readings.iter().all(|it| it.likelihood < 0.5),
            "{word}: {readings:?}"
        );
    }
}
