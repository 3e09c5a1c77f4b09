//! What turns one id into another form and back: published results, and that nothing is lost.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "common/known.rs"]
mod known;

use known::{number, row};
use mint_core::encoding::{self, ENCODINGS, MAX_LENGTH};
use mint_core::{
    AutoRandom, AutoRandomError, ConcealError, Concealer, EncodingError, ScatterError,
    SequenceTable, SequenceTableError, scatter, unscatter,
};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use std::collections::HashSet;

fn scatters(mark: &str) {
    let row = row("tidb", "scatter1", mark);
    let (id, scattered) = (number(&row["input"]["id"]), number(&row["expected"]));
    assert_eq!(scatter(id, 1), Ok(scattered));
    assert_eq!(unscatter(scattered, 1), Ok(id));
}

fn values(name: &str) -> Vec<i64> {
    let table = SequenceTable::named(name).unwrap();
    let count = usize::try_from(table.count()).unwrap();
    let values = (0..).map(|n| table.first + n * table.step).take(count);
    values.collect()
}

fn lists(name: &str) {
    let expected = row("mariadb", "seq-table", &format!("\"{name}\""));
    assert_eq!(Value::from(values(name)), expected["expected"]);
}

fn is_no_table(name: &str) {
    let row = row("mariadb", "seq-name-invalid", &format!("\"{name}\""));
    assert_eq!(row["expected"], "no such table");
    assert_eq!(
        SequenceTable::named(name),
        Err(SequenceTableError::Name(name.to_owned()))
    );
}

/// name: how(mark).
macro_rules! vectors {
    ($($name:ident: $how:ident($mark:expr);)*) => {$(
        #[test]
        fn $name() {
            $how($mark);
        }
    )*};
}

vectors! {
    tidb_scatters_row_1: scatters("561632371724517376");
    tidb_scatters_row_2: scatters("561632371728711681");
    tidb_scatters_row_3: scatters("561632371732905984");
    tidb_scatters_row_4: scatters("561632371732905986");
    tidb_scatters_row_5: scatters("561632371732905988");
    mariadb_counts_up: lists("seq_1_to_5");
    mariadb_counts_in_steps: lists("seq_1_to_15_step_3");
    mariadb_counts_down: lists("seq_5_to_1_step_2");
    mariadb_has_one_value_when_the_step_is_too_long: lists("seq_15_to_1_step_12345");
    mariadb_has_one_value_from_one_to_one: lists("seq_1_to_1");
    mariadb_counts_down_to_the_bound_that_is_written: lists("seq_15_to_2_step_3");
    mariadb_has_no_table_without_an_end: is_no_table("seq_1_to_");
    mariadb_has_no_negative_table: is_no_table("seq_-5_to_5");
}

#[test]
fn tidbs_id_that_scattered_is_no_bigint_is_refused() {
    let row = row("tidb", "scatter1-overflow", "9000000000000000009");
    let id = number(&row["input"]["id"]);
    assert_eq!(
        scatter(id, 1),
        Err(ScatterError::OutOfRange { id, digits: 1 })
    );
}

#[test]
fn tidbs_short_id_is_itself() {
    let row = row("tidb", "scatter1-short", "StringIndexOutOfBounds");
    let id = number(&row["input"]["id"]);
    assert_eq!(id, 7);
    for digits in 1..=18 {
        assert_eq!(scatter(id, digits), Ok(id));
    }
}

#[test]
fn scattering_keeps_the_sign_and_knows_its_limits() {
    assert_eq!(scatter(-1234, 2), Ok(-1342));
    assert_eq!(scatter(0, 1), Ok(0));
    let id = i64::MIN;
    assert_eq!(
        scatter(id, 1),
        Err(ScatterError::OutOfRange { id, digits: 1 })
    );
    for digits in [i32::MIN, -1, 0, 19, i32::MAX] {
        assert_eq!(scatter(1, digits), Err(ScatterError::Digits));
        assert_eq!(unscatter(1, digits), Err(ScatterError::Digits));
    }
}

