//! The published ids of `pg_test/vectors`.

use serde_json::Value;
use std::fs;

const VECTORS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../pg_test/vectors/known_ids.json"
);

/// The one row of the published vectors, of the group and kind whose text contains `mark`.
pub fn row(group: &str, kind: &str, mark: &str) -> Value {
    let all: Value = serde_json::from_str(&fs::read_to_string(VECTORS).unwrap()).unwrap();
    let mut rows: Vec<Value> = all.as_array().unwrap().to_vec();
    rows.retain(|row| {
        row["group"] == group && row["kind"] == kind && row.to_string().contains(mark)
    });
    assert_eq!(rows.len(), 1, "{group} {kind} {mark}");
    rows.remove(0)
}
