//! The ids that the original systems published, each a test of its own.

use crate::common::{DEFAULTS, STRICT, Script};
use crate::known::{number, row};
use mint_core::{IdError, Layout, Micros, MintError};
use serde_json::Value;

fn layout(text: &str) -> Layout {
    text.parse().unwrap()
}

fn timestamp(text: &str) -> Micros {
    text.parse::<jiff::Timestamp>().unwrap().as_microsecond()
}

/// The timestamp of an input: its `ts`, or `ts_rel` ticks after the epoch.
fn time_of(layout: &Layout, input: &Value) -> Micros {
    match input["ts"].as_str() {
        Some(text) => timestamp(text),
        None => layout.epoch() + number(&input["ts_rel"]) * layout.unit(),
    }
}

/// A row's shard: in one piece under any of its names, or in two.
fn shard(layout: &Layout, fields: &Value) -> i64 {
    let part = |names: &[&str]| names.iter().find_map(|name| fields[name].as_i64());
    match (
        part(&["dc", "process"]),
        part(&["worker", "node", "shard", "machine"]),
    ) {
        (Some(_), Some(_)) if layout.shard_split() > 0 => {
            let names = if fields["dc"].is_null() {
                ["worker", "process"]
            } else {
                ["dc", "worker"]
            };
            number(&fields[names[0]]) << layout.shard_split() | number(&fields[names[1]])
        }
        (_, whole) => whole.unwrap(),
    }
}

fn seq(fields: &Value) -> i64 {
    ["seq", "increment"]
        .iter()
        .find_map(|name| fields[name].as_i64())
        .unwrap()
}

fn encode(layout: &Layout, input: &Value) -> Result<i64, IdError> {
    layout.encode(time_of(layout, input), shard(layout, input), seq(input))
}

fn composes(name: &str, group: &str, kind: &str, mark: &str) {
    let (layout, row) = (layout(name), row(group, kind, mark));
    assert_eq!(encode(&layout, &row["input"]), Ok(number(&row["expected"])));
}

fn decodes(name: &str, group: &str, kind: &str, mark: &str) {
    let row = row(group, kind, mark);
    let (layout, expected) = (layout(name), &row["expected"]);
    let id = number(&row["input"]["id"]);
    let parts = layout.decode(id).unwrap();
    assert_eq!(parts.at, time_of(&layout, expected));
    assert_eq!(parts.shard as i64, shard(&layout, expected));
    assert_eq!(parts.sequence as i64, seq(expected));
    assert_eq!(
        layout.encode(parts.at, parts.shard as i64, parts.sequence as i64),
        Ok(id)
    );
}

const PHP: &str = "time:49 shard:4 seq:10 epoch:2013-02-25T07:04:15.078Z";
const BAIDU_README: &str = "time:29 shard:21 seq:13 unit:1s epoch:2016-09-20T00:00:00+08:00";

vectors! {
    the_korean_article_id_composes: composes("java", "snowflake", "compose", "454947766275222906");
    the_korean_article_id_decodes: decodes("java", "snowflake", "decode", "454947766275219456");
    twitter_composes_datacenter_and_worker: composes("twitter", "snowflake", "compose", "4329472");
    twitters_largest_id_is_the_largest_bigint:
        composes("twitter", "snowflake", "compose", "9223372036854775807");
    a_tweet_decodes: decodes("twitter", "twitter", "decode", "850007368138018817");
    a_discord_user_decodes: decodes("discord", "discord", "decode", "80351110224678912");
    leafs_documented_id_decodes: decodes("leaf", "leaf-snowflake", "decode", "1169786042799259000");
    taobaos_first_id_composes: composes("taobao", "taobao", "compose", "18432");
    taobaos_full_fields_compose: composes("taobao", "taobao", "compose", "5541826693906431");
    instagrams_egg_decodes: decodes("instagram", "instagram", "decode", "1949525278281554174");
    sonyflake_1_composes: composes("sonyflake", "sonyflake-v1", "compose", "282372624875585538");
    sonyflake_2_composes: composes("sonyflake2", "sonyflake-v2", "compose", "21888227099017215");
    pgdogs_id_decodes: decodes("pgdog", "pgdog", "decode", "47839699276046337");
    pgdogs_compact_id_decodes: decodes("pgdog_compact", "pgdog", "decode", "29888761298944");
    baidus_readme_id_decodes: decodes(BAIDU_README, "baidu", "decode", "180363646902239241");
}

