//! A partitioned table, its key and its partitions, as the catalogs have them.

use crate::adopt::default::{Generator, Generators};
use crate::adopt::inventory::columns::LONGEST_DEFAULT;
use crate::adopt::partition::error;
use crate::pg::catalog::spi::Row as CatalogRow;
use crate::pg::catalog::{relation, sql};
use crate::pg::datum::text::DecodedText;
use crate::pg::error::OrReport;
use mint_core::Layout;
use mint_core::adopt::keys::{Key, Keys};
use mint_core::adopt::partition::Range;
use pgrx::pg_sys;

/// A table that is partitioned by range of one column of ids.
pub struct Parent {
    /// The quoted name with its schema.
    pub name: String,
    /// The schema, quoted.
    pub schema: String,
    /// The oid of the schema.
    pub namespace: pg_sys::Oid,
    /// The name itself.
    pub relname: String,
    /// The ids of the column.
    pub keys: Keys,
    /// What a new table takes from it besides its columns, as `USING heap TABLESPACE fast`.
    pub storage: String,
    /// The partitions, without the default one.
    pub partitions: Vec<Partition>,
}

/// A partition.
pub struct Partition {
    /// The quoted name with its schema.
    pub name: String,
    /// Its keys.
    pub range: Range<Key>,
    /// It is a foreign table.
    pub is_foreign: bool,
    /// Another session began to detach it concurrently.
    pub is_detaching: bool,
}

/// What the catalogs say of a table.
struct Row {
    kind: u8,
    persistence: u8,
    strategy: Option<u8>,
    columns: i32,
    column: Option<String>,
    key_type: Option<pg_sys::Oid>,
    default: Option<String>,
    schema: String,
    namespace: pg_sys::Oid,
    relname: String,
    storage: String,
}

const TABLE: &str = "SELECT c.relkind, c.relpersistence, k.partstrat, k.partnatts::int4,
        a.attname::text, a.atttypid,
        CASE WHEN octet_length(d.adbin::text) <= $2::int4
            THEN pg_get_expr(d.adbin, 0) END,
        quote_ident(n.nspname::text), c.relnamespace, c.relname::text,
        concat(' USING ' || quote_ident(m.amname::text),
            ' TABLESPACE ' || quote_ident(t.spcname::text))
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    LEFT JOIN pg_partitioned_table AS k ON k.partrelid = c.oid
    LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid
        AND a.attnum = k.partattrs[0] AND a.attnum > 0
    LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid
        AND d.adnum = a.attnum
    LEFT JOIN pg_am AS m ON m.oid = c.relam
    LEFT JOIN pg_tablespace AS t ON t.oid = c.reltablespace
    WHERE c.oid = $1::oid";

const PARTITIONS: &str = "SELECT quote_ident(n.nspname::text) || '.'
        || quote_ident(c.relname::text),
        pg_get_expr(c.relpartbound, 0),
        c.relkind = 'f', i.inhdetachpending
    FROM pg_inherits AS i
    JOIN pg_class AS c ON c.oid = i.inhrelid
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE i.inhparent = $1::oid";

impl Parent {
    /// Reads a partitioned table. The layout of a bigint is the given one, or that of its default.
    pub fn find(table: pg_sys::Oid, layout: Option<Layout>) -> Self {
        let name = sql::name_of(table);
        let generators = Generators::find();
        let arguments = [table.into(), LONGEST_DEFAULT.into()];
        let found = sql::rows(TABLE, &arguments, |row| Some(Row::read(row))).pop();
        let row = found.unwrap_or_else(|| sql::missing(table));
        let keys = row.keys(&name, &generators, layout);
        Self {
            name: sql::exact_name_of(table),
            schema: row.schema,
            namespace: row.namespace,
            relname: row.relname,
            storage: row.storage,
            partitions: partitions(table, &keys),
            keys,
        }
    }
}

impl Row {
    fn read(row: &CatalogRow<'_>) -> Self {
        let text = |column| row.get::<DecodedText>(column).map(|text| text.0);
        let sign = |column| row.get::<i8>(column).map(i8::cast_unsigned);
        Self {
            kind: sign(1).unwrap_or(0),
            persistence: sign(2).unwrap_or(0),
            strategy: sign(3),
            columns: row.get(4).unwrap_or(0),
            column: text(5),
            key_type: row.get(6),
            default: text(7),
            schema: text(8).unwrap_or_default(),
            namespace: row.get(9).unwrap_or(pg_sys::InvalidOid),
            relname: text(10).unwrap_or_default(),
            storage: text(11).unwrap_or_default(),
        }
    }

    /// Returns the ids of the partition key, or raises the error of a table that has none.
    fn keys(&self, table: &str, generators: &Generators, layout: Option<Layout>) -> Keys {
        if self.kind != pg_sys::RELKIND_PARTITIONED_TABLE {
            error::not_partitioned(table);
        }
        if self.persistence == pg_sys::RELPERSISTENCE_TEMP {
            error::temporary(table);
        }
        match self.strategy {
            Some(b'r') => {}
            Some(b'l') => error::not_by_range(table, "list"),
            _ => error::not_by_range(table, "hash"),
        }
        if self.columns != 1 {
            error::many_columns(table, self.columns);
        }
        let (Some(column), Some(key_type)) = (&self.column, self.key_type) else {
            error::expression(table);
        };
        let base = relation::base_type(key_type);
        let default = self.default.as_deref();
        let generator = default.and_then(|default| generators.of(default));
        let keys = match base {
            pg_sys::INT8OID => {
                let its = match generator {
                    Some(Generator::Snowflake { layout, .. }) => layout,
                    _ => None,
                };
                let layout = match (layout, its) {
                    (Some(given), Some(its)) if !have_equal_times(&given, &its) => {
                        error::other_layout(table, column, &given, &its)
                    }
                    (Some(layout), _) | (None, Some(layout)) => layout,
                    (None, None) => error::unknown_layout(table, column, default),
                };
                // The error of a layout whose ids do not sort by time.
                layout.min_id(0).or_report();
                return Keys::Snowflake(layout);
            }
            pg_sys::UUIDOID => Keys::UuidV7,
            other if other == generators.objectid => Keys::ObjectId,
            _ => error::not_ids(table, column, key_type),
        };
        if layout.is_some() {
            error::no_layout(column, key_type);
        }
        if let Some(Generator::Uuid(version)) = generator
            && version != 7
        {
            error::not_in_time(table, column, version);
        }
        keys
    }
}

/// Returns whether ids of two layouts have the same times.
fn have_equal_times(one: &Layout, other: &Layout) -> bool {
    let times = |layout: &Layout| (layout.epoch(), layout.unit(), layout.time.shift);
    times(one) == times(other)
}

fn partitions(table: pg_sys::Oid, keys: &Keys) -> Vec<Partition> {
    sql::rows(PARTITIONS, &[table.into()], |row| {
        let flag = |column| row.get(column).unwrap_or(false);
        let bound = row.get::<DecodedText>(2)?.0;
        // The default partition has no range.
        let (from, until) = bound
            .strip_prefix("FOR VALUES FROM (")?
            .split_once(") TO (")?;
        Some(Partition {
            name: row.get::<DecodedText>(1)?.0,
            range: Range {
                from: bound_of(from, keys),
                until: bound_of(until.strip_suffix(')')?, keys),
            },
            is_foreign: flag(3),
            is_detaching: flag(4),
        })
    })
}

/// Reads the bound of a partition; none for MINVALUE and MAXVALUE.
fn bound_of(text: &str, keys: &Keys) -> Option<Key> {
    keys.parse(text.trim_matches('\''))
}
