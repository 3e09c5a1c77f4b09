//! Findings of columns that draw from a sequence.

use crate::adopt::audit::subject::Subject;
use crate::adopt::audit::{Finding, Severity};
use crate::adopt::catalog::column::{Place, Source};
use crate::adopt::catalog::default::IdKind;
use crate::adopt::catalog::foreign_key::Reference;
use crate::adopt::inventory::usage::{largest, last_value};
use crate::adopt::mentions::{Mentions, Statement};
use crate::pg::catalog::sql;
use mint_core::adopt::evidence::LARGE;
use pgrx::pg_sys;

/// Percent of a counter from which it is about to end.
const NEARLY: f64 = 80.0;

/// Returns the largest number below `below`: by indexes, or else of those that were read.
pub fn largest_id(subject: &Subject, below: i64) -> Option<i64> {
    let seen = subject.numbers().into_iter().filter(|&id| id < below).max();
    if subject.ids.is_whole {
        return seen;
    }
    seen.max(
        subject
            .ids
            .largest_by_index(subject.column.base_type, below),
    )
}

/// Notes what uses the sequence of a column, or takes its ids as integers where they are not.
pub fn check_mentions(subject: &Subject, found: &mut Vec<Finding>) {
    let mut add = |severity, finding, list: Vec<String>| {
        if !list.is_empty() {
            let evidence = format!("{}.", list.join("; "));
            found.push(Finding::new(severity, finding, evidence));
        }
    };
    if let Some(source) = &subject.column.source {
        let mentions = Mentions::find(vec![subject.column.table], vec![source.sequence]);
        add(
            Severity::Info,
            "functions use the sequence",
            mentions.functions,
        );
        let statements = mentions.statements.iter().map(Statement::text);
        add(
            Severity::Info,
            "statements use sequences",
            statements.collect(),
        );
    }
    let generated = subject.generated.as_ref();
    let is_wide = generated.is_some_and(|generated| generated.kind == IdKind::Snowflake)
        || subject.numbers().iter().any(|&id| id > i64::from(i32::MAX));
    if is_wide {
        let tables = with_referring(subject.column.place());
        add(
            Severity::Warning,
            "functions of the table have arguments or results of type integer",
            Mentions::find(tables, Vec::new()).narrow,
        );
    }
}

/// Returns the table of a column, and those that have its ids because they refer to it, directly or not.
fn with_referring(column: Place) -> Vec<pg_sys::Oid> {
    let mut places = vec![column];
    let mut next = 0;
    while let Some(&place) = places.get(next) {
        for Reference { from, to } in Reference::read(Some(place)) {
            if to.place() == place && !places.contains(&from.place()) {
                places.push(from.place());
            }
        }
        next += 1;
    }
    places.into_iter().map(|(table, _)| table).collect()
}

/// Checks the sequence of a column.
pub fn check(subject: &Subject, source: &Source, found: &mut Vec<Finding>) {
    let sequence = sql::exact_name_of(source.sequence);
    let limit = largest(subject.column.base_type);
    if source.increment > 0
        && source.max < limit
        && source.max >= i64::from(i16::MAX)
        && subject.column.base_type == pg_sys::INT8OID
    {
        let evidence = format!(
            "Sequence {sequence} ends at {}, and the column is of type {}.",
            source.max, subject.column.type_name
        );
        found.push(
            Finding::warning("sequence ends before its column", evidence).corrected_by(format!(
                "ALTER SEQUENCE {sequence} AS bigint MAXVALUE {limit};"
            )),
        );
    }
    let Some(last) = last_value(source.sequence).filter(|_| source.increment > 0) else {
        return;
    };
    let end = source.max.min(limit);
    let percent = 100.0 * last as f64 / end as f64;
    if percent >= NEARLY {
        let severity = if percent >= 95.0 {
            Severity::Error
        } else {
            Severity::Warning
        };
        let evidence =
            format!("Sequence {sequence} is at {last} of {end}, which is {percent:.1} %.");
        let finding = Finding::new(severity, "numbers are nearly used up", evidence);
        found.push(if limit == i64::MAX {
            finding
        } else {
            finding.corrected_by(subject.alter("TYPE bigint"))
        });
    }
    // After a conversion to snowflakes and back, the largest id of all is not the counter's.
    let below = if last < LARGE { LARGE } else { i64::MAX };
    if let Some(max) = largest_id(subject, below).filter(|&max| max > last) {
        let evidence = format!("Sequence {sequence} is at {last}, and the largest id is {max}.");
        let finding = Finding::error("sequence is behind the ids", evidence);
        // At its end it returns nothing more, and beyond it cannot be set.
        found.push(if max < end {
            finding.corrected_by(format!(
                // Another column can have set it further meanwhile.
                "SELECT pg_catalog.setval({}, pg_catalog.int8larger({max}, last_value)) FROM {sequence};",
                sql::literal(&sequence)
            ))
        } else {
            finding
        });
    }
}