#[test]
fn twitters_id_worker_spec_holds_when_time_goes_backwards() {
    let row = row("snowflake", "generate-scripted-clock", "IdWorkerSpec");
    let clock: Vec<_> = row["input"]["clock_rel"]
        .as_array()
        .unwrap()
        .iter()
        .map(number)
        .collect();
    let answers = Script::new("twitter", STRICT).schedule(&clock);
    let texts: Vec<_> = answers
        .into_iter()
        .map(|answer| match answer {
            Ok(id) => id.to_string(),
            Err(MintError::ClockBehind { ahead, .. }) => {
                format!("ERROR clock moved backwards ({} ms)", ahead / 1_000)
            }
            Err(other) => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(Value::from(texts), row["expected"]);
}

#[test]
fn twitter_past_its_end_is_an_error_where_leaf_wrapped() {
    let row = row("snowflake", "compose-error", "-9223372036854775793");
    let error = encode(&layout("twitter"), &row["input"]);
    assert!(matches!(error, Err(IdError::Timestamp { .. })), "{error:?}");
}

#[test]
fn instagrams_example_composes_from_user_and_table_sequence() {
    let row = row("instagram", "compose", "11637205501278089");
    let input = &row["input"];
    let layout = layout("instagram");
    let shard = number(&input["user_id"]) % number(&input["shards"]);
    let sequence = number(&input["table_seq"]) % 1_024;
    assert_eq!(
        layout.encode(time_of(&layout, input), shard, sequence),
        Ok(number(&row["expected"]))
    );
}

#[test]
fn instagram_ends_where_the_sign_bit_would_be() {
    let row = row("instagram", "overflow", "2046-06-27");
    let layout = layout("instagram");
    let error = encode(&layout, &row["input"]);
    assert!(matches!(error, Err(IdError::Timestamp { .. })), "{error:?}");
    let (_, first_bad) = row["expected"].as_str().unwrap().rsplit_once(' ').unwrap();
    assert_eq!(layout.end(), Some(timestamp(first_bad)));
    assert_eq!(
        layout.encode(timestamp(first_bad) - 1, 8_191, 1_023),
        Ok(i64::MAX)
    );
}

#[test]
fn the_php_copys_three_colliding_ids_are_distinct() {
    let row = row("php-idwork", "bug-collision", "1025");
    let layout = layout(PHP);
    let [a, b, c] = ["a", "b", "c"].map(|name| encode(&layout, &row["input"][name]).unwrap());
    assert!(a != b && b != c && a != c, "{a} {b} {c}");
}

#[test]
fn baidus_defaults_ended_in_2024() {
    let row = row("baidu", "exhaustion", "28/22/13");
    let layout = layout("baidu");
    assert_eq!(layout.epoch(), number(&row["input"]["epoch_s"]) * 1_000_000);
    let expected = row["expected"].as_str().unwrap();
    let last = timestamp(expected.split(' ').nth(3).unwrap());
    assert_eq!(layout.tick_start(layout.max_tick()), Some(last));
    assert!(layout.encode(last + 999_999, 0, 0).is_ok());
    assert!(layout.encode(last + 1_000_000, 0, 0).is_err());

    let mut script = Script::new("baidu", STRICT);
    script.world.at = last;
    assert!(script.next().is_ok());
    script.world.at = last + 1_000_000;
    assert_eq!(script.next(), Err(MintError::Exhausted));
}

/// A tick begins anywhere in its sequence. Numbers past the last one carry into the next tick, as in the reference, so
/// ids ascend one by one, and none is skipped or repeated.
#[test]
fn tsids_begin_anywhere_and_carry_into_the_next_tick() {
    let tsid = layout("tsid");
    let sequence = |id: i64| tsid.decode(id).unwrap().sequence;
    let mut script = Script::new("tsid", DEFAULTS);
    let mut starts = std::collections::BTreeSet::new();
    for _ in 0..200 {
        script.world.at += 5_000;
        starts.insert(sequence(script.next().unwrap()));
    }
    assert!(starts.len() > 150, "{starts:?}");
    assert!(starts.last().is_some_and(|&last| last > 3_500));
    let mut last = script.next().unwrap();
    let first = last;
    for _ in 0..5_000 {
        let next = script.next().unwrap();
        let step = tsid
            .encode(tsid.decode(last).unwrap().at + 1_000, 0, 0)
            .unwrap();
        let carried = sequence(last) == tsid.seq.max();
        let shard = tsid.decode(last).unwrap().shard;
        let expected = if carried {
            step | tsid.shard.put(shard).cast_signed()
        } else {
            last + 1
        };
        assert_eq!(next, expected);
        last = next;
    }
    assert!(tsid.decode(last).unwrap().at > tsid.decode(first).unwrap().at);
}
