//! Published ids: the format, the version and the parts that their publishers name.

use crate::known::{number, row};
use mint_core::family::FAMILIES;
use mint_core::inspect::{Context, Input, Part, Reading, inspect};
use mint_core::{Micros, ObjectId, Uuid};
use serde_json::Value;

fn timestamp(text: &str) -> Micros {
    text.parse::<jiff::Timestamp>().unwrap().as_microsecond()
}

fn all(id: &Input<'_>, nodes: &[i64]) -> Vec<Reading> {
    let now = timestamp("2026-11-23T00:00:00Z");
    inspect(id, &Context { now, nodes })
}

fn first(id: &Input<'_>) -> Reading {
    all(id, &[]).into_iter().next().unwrap()
}

fn text(text: &str) -> Input<'_> {
    Input::Text(text.as_bytes())
}

fn part<'a>(reading: &'a Reading, name: &str) -> &'a Part {
    let mut parts = reading.parts.iter();
    &parts.find(|(its, _)| *its == name).unwrap().1
}

fn is(reading: &Reading, format: &str, version: Option<&str>, at: &Value) {
    assert_eq!(
        (reading.format, reading.version.as_deref()),
        (format, version)
    );
    assert_eq!(reading.time, at.as_str().map(timestamp));
}

#[test]
fn readings_have_the_name_of_their_family() {
    let now = timestamp("2026-11-23T00:00:00Z");
    for family in &FAMILIES {
        let context = Context { now, nodes: &[] };
        let readings = (family.read)(&text(family.example), &context);
        assert!(!readings.is_empty(), "{}", family.name);
        assert!(readings.iter().all(|reading| reading.format == family.name));
    }
}

#[test]
fn a_tweet() {
    let row = row("twitter", "decode", "");
    let id = number(&row["input"]["id"]);
    let shown = id.to_string();
    for input in [
        Input::Number(id),
        text(&shown),
        text(&format!(" {shown}\n")),
    ] {
        let tweet = first(&input);
        is(&tweet, "snowflake", Some("twitter"), &row["expected"]["ts"]);
        assert_eq!(tweet.node.as_deref(), Some("333"));
        assert_eq!(tweet.sequence, Some(1));
        assert_eq!(part(&tweet, "node_parts"), &Part::Numbers(vec![10, 13]));
        assert_eq!(tweet.canonical, shown);
    }
}

/// A user of Discord: as a tweet, it would be of the year 2011. Known nodes decide.
#[test]
fn a_user_of_discord() {
    let row = row("discord", "decode", "");
    let id = Input::Number(number(&row["input"]["id"]));
    let readings = all(&id, &[1]);
    let at = |version: &str| {
        let mut versions = readings.iter();
        versions.position(|reading| reading.version.as_deref() == Some(version))
    };
    let discord = &readings[at("discord").unwrap()];
    is(
        discord,
        "snowflake",
        Some("discord"),
        &row["expected"]["ts"],
    );
    assert!(discord.likelihood >= readings[0].likelihood);
    assert!(discord.likelihood > readings[at("sonyflake").unwrap()].likelihood);
}

#[test]
fn a_short_code_of_instagram() {
    let row = row("instagram", "decode", "BsOGulcndj-");
    let photo = first(&text(row["input"]["shortcode"].as_str().unwrap()));
    is(
        &photo,
        "snowflake",
        Some("instagram"),
        &row["expected"]["ts"],
    );
    assert_eq!(photo.node.as_deref(), Some("1910"));
    assert_eq!(photo.sequence, Some(254));
    assert_eq!(photo.canonical, row["input"]["id"].as_str().unwrap());
    assert_eq!(part(&photo, "encoding"), &Part::from("base64url"));
}

/// Codes of photos whose letters are digits of base58 too.
#[test]
fn short_codes_of_instagram_are_no_base58() {
    for (code, id) in [
        ("CAyNjHHnbBd", "2319976345479524445"),
        ("BkXuFBwnkYs", "1808116431038858796"),
    ] {
        let readings = all(&text(code), &[]);
        let is_base58 = |it: &&Reading| part(it, "encoding") == &Part::from("base58btc");
        let base58 = readings.iter().find(is_base58).unwrap();
        assert_ne!(base58.canonical, id);
        assert_eq!(readings[0].version.as_deref(), Some("instagram"));
        assert_eq!(readings[0].canonical, id);
        assert!(readings[0].likelihood > 100.0 * base58.likelihood);
    }
}

