//! What ids look like.

use mint_core::adopt::evidence::{Numbers, commonest, of_numbers, of_text};
use mint_core::{BUILTINS, Micros};

/// 2026-11-18.
const NOW: Micros = 1_795_000_000_000_000;
const DAY: Micros = 86_400_000_000;

/// 100 ids of two shards over an hour, as an application makes them.
fn ids(name: &str, newest: Micros) -> Vec<i64> {
    let layout = &BUILTINS
        .iter()
        .find(|builtin| builtin.name == name)
        .unwrap()
        .layout;
    let shard = |number: i64| number % 2 * i64::from(layout.shard.width > 0);
    (0..100)
        .map(|number| {
            let at = newest - number * 36_123_457;
            layout.encode(at, shard(number), number % 3).unwrap()
        })
        .collect()
}

#[test]
fn ids_of_today_tell_their_layout() {
    let now = 1_795_000_000_000_000;
    for builtin in &BUILTINS {
        if builtin.layout.end().is_some_and(|end| end < now) {
            continue;
        }
        let found = of_numbers(&ids(builtin.name, now - 1_000_000), now);
        let Some(Numbers::Snowflake(layout)) = found else {
            panic!("{}: {found:?}", builtin.name);
        };
        assert_eq!(layout.key(), builtin.layout.key(), "{}", builtin.name);
    }
}

/// Layouts that differ in their epoch alone cannot be told apart later, and no guess is better than a wrong one.
#[test]
fn old_ids_are_not_guessed_wrongly() {
    let now = 1_795_000_000_000_000;
    for builtin in &BUILTINS {
        for days in [3, 29, 31, 90, 300, 1_000, 2_000] {
            let newest = now - days * DAY;
            let end = builtin.layout.end().unwrap_or(Micros::MAX);
            if newest < builtin.layout.epoch() + 30 * DAY || newest > end {
                continue;
            }
            let found = of_numbers(&ids(builtin.name, newest), now);
            if let Some(Numbers::Snowflake(layout)) = found {
                assert_eq!(
                    layout.key(),
                    builtin.layout.key(),
                    "{} {days}",
                    builtin.name
                );
                assert!(days < 30);
            }
        }
    }
}

#[test]
fn numbers_of_no_layout_are_said_to_be_such() {
    let now = 1_795_000_000_000_000;
    assert_eq!(of_numbers(&[], now), None);
    assert_eq!(of_numbers(&[1, 2, 3], now), Some(Numbers::Small));
    assert_eq!(of_numbers(&[-5], now), Some(Numbers::Small));
    assert_eq!(of_numbers(&[1, i64::MAX], now), Some(Numbers::Mixed));
    let random: Vec<i64> = (1..100_u64)
        .map(|number| (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1).cast_signed() | 1 << 62)
        .collect();
    assert_eq!(of_numbers(&random, now), Some(Numbers::Large));
}

#[test]
fn texts_tell_their_kind() {
    let cases = [
        ("01ARZ3NDEKTSV4RRFFQ69G5FAV", Some("ulid")),
        ("81ARZ3NDEKTSV4RRFFQ69G5FAV", None),
        ("01ARZ3NDEKTSV4RRFFQ69G5FAU", None),
        ("507f1f77bcf86cd799439011", Some("objectid")),
        ("01890f0c-7e4a-7cc3-98c4-dc0c0c07398f", Some("uuid_v7")),
        ("01890f0c7e4a4cc398c4dc0c0c07398f", Some("uuid_v4")),
        ("00000000-0000-0000-0000-000000000000", Some("uuid")),
        ("4035377468834583552", Some("integer")),
        ("007", Some("integer")),
        ("user_01h455vb4pex5vsknk084sn02q", Some("typeid")),
        ("0ujtsYcgvSTl8PAuAdqWYSMnLOv", Some("ksuid")),
        ("9m4e2mr0ui3e8a215n4g", Some("xid")),
        ("cjld2cjxh0000qzrmn831i7rn", Some("cuid")),
        ("tz4a98xxat96iws9zmbrgj3a", Some("cuid2")),
        ("-JhLeOlGIEjaIOFHR0xd", Some("firebase")),
        ("3jzfcijpj2z2a", Some("atproto")),
        ("-5", None),
        ("DE", None),
        ("", None),
    ];
    for (text, kind) in cases {
        assert_eq!(of_text(text, NOW).as_deref(), kind, "{text}");
    }
    let kinds = |texts: &[&str]| commonest(texts.iter().map(|text| of_text(text, NOW)));
    let (v7, v4) = (cases[4].0, cases[5].0);
    assert_eq!(kinds(&[v4, v7, v7]).as_deref(), Some("uuid_v7, uuid_v4"));
    assert_eq!(kinds(&[v4, "DE"]), None);
    assert_eq!(kinds(&[]), None);
}
