//! Findings of columns that draw from a sequence.

use crate::adopt::audit::findings::{Finding, Severity};
use crate::adopt::audit::subject::Subject;
use crate::adopt::default::Generator;
use crate::adopt::inventory::columns::Source;
use crate::adopt::inventory::usage::{largest, last_value};
use crate::adopt::mentions::{Mentions, Statement};
use crate::pg::catalog::sql;
use crate::pg::error::OrReport;
use mint_core::adopt::evidence::LARGE;
use pgrx::pg_sys;
use pgrx::spi::SpiClient;

/// Percent of a counter from which it is about to end.
const NEARLY: f64 = 80.0;

const INDEX: &str = "SELECT pg_catalog.count(x.indexrelid) OPERATOR(pg_catalog.>) 0::pg_catalog.int8 FROM pg_catalog.pg_index AS x
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) x.indexrelid
    JOIN pg_catalog.pg_am AS m ON m.oid OPERATOR(pg_catalog.=) c.relam
    WHERE x.indrelid OPERATOR(pg_catalog.=) $1::pg_catalog.oid AND x.indkey[0] OPERATOR(pg_catalog.=) $2::pg_catalog.int2
        AND x.indisvalid AND x.indpred IS NULL AND m.amname OPERATOR(pg_catalog.=) 'btree'::pg_catalog.name";

/// Returns the largest number below `below`: by an index, or else of those that were read.
pub fn largest_id(client: &SpiClient<'_>, subject: &Subject, below: i64) -> Option<i64> {
    let seen = || subject.numbers().into_iter().filter(|&id| id < below).max();
    if subject.ids.is_whole || subject.ids.unread.is_some() {
        return seen();
    }
    let arguments = [subject.table.into(), subject.number.into()];
    let has_index = client.select(INDEX, Some(1), &arguments).or_report();
    if has_index.first().get::<bool>(1).or_report() != Some(true) {
        return seen();
    }
    // Any comparison finds the same by the index, as the type's own one has no other name.
    let (name, column) = (&subject.name, &subject.column);
    let query = format!(
        "SELECT newest.id::pg_catalog.int8 FROM (SELECT {column} AS id FROM {name}
             WHERE {column} OPERATOR(pg_catalog.<) $1::pg_catalog.int8 ORDER BY {column} DESC LIMIT 1) AS newest"
    );
    let rows = client.select(&query, Some(1), &[below.into()]).or_report();
    if rows.is_empty() {
        return None;
    }
    rows.first().get(1).or_report()
}

/// Notes what uses the sequence of a column, or takes its ids as integers where they are not.
pub fn check_mentions(subject: &Subject, source: Option<&Source>, found: &mut Vec<Finding>) {
    let sequences = source.map(|source| source.sequence);
    let mentions = Mentions::find(vec![subject.table], sequences.into_iter().collect());
    let mut add = |severity, finding, list: Vec<String>| {
        if !list.is_empty() {
            let evidence = format!("{}.", list.join("; "));
            found.push(Finding::new(severity, finding, evidence));
        }
    };
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
    let is_wide = matches!(subject.generator, Some(Generator::Snowflake { .. }))
        || subject.numbers().iter().any(|&id| id > i64::from(i32::MAX));
    if is_wide {
        add(
            Severity::Warning,
            "functions of the table have arguments of type integer",
            mentions.narrow,
        );
    }
}

/// Checks the sequence of a column.
pub fn check(client: &SpiClient<'_>, subject: &Subject, source: &Source, found: &mut Vec<Finding>) {
    let sequence = sql::exact_name_of(source.sequence);
    let limit = largest(subject.base_type);
    if source.increment > 0
        && source.max < limit
        && source.max >= i64::from(i16::MAX)
        && subject.base_type == pg_sys::INT8OID
    {
        let evidence = format!(
            "Sequence {sequence} ends at {}, and the column is of type {}.",
            source.max, subject.type_name
        );
        found.push(
            Finding::new(
                Severity::Warning,
                "sequence ends before its column",
                evidence,
            )
            .mended_by(format!(
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
            finding.mended_by(subject.alter("TYPE bigint"))
        });
    }
    // After a conversion to snowflakes and back, the largest id of all is not the counter's.
    let below = if last < LARGE { LARGE } else { i64::MAX };
    if let Some(max) = largest_id(client, subject, below).filter(|&max| max > last) {
        let evidence = format!("Sequence {sequence} is at {last}, and the largest id is {max}.");
        let finding = Finding::new(Severity::Error, "sequence is behind the ids", evidence);
        // At its end it returns nothing more, and beyond it cannot be set.
        found.push(if max < end {
            finding.mended_by(format!(
                "SELECT pg_catalog.setval({}, {max});",
                sql::literal(&sequence)
            ))
        } else {
            finding
        });
    }
}
