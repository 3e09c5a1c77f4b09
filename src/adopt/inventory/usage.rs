//! How much of its ids a column has used, and when none are left.

use crate::adopt::catalog::column::IdColumn;
use crate::pg::catalog::scan::sample::Value;
use crate::pg::catalog::{extension, privilege, sql};
use crate::pg::datum::timestamp::to_micros;
use crate::pg::machine::clock;
use crate::pg::sequence::Sequence;
use mint_core::clock::timestamp_text;
use mint_core::{Layout, Micros};
use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys;

/// How full a column is.
#[derive(Debug, Default)]
pub struct Usage {
    /// Percent of all ids that there can be.
    pub percent: Option<f64>,
    /// When none are left.
    pub used_up: Option<Micros>,
    /// How that is known.
    pub estimate: Option<String>,
}

/// The last second of an ObjectID, in 2106.
const LAST_SECOND: Micros = (u32::MAX as Micros + 1) * 1_000_000;

/// Returns how much of a time field has passed.
fn by_time(first: Micros, end: Option<Micros>, what: &str) -> Usage {
    let Some(end) = end else {
        return Usage::default();
    };
    let age = clock::now().saturating_sub(first) as f64;
    let percent = 100.0 * age / (i128::from(end) - i128::from(first)) as f64;
    Usage {
        percent: Some(rounded(percent)),
        used_up: Some(end),
        estimate: Some(format!("end of the {what}")),
    }
}

/// Returns the same of the ids of a layout.
pub fn of_layout(layout: &Layout) -> Usage {
    by_time(layout.epoch(), layout.end(), "layout's time field")
}

/// Returns the same of ObjectIDs.
pub fn of_objectids() -> Usage {
    by_time(0, Some(LAST_SECOND), "ObjectID's time field")
}

/// Returns the last number of a sequence that the user may see; none of one that nothing was drawn from, or that is locked.
pub fn last_value(sequence: pg_sys::Oid) -> Option<i64> {
    if !privilege::any(sequence, pg_sys::ACL_SELECT | pg_sys::ACL_USAGE) {
        return None;
    }
    let row = Sequence::peek(sequence)?;
    Some(if row.is_called {
        row.last_value
    } else {
        row.last_value.saturating_sub(1).max(0)
    })
}

/// Returns the largest number of an integer type.
pub fn largest(base_type: pg_sys::Oid) -> i64 {
    match base_type {
        pg_sys::INT2OID => i16::MAX.into(),
        pg_sys::INT4OID => i32::MAX.into(),
        _ => i64::MAX,
    }
}

/// Returns when the statistics of this database began to count.
pub fn counting_since() -> Option<Micros> {
    let query = "SELECT pg_stat_get_db_stat_reset_time(d.oid) FROM pg_database AS d
        WHERE d.datname = current_database()";
    let reset = sql::rows(query, &[], |row| row.get::<TimestampWithTimeZone>(1)).pop();
    reset.map(to_micros).or_else(extension::created)
}

/// How many rows a second are inserted, and since when that is known.
pub type Rate = (f64, Micros);

/// Returns the rate at which rows were inserted since a timestamp.
pub fn rate(rows: i64, since: Option<Micros>) -> Option<Rate> {
    let since = since?;
    let span = clock::now().saturating_sub(since);
    (rows > 0 && span > 1_000_000).then(|| (rows as f64 / span as f64 * 1e6, since))
}

/// Returns how far a counter has come, by its sequence, or else by the largest number seen, and when it ends at a rate.
pub fn of_counter(column: &IdColumn, seen: &[Value], rate: Option<Rate>) -> Usage {
    let largest = largest(column.base_type);
    let (last, max, step) = match &column.source {
        Some(source) if source.increment < 0 => return Usage::default(),
        Some(source) => (
            last_value(source.sequence),
            source.max.min(largest),
            source.increment,
        ),
        None => (seen.iter().filter_map(Value::number).max(), largest, 1),
    };
    let Some(last) = last else {
        return Usage::default();
    };
    let left = (max.saturating_sub(last)).max(0) as f64;
    let end = rate
        .map(|(rate, since)| {
            let end = clock::now() as f64 + left / (rate * step as f64) * 1e6;
            (end, rate, since)
        })
        // After that, there is no such timestamp.
        .filter(|(end, ..)| *end < 9.2e18);
    Usage {
        percent: Some(rounded(100.0 * last.max(0) as f64 / max as f64)),
        used_up: end.map(|(end, ..)| end as Micros),
        estimate: end.map(|(_, rate, since)| {
            format!(
                "{} rows a second, inserted since {}",
                significant(rate),
                timestamp_text(since - since.rem_euclid(1_000_000))
            )
        }),
    }
}

/// Rounds to a hundredth.
fn rounded(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}

/// Returns a number with two significant digits.
fn significant(number: f64) -> String {
    let digits = (1.0 - number.log10().floor()).clamp(0.0, 12.0) as usize;
    format!("{number:.digits$}")
}
