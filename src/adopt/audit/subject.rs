//! The column that is audited: what the catalogs say of it, and the ids that were read.

use crate::adopt::catalog::column::{IdColumn, missing_column};
use crate::adopt::catalog::default::Generated;
use crate::adopt::catalog::home::Home;
use crate::adopt::catalog::table::TableSize;
use crate::pg::catalog::access::{self, Readable, Unreadable};
use crate::pg::catalog::scan::sample::{Limit, Sample, Value};
use crate::pg::catalog::{relation, sql};
use crate::pg::error::report;
use pgrx::{PgSqlErrorCode as Code, pg_sys};

/// A column and its ids.
pub struct Subject {
    pub column: IdColumn,
    /// The quoted name of the table with its schema.
    pub table_name: String,
    /// What the default generates.
    pub generated: Option<Generated>,
    pub home: Home,
    pub ids: Ids,
}

/// The ids that were read.
#[derive(Default)]
pub struct Ids {
    pub values: Vec<Value>,
    /// All rows were read.
    pub is_whole: bool,
    /// About how many rows there are; none if that is not known.
    pub rows: Option<f64>,
    /// Why no ids were read.
    pub unread: Option<&'static str>,
    /// The column that was read, and the tables that have its rows.
    source: Option<(Readable, Vec<pg_sys::Oid>)>,
}

/// The most ids and blocks that are read of all tables together.
const LIMIT: Limit = Limit {
    values: 10_000,
    blocks: 1_000,
};

impl Subject {
    /// Reads a column of a table. Raises an error if it is none of ids, or the user may not read it.
    pub fn read(table: pg_sys::Oid, name: &str) -> Self {
        let shown = sql::name_of(table);
        check_table(table, &shown);
        let Some(column) = IdColumn::find(table, name) else {
            // Another transaction can have dropped the table since its name was looked up.
            let query = "SELECT oid FROM pg_class WHERE oid = $1";
            if sql::ask_with::<pg_sys::Oid>(query, &[table.into()]).is_none() {
                sql::missing(table);
            }
            missing_column(name, &shown)
        };
        let home = Home::find();
        check_type(&column, &home);
        let readable = access::read(table, column.number);
        if readable.err() == Some(Unreadable::Denied) {
            report(
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("permission denied for column \"{name}\" of relation \"{shown}\""),
            )
            .hint("An audit reads the ids: it needs the privilege SELECT.")
            .raise();
        }
        Self {
            table_name: sql::exact_name_of(table),
            generated: column.generated(),
            home,
            ids: readable.map_or_else(
                |_| Ids::hidden(),
                |readable| Ids::read(readable, table, column.base_type),
            ),
            column,
        }
    }

    /// Returns the default for a message.
    pub fn default(&self) -> &str {
        let default = self.column.default.as_ref();
        default.map_or("", |default| &default.text)
    }

    /// Returns the numbers among the ids.
    pub fn numbers(&self) -> Vec<i64> {
        self.ids.values.iter().filter_map(Value::number).collect()
    }

    /// Returns a statement that alters the column.
    pub fn alter(&self, change: &str) -> String {
        format!(
            "ALTER TABLE {} ALTER COLUMN {} {change};",
            self.table_name,
            self.column.quoted()
        )
    }

    /// Returns how many of the ids that were read something is true for.
    pub fn share(&self, count: usize) -> String {
        let all = self.ids.values.len();
        let sampled = if self.ids.is_whole {
            ""
        } else {
            " in the sample"
        };
        format!("{count} of {all} ids{sampled}")
    }
}

impl Ids {
    fn hidden() -> Self {
        Self {
            unread: Some("row security applies to the current user"),
            ..Self::default()
        }
    }

    fn read(readable: Readable, table: pg_sys::Oid, base_type: pg_sys::Oid) -> Self {
        let size = TableSize::read(Some(table)).remove(&table);
        let leaves = size.map_or_else(Vec::new, |size| size.leaves);
        let rows: Option<Vec<f64>> = leaves.iter().map(|leaf| leaf.rows).collect();
        let leaves: Vec<pg_sys::Oid> = leaves.iter().map(|leaf| leaf.table).collect();
        let mut ids = Self {
            is_whole: true,
            rows: rows.map(|rows| rows.iter().sum()),
            ..Self::default()
        };
        let share = |whole: usize| whole.div_ceil(leaves.len().max(1));
        let limit = Limit {
            values: share(LIMIT.values),
            blocks: share(LIMIT.blocks as usize) as u32,
        };
        for &leaf in &leaves {
            match readable.sample(leaf, base_type, limit) {
                Some(Sample { values, is_whole }) => {
                    ids.values.extend(values);
                    ids.is_whole &= is_whole;
                }
                None => {
                    ids.is_whole = false;
                    ids.unread = Some(
                        "another session has locked the table, or its rows cannot be read in blocks",
                    );
                }
            }
        }
        ids.source = Some((readable, leaves));
        // The largest one shows what the rows between do not.
        let largest = match ids.is_whole {
            true => None,
            false => ids.largest_by_index(base_type, i64::MAX),
        };
        let largest = largest.map(Value::Number);
        let is_new = |largest: &Value| !ids.values.contains(largest);
        let largest = largest.filter(is_new);
        ids.values.extend(largest);
        ids
    }

    /// Returns the largest number below another that the indexes of the tables have; none of another type.
    pub fn largest_by_index(&self, base_type: pg_sys::Oid, below: i64) -> Option<i64> {
        let (readable, leaves) = self.source.as_ref()?;
        let of = |&leaf: &pg_sys::Oid| readable.largest(leaf, base_type, below).flatten();
        leaves.iter().filter_map(of).max()
    }
}

fn check_table(table: pg_sys::Oid, shown: &str) {
    let kind = relation::kind(table);
    match kind {
        None => sql::missing(table),
        Some(pg_sys::RELKIND_RELATION | pg_sys::RELKIND_PARTITIONED_TABLE) => {}
        Some(_) => report(
            Code::ERRCODE_WRONG_OBJECT_TYPE,
            format!("\"{shown}\" is not a table"),
        )
        .raise(),
    }
}

fn check_type(column: &IdColumn, home: &Home) {
    if !home.id_types().contains(&column.base_type) {
        report(
            Code::ERRCODE_DATATYPE_MISMATCH,
            format!("column \"{}\" does not have ids", column.name),
        )
        .detail(format!("The column is of type {}.", column.type_name))
        .hint("Name a column of type smallint, integer, bigint, uuid, objectid, text or varchar.")
        .raise();
    }
}
