//! MariaDB: its published tables, and that no value is wrong.

use crate::known::row;
use mint_core::{SequenceTable, SequenceTableError};
use proptest::prelude::*;
use serde_json::Value;

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

vectors! {
    mariadb_counts_up: lists("seq_1_to_5");
    mariadb_counts_in_steps: lists("seq_1_to_15_step_3");
    mariadb_counts_down: lists("seq_5_to_1_step_2");
    mariadb_has_one_value_when_the_step_is_too_long: lists("seq_15_to_1_step_12345");
    mariadb_has_one_value_from_one_to_one: lists("seq_1_to_1");
    mariadb_counts_down_to_the_bound_that_is_written: lists("seq_15_to_2_step_3");
    mariadb_has_no_table_without_an_end: is_no_table("seq_1_to_");
    mariadb_has_no_negative_table: is_no_table("seq_-5_to_5");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..Default::default() })]

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
    fn arbitrary_names_never_panic(name in ".*", numbers in "[0-9]{0,21}(_to_[0-9]{0,21}){0,2}(_step_)?[0-9]{0,3}") {
        let _ = SequenceTable::named(&name);
        let _ = SequenceTable::named(&format!("seq_{numbers}"));
    }
}
