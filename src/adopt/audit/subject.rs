//! The column that is audited: what the catalogs say of it, and the ids that were read.

use crate::adopt::default::{Generator, Generators};
use crate::pg::catalog::relation;
use crate::pg::catalog::sample::{self, Limit, Sample, Value};
use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;
use crate::pg::error::{OrReport, report};
use crate::pg::worker::dblink::value;
use pgrx::spi::SpiClient;
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
}

const COLUMN: &str = "SELECT a.attnum, pg_catalog.quote_ident(a.attname::pg_catalog.text),
        pg_catalog.format_type(a.atttypid, a.atttypmod),
        a.atttypid, pg_catalog.pg_get_expr(d.adbin, 0::pg_catalog.oid),
        pg_catalog.has_schema_privilege(c.relnamespace, 'USAGE'::pg_catalog.text)
            AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT'::pg_catalog.text),
        pg_catalog.row_security_active(c.oid)
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) c.oid
    LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid OPERATOR(pg_catalog.=) c.oid
        AND d.adnum OPERATOR(pg_catalog.=) a.attnum
        AND a.attgenerated OPERATOR(pg_catalog.=) ''::pg_catalog.\"char\"
    WHERE c.oid OPERATOR(pg_catalog.=) $1::pg_catalog.oid
        AND a.attname OPERATOR(pg_catalog.=) $2::pg_catalog.text::pg_catalog.name
        AND a.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2 AND NOT a.attisdropped";

/// The tables below a partitioned one, or the table itself.
const LEAVES: &str = "WITH RECURSIVE tree AS (
        SELECT $1::pg_catalog.oid AS leaf
        UNION ALL
        SELECT i.inhrelid FROM tree AS t
        JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) t.leaf
        JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.inhrelid AND c.relispartition
    )
    SELECT c.oid, c.reltuples::pg_catalog.float8
    FROM tree AS t JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) t.leaf
    WHERE c.relkind OPERATOR(pg_catalog.=) 'r'::pg_catalog.\"char\"";

/// The most ids and blocks that are read of all tables together.
const LIMIT: Limit = Limit {
    values: 10_000,
    blocks: 1_000,
};

impl Subject {
    /// Reads a column of a table. Raises an error if it is none of ids, or the user may not read it.
    pub fn read(
        client: &SpiClient<'_>,
        table: pg_sys::Oid,
        shown: &str,
        column: &str,
        generators: &Generators,
    ) -> Self {
        check_table(table, shown);
        let arguments = [table.into(), DecodedText(column.to_owned()).into()];
        let rows = client.select(COLUMN, Some(1), &arguments).or_report();
        if rows.is_empty() {
            report(
                Code::ERRCODE_UNDEFINED_COLUMN,
                format!("column \"{column}\" of relation \"{shown}\" does not exist"),
            )
            .raise();
        }
        let row = rows.first();
        let text = |column| value::<DecodedText>(&row, column).map(|text| text.0);
        let base_type = value(&row, 4).map_or(pg_sys::InvalidOid, relation::base_type);
        let type_name = text(3).unwrap_or_default();
        check_type(base_type, &type_name, column, generators);
        if value::<bool>(&row, 6) != Some(true) {
            report(
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("permission denied for column \"{column}\" of relation \"{shown}\""),
            )
            .hint("An audit reads the ids: it needs the privilege SELECT.")
            .raise();
        }
        let hidden = value::<bool>(&row, 7) == Some(true);
        let default = text(5);
        let generator = default
            .as_deref()
            .and_then(|default| generators.of(default));
        Self {
            table,
            name: sql::exact_name_of(table),
            number: value(&row, 1).unwrap_or(0),
            column: text(2).unwrap_or_default(),
            base_type,
            type_name,
            default,
            generator,
            schema: generators.schema.clone(),
            ids: Ids::read(client, table, column, base_type, hidden),
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
    fn read(
        client: &SpiClient<'_>,
        table: pg_sys::Oid,
        column: &str,
        base_type: pg_sys::Oid,
        hidden: bool,
    ) -> Self {
        if hidden {
            return Self {
                unread: Some("row security applies to the current user"),
                ..Self::default()
            };
        }
        let leaves: Vec<(pg_sys::Oid, f64)> = client
            .select(LEAVES, None, &[table.into()])
            .or_report()
            .filter_map(|row| Some((row.get(1).or_report()?, row.get(2).or_report()?)))
            .collect();
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
        for &(table, _) in &leaves {
            let place = sample::Column {
                table,
                name: column,
                base_type,
            };
            match sample::sample(place, limit) {
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
        ids
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
