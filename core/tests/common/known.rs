//! The published ids of `tests/vectors`, and ids near every edge.
#![allow(dead_code, reason = "not every test file needs all of it")]

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{RngAlgorithm, TestRng};
use serde_json::Value;

const VECTORS: &str = include_str!("../vectors/known_ids.json");

/// All rows of a group.
pub fn rows(group: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(VECTORS).unwrap();
    let mut rows: Vec<Value> = all.as_array().unwrap().to_vec();
    rows.retain(|row| row["group"] == group);
    rows
}

/// The one row of the group and kind whose text contains `mark`.
pub fn row(group: &str, kind: &str, mark: &str) -> Value {
    let mut rows = rows(group);
    rows.retain(|row| row["kind"] == kind && row.to_string().contains(mark));
    assert_eq!(rows.len(), 1, "{group} {kind} {mark}");
    rows.remove(0)
}

/// A number that a row writes as one or as text.
pub fn number(value: &Value) -> i64 {
    value
        .as_i64()
        .or_else(|| value.as_str()?.parse().ok())
        .unwrap()
}

/// Any ids, often near a power of two or of ten, or the ends.
pub fn ids() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => 0..=i64::MAX,
        2 => (0..63_u32, -2..=2_i64).prop_map(|(bit, by)| (1_i64 << bit).saturating_add(by).max(0)),
        2 => (0..19_u32, -2..=2_i64).prop_map(|(place, by)| (10_i64.pow(place) + by).max(0)),
        1 => select(&[0, 1, i64::MAX][..]),
    ]
}

/// Random numbers, the same in every run.
pub fn random() -> impl Iterator<Item = u64> {
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    std::iter::repeat_with(move || rng.next_u64())
}