/// Exhaustively: the ids of one length are permuted among themselves.
#[test]
fn all_short_ids_are_permuted_by_scattering() {
    for digits in 1..=5 {
        for length in 1..=5 {
            let ids = 10_i64.pow(length - 1)..10_i64.pow(length);
            let scattered = ids.clone().map(|id| scatter(id, digits).unwrap());
            let mut scattered: Vec<i64> = scattered.collect();
            assert!(
                ids.clone()
                    .zip(&scattered)
                    .all(|(id, &moved)| unscatter(moved, digits) == Ok(id))
            );
            scattered.sort_unstable();
            assert!(ids.eq(scattered), "{length} digits, {digits} moved");
        }
    }
}

fn auto_random(row: &Value) -> AutoRandom {
    let bits = |name: &str| i32::try_from(number(&row["input"][name])).unwrap();
    AutoRandom::new(bits("shard_bits"), bits("range")).unwrap()
}

#[test]
fn tidbs_auto_random_id_decodes() {
    let row = row("tidb", "auto_random-decode", "1152921504606846978");
    let (widths, id) = (auto_random(&row), number(&row["input"]["id"]));
    assert_eq!(widths.shard(id), Ok(number(&row["expected"]["shard"])));
    assert_eq!(widths.value(id), Ok(number(&row["expected"]["inc"])));
}

#[test]
fn tidbs_auto_random_capacity_is_ours() {
    let row = row("tidb", "auto_random-capacity", "288230376151711743");
    let widths = auto_random(&row);
    assert_eq!(widths.max_value(), number(&row["expected"]));
    assert!(widths.id(1, widths.max_value()).is_ok());
    assert!(matches!(
        widths.id(1, widths.max_value() + 1),
        Err(AutoRandomError::Value { .. })
    ));
}

#[test]
fn tidbs_auto_random_for_javascript_ends_where_ours_does() {
    let row = row("tidb", "auto_random-max", "9007199254740991");
    let widths = auto_random(&row);
    assert_eq!(widths.max_id(), number(&row["expected"]));
    assert!(widths.value(widths.max_id()).is_ok());
    assert!(matches!(
        widths.value(widths.max_id() + 1),
        Err(AutoRandomError::NotAnId { .. })
    ));
}

/// Neighbouring transactions start microseconds apart, and must not land in neighbouring shards.
#[test]
fn neighbouring_seeds_use_every_shard_evenly() {
    let widths = AutoRandom::new(5, 64).unwrap();
    let mut used = [0; 32];
    for seed in 845_000_000_000_000..845_000_000_032_000_i64 {
        used[usize::try_from(widths.shard(widths.id(seed, 1).unwrap()).unwrap()).unwrap()] += 1;
    }
    assert!(
        used.iter().all(|count| (800..1_200).contains(count)),
        "{used:?}"
    );
}

fn text(name: &str, id: i64) -> String {
    let mut room = [0; MAX_LENGTH];
    let encoding = encoding::by_name(name.as_bytes()).unwrap();
    String::from_utf8(encoding.encode(id, &mut room).unwrap().to_vec()).unwrap()
}

fn id(name: &str, text: &str) -> Result<i64, EncodingError> {
    encoding::by_name(name.as_bytes())
        .unwrap()
        .decode(text.as_bytes())
}

#[test]
fn bwmarrins_base58_is_ours() {
    let row = row("encode", "base58", "4jgmnx8Js8A");
    let (number, shown) = (
        number(&row["input"]["id"]),
        row["expected"].as_str().unwrap(),
    );
    assert_eq!(text("base58", number), shown);
    assert_eq!(id("base58", shown), Ok(number));
}

#[test]
fn instagrams_short_code_is_base64url() {
    let row = row("instagram", "decode", "BsOGulcndj-");
    let code = row["input"]["shortcode"].as_str().unwrap();
    assert_eq!(id("base64url", code), Ok(number(&row["input"]["id"])));
    assert_eq!(text("base64url", number(&row["input"]["id"])), code);
}

#[test]
fn the_first_and_last_ids_have_these_texts() {
    for (name, zero, last) in [
        ("base58", "1", "npL6MjP8Qfc"),
        ("base58btc", "1", "NQm6nKp8qFC"),
        ("base62", "0", "AzL8n0Y58m7"),
        ("base64url", "A", "H__________"),
        ("crockford", "0", "7ZZZZZZZZZZZZ"),
        ("zbase32", "y", "8999999999999"),
        ("hex", "0", "7fffffffffffffff"),
    ] {
        assert_eq!((name, text(name, 0).as_str()), (name, zero));
        assert_eq!((name, text(name, i64::MAX).as_str()), (name, last));
    }
}