#[test]
fn a_customer_behind_a_prefix() {
    let readings = all(&text("cus_4jgmnx8Js8A"), &[]);
    let customer = &readings[0];
    assert_eq!(customer.canonical, "1428076403798048768");
    assert_eq!(part(customer, "encoding"), &Part::from("base58"));
    assert_eq!(part(customer, "prefix"), &Part::from("cus"));
}

/// An id of Medusa, whose row was created at the same time, and others that such applications have.
#[test]
fn other_formats_behind_a_prefix() {
    let id = first(&text("authid_01KHTPY3ZM3P5RJDQVXJENQBQ2"));
    is(&id, "ulid", None, &"2026-02-19T10:25:38.804Z".into());
    assert_eq!(id.canonical, "01KHTPY3ZM3P5RJDQVXJENQBQ2");
    assert_eq!(part(&id, "prefix"), &Part::from("authid"));
    for (rest, format) in [
        ("0ujtsYcgvSTl8PAuAdqWYSMnLOv", "ksuid"),
        ("9m4e2mr0ui3e8a215n4g", "xid"),
        ("507c7f79bcf86cd7994f6c0e", "objectid"),
        ("cjld2cjxh0000qzrmn831i7rn", "cuid"),
        ("01890a5d-ac96-774b-bcce-b302099a8057", "uuid"),
        ("01890A5D-AC96-774B-BCCE-B302099A8057", "uuid"),
        ("01890a5dac96774bbcceb302099a8057", "uuid"),
        ("9ca8f2f4-5d4c-4bd2-9b3c-4d2b6c0f8a11", "uuid"),
    ] {
        let (alone, behind) = (first(&text(rest)), first(&text(&format!("org_{rest}"))));
        assert_eq!((behind.format, behind.time), (format, alone.time));
        assert_eq!(behind.canonical, alone.canonical);
    }
    // In lower case, it is a TypeID.
    let readings = all(&text("user_01h455vb4pex5vsknk084sn02q"), &[]);
    assert!(readings.iter().all(|reading| reading.format != "ulid"));
}

#[test]
fn an_objectid_of_mongodbs_manual() {
    let row = row("objectid", "decode", "507c7f79bcf86cd7994f6c0e");
    let shown = row["input"]["oid"].as_str().unwrap();
    let id = ObjectId::parse(shown.as_bytes()).unwrap();
    for input in [text(&shown.to_uppercase()), Input::ObjectId(id)] {
        let reading = first(&input);
        is(&reading, "objectid", None, &row["expected"]["ts"]);
        assert_eq!(reading.node.as_deref(), row["expected"]["rand5"].as_str());
        assert_eq!(reading.sequence, row["expected"]["counter"].as_i64());
        assert_eq!(reading.canonical, shown);
    }
}

#[test]
fn the_xid_of_its_tests() {
    let row = row("xid", "decode", "");
    let reading = first(&text(row["input"]["xid"].as_str().unwrap()));
    is(&reading, "xid", None, &row["expected"]["ts"]);
    assert_eq!(reading.node.as_deref(), row["expected"]["machine"].as_str());
    assert_eq!(reading.sequence, row["expected"]["counter"].as_i64());
    let pid = row["expected"]["pid"].as_i64().unwrap();
    assert_eq!(part(&reading, "pid"), &Part::Number(pid));
    let raw = row["input"]["raw"].as_str().unwrap();
    assert_eq!(part(&reading, "objectid"), &Part::from(raw));
}

#[test]
fn the_ksuids_of_its_readme() {
    for id in ["0ujtsYcgvSTl8PAuAdqWYSMnLOv", "0ujzPyRiIAffKhBux4PvQdDqMHY"] {
        let row = row("ksuid", "inspect", id);
        let reading = first(&text(id));
        is(&reading, "ksuid", None, &row["expected"]["ts"]);
        let payload = row["expected"]["payload"].as_str().unwrap();
        assert_eq!(part(&reading, "payload"), &Part::from(payload));
    }
    for id in ["aaaaaaaaaaaaaaaaaaaaaaaaaaa", "aWgEPTl1tmebfsQzFP4bxwgy80!"] {
        row("ksuid", "parse-error", id);
        assert!(all(&text(id), &[]).is_empty(), "{id}");
    }
}

