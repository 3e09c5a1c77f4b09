//! TiDB: published ids, and that nothing is lost by scattering.

use crate::known::{ids, number, row};
use mint_core::{AutoRandom, AutoRandomError, ScatterError, scatter, unscatter};
use proptest::prelude::*;
use serde_json::Value;

fn scatters(mark: &str) {
    let row = row("tidb", "scatter1", mark);
    let (id, scattered) = (number(&row["input"]["id"]), number(&row["expected"]));
    assert_eq!(scatter(id, 1), Ok(scattered));
    assert_eq!(unscatter(scattered, 1), Ok(id));
}

#[test]
fn tidb_scatters_row_1() {
    scatters("561632371724517376");
}

#[test]
fn tidb_scatters_row_2() {
    scatters("561632371728711681");
}

#[test]
fn tidb_scatters_row_3() {
    scatters("561632371732905984");
}

#[test]
fn tidb_scatters_row_4() {
    scatters("561632371732905986");
}

#[test]
fn tidb_scatters_row_5() {
    scatters("561632371732905988");
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

/// Neighboring transactions start microseconds apart, and must not land in neighboring shards.
#[test]
fn neighboring_seeds_use_every_shard_evenly() {
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
}