/// Exhaustively: all texts of one and two bytes are the first ids, each one once, but for the
/// encodings that people type.
#[test]
fn all_short_texts_are_one_id_each() {
    for (encoding, radix) in ENCODINGS.iter().zip([58, 58, 62, 64, 32, 32, 16]) {
        let one = (0..=127).map(|byte| vec![byte]);
        let two = (0..=127).flat_map(|a| (0..=127).map(move |b| vec![a, b]));
        let texts = one.chain(two);
        let mut ids: Vec<i64> = texts
            .filter_map(|text| encoding.decode(&text).ok())
            .collect();
        ids.sort_unstable();
        if ["crockford", "hex"].contains(&encoding.name) {
            ids.dedup();
        }
        assert!(ids.into_iter().eq(0..radix * radix), "{}", encoding.name);
    }
}

#[test]
fn crockford_and_hex_are_read_as_people_write_them() {
    assert_eq!(id("crockford", "7zzz-zzzz-zzzzz"), Ok(i64::MAX));
    assert_eq!(id("crockford", "0oO1iIlL"), id("crockford", "00011111"));
    assert_eq!(id("crockford", "0001"), Ok(1));
    assert_eq!(id("hex", "00000000000000fF"), Ok(255));
    assert_eq!(id("crockford", "-"), Err(EncodingError::Empty));
    assert_eq!(id("crockford", "1U"), Err(EncodingError::NotADigit('U')));
}

#[test]
fn texts_that_are_no_ids_are_refused() {
    use EncodingError::*;
    for (name, text, error) in [
        ("base58", "", Empty),
        ("base58", "4jgmnx8Js8AA", OutOfRange),
        ("base58", "npL6MjP8Qfd", OutOfRange),
        ("base62", "AzL8n0Y58m8", OutOfRange),
        // A product that still fits 64 bits, and a sum that does not.
        ("base62", "LygHa16AHYF", OutOfRange),
        ("base62", "LygHa16AHYG", OutOfRange),
        ("base62", "zzzzzzzzzzzzzzzzzzzzzzzz", OutOfRange),
        ("zbase32", "9999999999999", OutOfRange),
        ("hex", "8000000000000000", OutOfRange),
        ("hex", "00000000000000000000008000000000000000", OutOfRange),
        ("crockford", "8000000000000", OutOfRange),
        ("base58", "0", NotADigit('0')),
        ("base58", "4jgmI", WrongCase('I')),
        ("base58", "4jgml", WrongCase('l')),
        ("base58", "14", LeadingZero('1')),
        ("base58", "11", LeadingZero('1')),
        ("base62", "01", LeadingZero('0')),
        ("base62", " 1", NotADigit(' ')),
        ("base62", "1\n", NotADigit('\n')),
        ("base62", "-1", NotADigit('-')),
        ("base62", "1é", NotADigit('é')),
        ("zbase32", "YB", WrongCase('Y')),
        ("zbase32", "b0", NotADigit('0')),
        ("hex", "0x1", NotADigit('x')),
        ("hex", "zzzzzzzzzzzzzzzzzzzzzzzz", NotADigit('z')),
    ] {
        assert_eq!(id(name, text), Err(error), "{name} {text}");
    }
    let hex = encoding::by_name(b"hex").unwrap();
    assert_eq!(hex.decode(b"1\xff"), Err(NotADigit('\u{fffd}')));
    assert_eq!(hex.encode(-1, &mut [0; MAX_LENGTH]), Err(Negative(-1)));
    assert!(encoding::by_name(b"Base58").is_none() && encoding::by_name(b"").is_none());
}

const KEY: &[u8; 16] = b"0123456789abcdef";

/// Frozen: public ids are made of these. Computed by another program too, from `openssl enc -aes-128-ecb`.
#[test]
fn concealed_ids_are_what_they_were() {
    let long = Concealer::new(&[KEY.as_slice(), KEY].concat()).unwrap();
    let short = Concealer::new(KEY).unwrap();
    let ids = [1, 2, 4_035_377_468_834_583_552, i64::MAX];
    assert_eq!(ids.map(|id| short.conceal(id, 63).unwrap()), FROZEN_128);
    assert_eq!(ids.map(|id| long.conceal(id, 63).unwrap()), FROZEN_256);
    assert_eq!(
        short.conceal(1_970_399_154_704_386, 53),
        Ok(317_112_446_388_084)
    );
}