#[test]
fn the_ulid_of_the_specification() {
    let row = row("ulid", "decode", "");
    let shown = row["input"]["ulid"].as_str().unwrap();
    let uuid: Uuid = row["expected"]["uuid"].as_str().unwrap().parse().unwrap();
    for input in [text(shown), text(&shown.to_lowercase()), Input::Uuid(uuid)] {
        let reading = first(&input);
        is(&reading, "ulid", None, &row["expected"]["ts"]);
        assert_eq!(reading.canonical, shown);
        assert_eq!(part(&reading, "uuid"), &Part::from(uuid.to_string()));
    }
}

#[test]
fn the_typeid_of_the_specification() {
    let row = row("typeid", "valid-uuidv7", "");
    let shown = row["input"]["typeid"].as_str().unwrap();
    let reading = first(&text(shown));
    is(
        &reading,
        "typeid",
        Some("7"),
        &"2023-06-30T03:34:18.518Z".into(),
    );
    assert_eq!(reading.canonical, shown);
    assert_eq!(part(&reading, "prefix"), &Part::from("prefix"));
}

#[test]
fn the_uuids_of_rfc_9562() {
    let at = "2022-02-22T19:22:22Z";
    for (id, version, at, node) in [
        (
            "c232ab00-9414-11ec-b3c8-9f6bdeced846",
            "1",
            Some(at),
            Some("9f:6b:de:ce:d8:46"),
        ),
        ("5df41881-3aed-3515-88a7-2f4a814cf09e", "3", None, None),
        ("919108f7-52d1-4320-9bac-f847db4148a8", "4", None, None),
        ("2ed6657d-e927-568b-95e1-2665a8aea6a2", "5", None, None),
        (
            "1ec9414c-232a-6b00-b3c8-9f6bdeced846",
            "6",
            Some(at),
            Some("9f:6b:de:ce:d8:46"),
        ),
        ("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "7", Some(at), None),
        ("00000000-0000-0000-0000-000000000000", "nil", None, None),
        ("ffffffff-ffff-ffff-ffff-ffffffffffff", "max", None, None),
    ] {
        for input in [text(id), Input::Uuid(id.parse().unwrap())] {
            let reading = first(&input);
            is(&reading, "uuid", Some(version), &at.into());
            assert_eq!(reading.node.as_deref(), node);
            assert_eq!(reading.canonical, id);
        }
    }
}

/// Constants of their libraries: all bits zero, or one.
#[test]
fn nil_and_max() {
    for (id, format, version) in [
        ("00000000000000000000000000", "ulid", "nil"),
        ("7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "ulid", "max"),
        ("000000000000000000000000000", "ksuid", "nil"),
        ("aWgEPTl1tmebfsQzFP4bxwgy80V", "ksuid", "max"),
        ("user_7zzzzzzzzzzzzzzzzzzzzzzzzz", "typeid", "max"),
    ] {
        let reading = first(&text(id));
        is(&reading, format, Some(version), &Value::Null);
        assert_eq!(reading.canonical, id);
    }
}

#[test]
fn unix_times_and_numbers() {
    is(
        &first(&Input::Number(1_700_000_000)),
        "unix",
        Some("s"),
        &"2023-11-14T22:13:20Z".into(),
    );
    is(
        &first(&Input::Number(1_700_000_000_000)),
        "unix",
        Some("ms"),
        &"2023-11-14T22:13:20Z".into(),
    );
    for number in [0, 1, 42, -1, 5_000_000, i64::MIN] {
        let readings = all(&Input::Number(number), &[]);
        is(&readings[0], "integer", None, &Value::Null);
        assert!(readings[0].likelihood < 0.6, "{number}");
    }
}

/// Readings are in the order of their likelihood, which leaves something for none of them.
#[test]
fn likelihoods_are_shares() {
    for id in [
        "850007368138018817", "4jgmnx8Js8A", "hello", "12345", "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    ] {
        let readings = all(&text(id), &[]);
        let sum: f64 = readings.iter().map(|reading| reading.likelihood).sum();
        assert!(sum > 0.0 && sum < 1.0, "{id}");
        assert!(
            readings.is_sorted_by(|a, b| a.likelihood >= b.likelihood),
            "{id}"
        );
    }
    for nothing in [
        "",
        " ",
        "no id",
        "é",
        "{}",
        "=",
        "850007368138018817850007368138018817",
    ] {
        assert!(all(&text(nothing), &[]).is_empty(), "{nothing}");
    }
    assert!(all(&Input::Text(b"\xff\xfe"), &[]).is_empty());
    let long = format!("{}{}", "a_".repeat(1 << 20), "4jgmnx8Js8A");
    assert!(all(&text(&long), &[]).is_empty());
}
