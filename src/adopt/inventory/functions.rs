//! The inventory as an SQL function.

use crate::adopt::default::Generators;
use crate::adopt::inventory::columns::{Column, References, Source, columns, references, sources};
use crate::adopt::inventory::kinds::{Kind, made, seen, values};
use crate::adopt::inventory::tables::Tables;
use crate::adopt::inventory::usage::{self, Usage};
use crate::pg::datum::regclass::Regclass;
use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::timestamp;
use crate::snowflake::layout::sql_type::SnowflakeLayout;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;
use std::collections::HashMap;

/// A row of the inventory.
type Row = (
    Regclass,
    DecodedText,
    DecodedText,
    Option<DecodedText>,
    Option<DecodedText>,
    Option<SnowflakeLayout>,
    Option<Regclass>,
    Option<i64>,
    Option<i64>,
    Option<Vec<DecodedText>>,
    Option<f64>,
    Option<TimestampWithTimeZone>,
    Option<DecodedText>,
);

/// Returns every id column of the database: keys, columns that foreign keys refer to, and columns whose default makes ids.
/// Columns of a partitioned table are one row.
///
/// - **Kind**: by the default or the identity, or else by what about a hundred rows look like. NULL where nothing tells,
///   the user may not read the column, row security applies to the user, or another session has locked the table.
/// - **No waiting**: nothing waits for a lock, and none is kept. No function of a table's owner is run.
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity, reason = "pgrx reads the row type from here")]
fn inventory() -> TableIterator<
    'static,
    (
        name!(relation, Regclass),
        name!(column_name, DecodedText),
        name!(type_name, DecodedText),
        name!(default_value, Option<DecodedText>),
        name!(kind, Option<DecodedText>),
        name!(layout, Option<SnowflakeLayout>),
        name!(sequence, Option<Regclass>),
        name!(rows, Option<i64>),
        name!(bytes, Option<i64>),
        name!(referenced_by, Option<Vec<DecodedText>>),
        name!(percent_used, Option<f64>),
        name!(used_up, Option<TimestampWithTimeZone>),
        name!(estimate, Option<DecodedText>),
    ),
> {
    let all = Catalog {
        references: references(),
        sources: sources(),
        tables: Tables::read(),
        generators: Generators::find(),
    };
    let columns = columns(all.generators.id_types(), &all.references);
    let rows: Vec<Row> = columns
        .iter()
        .filter_map(|column| all.row(column))
        .collect();
    TableIterator::new(rows)
}

/// What the catalogs say of all columns.
struct Catalog {
    generators: Generators,
    references: References,
    sources: HashMap<(pg_sys::Oid, i16), Source>,
    tables: Tables,
}

impl Catalog {
    /// Returns the row of a column; none if it is no id.
    fn row(&self, column: &Column) -> Option<Row> {
        let source = self.sources.get(&column.place);
        let made = made(column, source, &self.generators);
        let referrers = self.references.to.get(&column.place);
        // A key that refers to another table is that table's id.
        let is_own_key = column.is_key && !self.references.from.contains_key(&column.place);
        if made.is_none() && referrers.is_none() && !is_own_key {
            return None;
        }
        let table = self.tables.get(column.place.0);
        let leaves = table.map_or(&[][..], |table| &table.leaves);
        // The sequence says more of a counter than its rows.
        let values = if made.is_none() {
            values(column, leaves)
        } else {
            Vec::new()
        };
        let kind = made.unwrap_or_else(|| seen(&values));
        let usage = self.usage(column, source, &kind, &values);
        let rows = table.and_then(|table| table.rows);
        Some((
            Regclass(column.place.0),
            DecodedText(column.name.clone()),
            DecodedText(column.type_name.clone()),
            column.default.clone().map(DecodedText),
            kind.name.map(DecodedText),
            kind.layout.as_ref().map(SnowflakeLayout::from),
            source.map(|source| Regclass(source.sequence)),
            rows.map(|rows| rows as i64),
            table.and_then(|table| table.bytes),
            referrers.map(|names| names.iter().cloned().map(DecodedText).collect()),
            usage.percent,
            usage.used_up.and_then(timestamp),
            usage.estimate.map(DecodedText),
        ))
    }

    fn usage(
        &self,
        column: &Column,
        source: Option<&Source>,
        kind: &Kind,
        values: &[crate::pg::catalog::scan::sample::Value],
    ) -> Usage {
        match (kind.name.as_deref(), &kind.layout) {
            (_, Some(layout)) => usage::of_layout(layout),
            (Some("objectid"), None) => usage::of_objectids(),
            (Some("integer"), None) if !is_integer(column.base_type) => Usage::default(),
            (
                Some("serial" | "sequence" | "identity always" | "identity by default" | "integer"),
                None,
            ) => {
                let table = self.tables.get(column.place.0);
                usage::of_counter(column, source, values, table, &self.tables)
            }
            _ => Usage::default(),
        }
    }
}

/// Returns whether a type is one of the integers.
fn is_integer(base_type: pg_sys::Oid) -> bool {
    [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID].contains(&base_type)
}