const FROZEN_128: [i64; 4] = [
    1_815_264_923_703_597_431,
    1_960_770_339_006_073_916,
    3_182_528_189_645_574_284,
    5_016_224_338_655_920_856,
];
const FROZEN_256: [i64; 4] = [
    628_138_570_132_940_863,
    6_253_753_917_771_165_612,
    5_396_031_525_257_777_312,
    968_295_694_778_354_966,
];

#[test]
fn a_smallest_domain_is_permuted_whole() {
    let concealer = Concealer::new(KEY).unwrap();
    let all: HashSet<i64> = (1..1 << 20)
        .map(|id| {
            let public = concealer.conceal(id, 20).unwrap();
            assert!((1..1 << 20).contains(&public));
            public
        })
        .collect();
    assert_eq!(all.len(), (1 << 20) - 1);
}

#[test]
fn what_cannot_be_concealed_is_refused() {
    for length in [0, 15, 17, 24, 31, 33] {
        let error = Concealer::new(&vec![0; length]).map(|_| ());
        assert_eq!(error, Err(ConcealError::Key(length)));
    }
    let concealer = Concealer::new(KEY).unwrap();
    for bits in [i32::MIN, 0, 19, 64, i32::MAX] {
        assert_eq!(concealer.conceal(1, bits), Err(ConcealError::Bits));
    }
    for (id, bits, max) in [
        (0, 63, i64::MAX),
        (-1, 63, i64::MAX),
        (1 << 53, 53, (1 << 53) - 1),
    ] {
        assert_eq!(
            concealer.reveal(id, bits),
            Err(ConcealError::Id { id, max })
        );
    }
}

/// One bit of the id, the key or the width changes about half of the result's bits.
#[test]
fn every_bit_of_id_and_key_matters() {
    let changed = |a: i64, b: i64| (a ^ b).count_ones();
    let concealer = Concealer::new(KEY).unwrap();
    let id = 4_035_377_468_834_583_552_i64;
    let public = concealer.conceal(id, 63).unwrap();
    let mut total = 0;
    for bit in 0..63 {
        let flips = changed(public, concealer.conceal(id ^ (1 << bit), 63).unwrap());
        assert!((12..52).contains(&flips), "bit {bit}: {flips}");
        total += flips;
    }
    assert!((1_800..2_200).contains(&total), "{total}");
    for place in 0..128 {
        let mut key = *KEY;
        key[place / 8] ^= 1 << (place % 8);
        let other = Concealer::new(&key).unwrap().conceal(id, 63).unwrap();
        assert!(
            (12..52).contains(&changed(public, other)),
            "key bit {place}"
        );
    }
    assert!(changed(public, concealer.conceal(id, 62).unwrap()) > 12);
}

