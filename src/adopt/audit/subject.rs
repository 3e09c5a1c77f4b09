//! The column that is audited: what the catalogs say of it, and the ids that were read.

use crate::adopt::default::{Generator, Generators};
use crate::adopt::inventory::columns::LONGEST_DEFAULT;
use crate::pg::catalog::access::{self, Readable, Unreadable};
use crate::pg::catalog::scan::sample::{Limit, Sample, Value};
use crate::pg::catalog::{relation, sql};
use crate::pg::datum::text::DecodedText;
use crate::pg::error::report;
use mint_core::bytes::excerpt::excerpt;
use pgrx::{PgSqlErrorCode as Code, pg_sys};

/// A column and its ids.
pub struct Subject {
    pub table: pg_sys::Oid,
    /// The quoted name with its schema.
    pub name: String,
    pub number: i16,
    /// The column, quoted.
    pub column: String,
    pub base_type: pg_sys::Oid,
    /// The name of its type.
    pub type_name: String,
    pub default: Option<String>,
    pub generator: Option<Generator>,
    /// The schema of this extension's functions, quoted.
    pub schema: String,
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

const COLUMN: &str = "SELECT a.attnum, quote_ident(a.attname::text),
        format_type(a.atttypid, a.atttypmod), a.atttypid,
        CASE WHEN octet_length(d.adbin::text) <= $3::int4
            THEN pg_get_expr(d.adbin, 0) END
    FROM pg_class AS c
    JOIN pg_attribute AS a ON a.attrelid = c.oid
    LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid
        AND d.adnum = a.attnum
        AND a.attgenerated = ''
    WHERE c.oid = $1::oid
        AND a.attname = $2::text::name
        AND a.attnum > 0 AND NOT a.attisdropped";

/// The tables below a partitioned one, or the table itself.
const LEAVES: &str = "WITH RECURSIVE tree AS (
        SELECT $1::oid AS leaf
        UNION ALL
        SELECT i.inhrelid FROM tree AS t
        JOIN pg_inherits AS i ON i.inhparent = t.leaf
        JOIN pg_class AS c ON c.oid = i.inhrelid AND c.relispartition
    )
    SELECT c.oid, c.reltuples::float8
    FROM tree AS t JOIN pg_class AS c ON c.oid = t.leaf
    WHERE c.relkind = 'r'";

/// The most ids and blocks that are read of all tables together.
const LIMIT: Limit = Limit {
    values: 10_000,
    blocks: 1_000,
};

impl Subject {
    /// Reads a column of a table. Raises an error if it is none of ids, or the user may not read it.
    pub fn read(table: pg_sys::Oid, shown: &str, column: &str, generators: &Generators) -> Self {
        check_table(table, shown);
        let arguments = [
            table.into(),
            DecodedText(column.to_owned()).into(),
            LONGEST_DEFAULT.into(),
        ];
        let found = sql::rows(COLUMN, &arguments, |row| {
            let text = |column| row.get::<DecodedText>(column).map(|text| text.0);
            let base_type = relation::base_type(row.get(4)?);
            Some((row.get(1)?, text(2)?, text(3)?, base_type, text(5)))
        });
        let Some((number, quoted, type_name, base_type, default)) = found.into_iter().next() else {
            report(
                Code::ERRCODE_UNDEFINED_COLUMN,
                format!(
                    "column \"{}\" of relation \"{shown}\" does not exist",
                    excerpt(column)
                ),
            )
            .raise()
        };
        check_type(base_type, &type_name, column, generators);
        let readable = access::read(table, number);
        if readable.err() == Some(Unreadable::Denied) {
            report(
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("permission denied for column \"{column}\" of relation \"{shown}\""),
            )
            .hint("An audit reads the ids: it needs the privilege SELECT.")
            .raise();
        }
        let generator = default
            .as_deref()
            .and_then(|default| generators.of(default));
        Self {
            table,
            name: sql::exact_name_of(table),
            number,
            column: quoted,
            base_type,
            type_name,
            default,
            generator,
            schema: generators.schema.clone(),
            ids: readable.map_or_else(
                |_| Ids::hidden(),
                |readable| Ids::read(readable, table, base_type),
            ),
        }
    }

    /// Returns the numbers among the ids.
    pub fn numbers(&self) -> Vec<i64> {
        self.ids.values.iter().filter_map(Value::number).collect()
    }

    /// Returns a statement that alters the column.
    pub fn alter(&self, change: &str) -> String {
        format!(
            "ALTER TABLE {} ALTER COLUMN {} {change};",
            self.name, self.column
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
        let leaves: Vec<(pg_sys::Oid, f64)> = sql::rows(LEAVES, &[table.into()], |row| {
            Some((row.get(1)?, row.get(2)?))
        });
        let mut ids = Self {
            is_whole: true,
            rows: (leaves.iter().all(|(_, rows)| *rows >= 0.0))
                .then(|| leaves.iter().map(|(_, rows)| rows).sum()),
            ..Self::default()
        };
        let share = |whole: usize| whole.div_ceil(leaves.len().max(1));
        let limit = Limit {
            values: share(LIMIT.values),
            blocks: share(LIMIT.blocks as usize) as u32,
        };
        for &(leaf, _) in &leaves {
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
        let leaves = leaves.into_iter().map(|(leaf, _)| leaf).collect();
        ids.source = Some((readable, leaves));
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

fn check_type(base_type: pg_sys::Oid, name: &str, column: &str, generators: &Generators) {
    if !generators.id_types().contains(&base_type) {
        report(
            Code::ERRCODE_DATATYPE_MISMATCH,
            format!("column \"{column}\" does not have ids"),
        )
        .detail(format!("The column is of type {name}."))
        .hint("Name a column of type smallint, integer, bigint, uuid, objectid, text or varchar.")
        .raise();
    }
}
