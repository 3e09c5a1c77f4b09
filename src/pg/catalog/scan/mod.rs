//! Rows of catalogs, read without a query.

pub mod dependents;
pub mod rows;

use pgrx::pg_sys;

/// Returns the condition of a scan that a column equals a value, by a function of equality.
pub fn equals(column: u32, equality: u32, value: pg_sys::Datum) -> pg_sys::ScanKeyData {
    let mut key = pg_sys::ScanKeyData::default();
    // SAFETY: the place of the key is this function's.
    unsafe {
        let strategy = pg_sys::BTEqualStrategyNumber as pg_sys::StrategyNumber;
        let column = column as pg_sys::AttrNumber;
        pg_sys::ScanKeyInit(&raw mut key, column, strategy, equality.into(), value);
    }
    key
}