fn ids() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => 0..=i64::MAX,
        2 => (0..63_u32, -2..=2_i64).prop_map(|(bit, by)| (1_i64 << bit).saturating_add(by).max(0)),
        2 => (0..19_u32, -2..=2_i64).prop_map(|(place, by)| (10_i64.pow(place) + by).max(0)),
        1 => select(&[0, 1, i64::MAX][..]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..Default::default() })]

    /// Against the definition in text: first digit, moved digits, the rest.
    #[test]
    fn scattering_is_the_articles_and_undone(id in ids(), digits in 1..=18_i32, negative: bool) {
        let id = if negative { -id } else { id };
        let text = id.unsigned_abs().to_string();
        let k = digits as usize;
        let moved = if text.len() <= k { text.clone() } else {
            let (head, low) = text.split_at(text.len() - k);
            format!("{}{low}{}", &head[..1], &head[1..])
        };
        let signed = format!("{}{moved}", if id < 0 { "-" } else { "" });
        match (scatter(id, digits), signed.parse::<i64>()) {
            (Ok(scattered), Ok(expected)) => {
                prop_assert_eq!(scattered, expected);
                prop_assert_eq!(unscatter(scattered, digits), Ok(id));
            }
            (Err(error), Err(_)) => prop_assert_eq!(error, ScatterError::OutOfRange { id, digits }),
            other => prop_assert!(false, "{:?}", other),
        }
    }

    #[test]
    fn auto_random_keeps_value_and_widths(shard_bits in 1..=15, range_bits in 32..=64, seed: i64, value in ids()) {
        let widths = AutoRandom::new(shard_bits, range_bits).unwrap();
        let id = widths.id(seed, value & widths.max_value()).unwrap();
        prop_assert!((0..=widths.max_id()).contains(&id));
        prop_assert_eq!(widths.value(id), Ok(value & widths.max_value()));
        prop_assert!((0..1 << shard_bits).contains(&widths.shard(id).unwrap()));
        prop_assert_eq!(widths.shard(id), widths.id(seed, 0).and_then(|id| widths.shard(id)));
    }

    /// Against a walk in MariaDB's words: the ascending values, reversed for a descending table.
    #[test]
    fn sequence_tables_hold_what_the_ascending_ones_hold(start in 0..200_i64, stop in 0..200_i64, step in 1..50_i64) {
        let name = format!("seq_{start}_to_{stop}_step_{step}");
        let mut expected: Vec<i64> = (start.min(stop)..=start.max(stop)).step_by(step as usize).collect();
        if step > start.abs_diff(stop).cast_signed() {
            expected = vec![start];
        } else if start > stop {
            expected.reverse();
        }
        prop_assert_eq!(values(&name), expected);
        prop_assert_eq!(SequenceTable::new(start, stop, step), SequenceTable::named(&name));
    }

    /// The whole unsigned range: each value is exact, or the table refused.
    #[test]
    fn sequence_tables_never_wrap(start: u64, stop: u64, step: u64, shift in 0..64_u32) {
        let (start, stop, step) = (start >> (shift % 3), stop >> (shift % 2), step >> shift);
        match SequenceTable::named(&format!("seq_{start}_to_{stop}_step_{step}")) {
            Ok(table) => {
                let only = table.count() == 1;
                prop_assert_eq!(only, step > start.abs_diff(stop));
                prop_assert!(only || table.step.unsigned_abs() == step);
                prop_assert_eq!(i128::from(table.last), i128::from(table.first)
                    + i128::from(table.count() - 1) * i128::from(table.step));
            }
            Err(SequenceTableError::ZeroStep) => prop_assert_eq!(step, 0),
            Err(SequenceTableError::Value(value)) => prop_assert!(value > i64::MAX.cast_unsigned()),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }

    #[test]
    fn every_encoding_gives_back_every_id(id in ids()) {
        for encoding in &ENCODINGS {
            let mut room = [0; MAX_LENGTH];
            let text = encoding.encode(id, &mut room).unwrap();
            prop_assert_eq!(encoding.decode(text), Ok(id));
        }
    }

    /// Where an encoding is for machines, what is accepted is the id's one text.
    #[test]
    fn accepted_texts_are_the_ones_given_out(text in "[0-9A-Za-z_-]{0,13}") {
        for encoding in &ENCODINGS {
            if let Ok(id) = encoding.decode(text.as_bytes()) {
                let mut room = [0; MAX_LENGTH];
                let given = encoding.encode(id, &mut room).unwrap();
                match encoding.name {
                    "crockford" | "hex" => prop_assert_eq!(encoding.decode(given), Ok(id)),
                    _ => prop_assert_eq!(given, text.as_bytes()),
                }
            }
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(text: Vec<u8>, name in ".*") {
        for encoding in &ENCODINGS {
            let _ = encoding.decode(&text);
        }
        let _ = SequenceTable::named(&name);
        let _ = SequenceTable::named(&format!("seq_{name}"));
    }

    #[test]
    fn concealed_ids_are_revealed(id in ids(), bits in 20..=63_i32, key: [u8; 32], long: bool) {
        let concealer = Concealer::new(&key[..if long { 32 } else { 16 }]).unwrap();
        let id = (id & (i64::MAX >> (63 - bits))).max(1);
        let public = concealer.conceal(id, bits).unwrap();
        prop_assert!((1..=i64::MAX >> (63 - bits)).contains(&public));
        prop_assert_eq!(concealer.reveal(public, bits), Ok(id));
    }
}
