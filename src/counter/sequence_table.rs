//! MariaDB's sequence tables.
//!
//! `sequence_table` itself is SQL over `generate_series`, so that the planner inlines the call: its rows stream, also
//! in FROM, where the rows of a function would be stored first.

use crate::counter::row_estimate;
use crate::counter::row_estimate::ConstantArgument;
use crate::pg::datum::text::Text;
use crate::pg::error::OrReport;
use crate::pg::error::excerpt;
use mint_core::{SequenceTable, SequenceTableError};
use pgrx::Internal;
use pgrx::prelude::*;

/// Returns the first value, the last value and the step of the sequence table with these bounds.
#[pg_extern(sql = false)]
fn sequence_table_bounds(start: i64, stop: i64, step: i64) -> Vec<i64> {
    bounds(SequenceTable::new(start, stop, step))
}

/// Returns the first value, the last value and the step of the sequence table of that name.
#[pg_extern(sql = false)]
fn sequence_table_bounds_named(name: Text<'_>) -> Vec<i64> {
    bounds(named(name))
}

fn bounds(table: Result<SequenceTable, SequenceTableError>) -> Vec<i64> {
    let SequenceTable { first, last, step } = table.or_report();
    vec![first, last, step]
}

/// Returns the table of a name. A name that is cut off is not valid either.
fn named(name: Text<'_>) -> Result<SequenceTable, SequenceTableError> {
    SequenceTable::named(&excerpt(name.0))
}

/// Tells the planner how many rows a call of `sequence_table` returns, where it is not inlined.
#[pg_extern(sql = false)]
fn sequence_table_support(request: Internal) -> Internal {
    row_estimate::answer(request, |arguments| {
        let table = match *arguments {
            [ConstantArgument::Text(name)] => named(name),
            [
                ConstantArgument::Number(start),
                ConstantArgument::Number(stop),
                ConstantArgument::Number(step),
            ] => SequenceTable::new(start, stop, step),
            // An argument is NULL.
            _ => return Some(0.0),
        };
        // Bounds of no table raise an error when the query runs.
        table.ok().map(|table| table.count() as f64)
    })
}
