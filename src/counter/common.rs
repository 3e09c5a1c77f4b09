//! Functions for all counters: creating a sequence, checking a count, and ranges as rows.

use crate::pg::catalog::sql;
use crate::pg::datum::regclass::Regclass;
use crate::pg::error::report;
use mint_core::Values;
use pgrx::PgSqlErrorCode as Code;
use pgrx::iter::TableIterator;
use std::ops::RangeInclusive;

/// Creates a sequence of this name, and returns it.
pub fn create(name: &str, clauses: &str) -> Regclass {
    create_quoted(&sql::quoted(name), clauses)
}

/// Creates a sequence of a quoted name, in the schema where the caller creates relations.
pub fn create_quoted(quoted: &str, clauses: &str) -> Regclass {
    let (sequence, _) = sql::create(quoted, |name| format!("CREATE SEQUENCE {name} {clauses}"));
    Regclass(sequence)
}

/// Checks a count of values in a row: one call must not use up the values that others need.
#[track_caller]
pub fn check_count(count: i64) -> u64 {
    check_range("count", count, 1..=i64::from(i32::MAX));
    count.unsigned_abs()
}

/// Raises an error unless an argument is in a range.
#[track_caller]
pub fn check_range(name: &str, value: i64, range: RangeInclusive<i64>) {
    if !range.contains(&value) {
        report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            format!(
                "{name} must be between {} and {}",
                range.start(),
                range.end()
            ),
        )
        .raise();
    }
}

/// Returns values as one row: the first, the last, and the step from one to the next.
pub fn range_row(values: Values) -> TableIterator<'static, (i64, i64, i64)> {
    TableIterator::once((values.first, values.last(), values.increment))
}
