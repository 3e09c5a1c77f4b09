//! The inventory as an SQL function.

use crate::adopt::catalog::column::{IdColumn, Place};
use crate::adopt::catalog::default::StoredDefault;
use crate::adopt::catalog::foreign_key::Reference;
use crate::adopt::catalog::home::Home;
use crate::adopt::catalog::table::TableSize;
use crate::adopt::inventory::kinds::{self, IdsKind};
use crate::adopt::inventory::usage::{self, Usage};
use crate::pg::catalog::scan::sample::Value;
use crate::pg::catalog::sql;
use crate::pg::datum::regclass::Regclass;
use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::timestamp;
use crate::snowflake::layout::sql_type::SnowflakeLayout;
use mint_core::Micros;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;
use std::collections::{HashMap, HashSet};

/// A row of the inventory.
type InventoryRow = (
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
    let all = Surroundings::read();
    let columns = IdColumn::all(Home::find().id_types());
    let keyed = columns.iter().filter(|column| column.is_key);
    let keyed: HashSet<pg_sys::Oid> = keyed.map(|column| column.table).collect();
    let rows = columns
        .iter()
        .filter_map(|column| all.row(column, keyed.contains(&column.table)));
    TableIterator::new(rows.collect::<Vec<InventoryRow>>())
}

/// What the catalogs say of the tables and of the columns that refer to others.
struct Surroundings {
    /// The columns that refer to a column, like `public.item(order_id)`.
    referrers: HashMap<Place, Vec<String>>,
    /// The columns that refer to others.
    referring: HashSet<Place>,
    tables: HashMap<pg_sys::Oid, TableSize>,
    /// The tables whose primary key has several columns.
    long_keys: HashSet<pg_sys::Oid>,
    /// When the statistics began to count.
    counting_since: Option<Micros>,
}

impl Surroundings {
    fn read() -> Self {
        let mut referrers: HashMap<Place, Vec<String>> = HashMap::new();
        let mut referring = HashSet::new();
        for Reference { from, to } in Reference::read(None) {
            let names = referrers.entry(to.place()).or_default();
            let name = from.full_name();
            if !names.contains(&name) {
                names.push(name);
            }
            referring.insert(from.place());
        }
        Self {
            referrers,
            referring,
            tables: TableSize::read(None),
            long_keys: long_keys(),
            counting_since: usage::counting_since(),
        }
    }

    /// Returns the row of a column; none if it is not an id.
    fn row(&self, column: &IdColumn, has_key: bool) -> Option<InventoryRow> {
        let generated = kinds::by_default(column);
        let referrers = self.referrers.get(&column.place());
        // A key that refers to another table is that table's id.
        let is_own_key = column.is_key && !self.referring.contains(&column.place());
        // Without a key, what a function of the user returns is the id of the table.
        let is_wrapped = || {
            let default = column.default.as_ref();
            !has_key && !is_text(column) && default.is_some_and(StoredDefault::is_wrapped)
        };
        if generated.is_none() && referrers.is_none() && !is_own_key && !is_wrapped() {
            return None;
        }
        let table = self.tables.get(&column.table);
        // The sequence says more of a counter than its rows.
        let values = if generated.is_none() {
            kinds::values(column, table.map_or(&[][..], |table| &table.leaves))
        } else {
            Vec::new()
        };
        let kind = generated.unwrap_or_else(|| kinds::by_values(&values));
        let usage = self.usage(column, &kind, &values);
        let source = column.source.as_ref();
        let text = |text: &String| DecodedText(text.clone());
        Some((
            Regclass(column.table),
            text(&column.name),
            text(&column.type_name),
            column.default.as_ref().map(|default| text(&default.text)),
            kind.name.map(DecodedText),
            kind.layout.as_ref().map(SnowflakeLayout::from),
            source.map(|source| Regclass(source.sequence)),
            table.and_then(TableSize::rows).map(|rows| rows as i64),
            table.and_then(|table| table.bytes),
            referrers.map(|names| names.iter().map(text).collect()),
            usage.percent,
            usage.used_up.and_then(timestamp),
            usage.estimate.map(DecodedText),
        ))
    }

    fn usage(&self, column: &IdColumn, kind: &IdsKind, values: &[Value]) -> Usage {
        match (kind.name.as_deref(), &kind.layout) {
            (_, Some(layout)) => usage::of_layout(layout),
            (Some("objectid"), None) => usage::of_objectids(),
            (Some("integer"), None) if !is_integer(column.base_type) => Usage::default(),
            (
                Some("serial" | "sequence" | "identity always" | "identity by default" | "integer"),
                None,
            ) => {
                // A part of a key that nothing generates does not rise with the rows, as the number of a line of an order.
                let is_fed = column.source.is_some() || column.default.is_some();
                let rises = is_fed || !self.long_keys.contains(&column.table);
                let table = self.tables.get(&column.table).filter(|_| rises);
                let rate = table.and_then(|table| usage::rate(table.inserted, self.counting_since));
                usage::of_counter(column, values, rate)
            }
            _ => Usage::default(),
        }
    }
}

/// Returns the tables whose primary key has several columns.
fn long_keys() -> HashSet<pg_sys::Oid> {
    let query = "SELECT k.conrelid FROM pg_constraint AS k
        WHERE k.contype = 'p' AND cardinality(k.conkey) > 1";
    sql::rows(query, &[], |row| row.get::<pg_sys::Oid>(1))
        .into_iter()
        .collect()
}

/// Returns whether a column is of texts, whose defaults can be anything.
fn is_text(column: &IdColumn) -> bool {
    [pg_sys::TEXTOID, pg_sys::VARCHAROID, pg_sys::BPCHAROID].contains(&column.base_type)
}

/// Returns whether a type is one of the integers.
fn is_integer(base_type: pg_sys::Oid) -> bool {
    [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID].contains(&base_type)
}
