//! Rows, sizes and growth of tables, those of a partitioned one as the sum of its partitions.

use crate::pg::catalog::{extension, sql};
use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::to_micros;
use crate::pg::machine::relation_file;
use mint_core::Micros;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys;
use std::collections::HashMap;

/// What is known of a table, or of all partitions of one.
#[derive(Default)]
pub struct Table {
    /// As of the last VACUUM or ANALYZE; none where there was neither.
    pub rows: Option<f64>,
    pub bytes: Option<i64>,
    /// Rows inserted since the statistics began.
    pub inserted: i64,
    /// The partitions that have rows; the table itself if it is not partitioned.
    pub leaves: Vec<pg_sys::Oid>,
}

/// The tables of the database.
pub struct Tables {
    tables: HashMap<pg_sys::Oid, Table>,
    /// When the statistics began to count.
    pub counting_since: Option<Micros>,
}

/// Each table and its root, with the files of its indexes and its TOAST table.
const TABLES: &str = "WITH RECURSIVE tree AS (
        SELECT c.oid AS root, c.oid AS leaf FROM pg_class AS c
        WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
            AND c.relnamespace <> ALL (
                '{pg_catalog,information_schema}'::regnamespace[]::oid[])
        UNION ALL
        SELECT t.root, i.inhrelid FROM tree AS t
        JOIN pg_inherits AS i ON i.inhparent = t.leaf
        JOIN pg_class AS c ON c.oid = i.inhrelid AND c.relispartition
    ), part AS (
        SELECT t.root, c.oid AS leaf, c.oid, c.reltuples, c.relpages, c.reltoastrelid, true AS is_table
        FROM tree AS t JOIN pg_class AS c ON c.oid = t.leaf
        WHERE c.relkind = 'r'
    ), file AS (
        SELECT p.root, p.leaf, p.oid, p.reltuples, p.relpages, true AS is_table FROM part AS p
        UNION ALL
        SELECT p.root, p.leaf, c.oid, c.reltuples, c.relpages, false FROM part AS p
        JOIN pg_class AS c ON c.oid = p.reltoastrelid
        UNION ALL
        SELECT p.root, p.leaf, c.oid, c.reltuples, c.relpages, false FROM part AS p
        JOIN pg_index AS x ON x.indrelid = p.oid
        JOIN pg_class AS c ON c.oid = x.indexrelid
        UNION ALL
        SELECT p.root, p.leaf, c.oid, c.reltuples, c.relpages, false FROM part AS p
        JOIN pg_index AS x ON x.indrelid = p.reltoastrelid
        JOIN pg_class AS c ON c.oid = x.indexrelid
    )
    SELECT f.root, f.leaf, f.is_table, f.reltuples::float8, f.relpages,
        pg_relation_filepath(f.oid::regclass),
        CASE WHEN f.is_table THEN pg_stat_get_tuples_inserted(f.oid) END
    FROM file AS f ORDER BY f.is_table DESC, f.leaf";

const BEGUN: &str = "SELECT pg_stat_get_db_stat_reset_time(d.oid) FROM pg_database AS d
    WHERE d.datname = current_database()";

impl Tables {
    /// Reads all tables.
    pub fn read() -> Self {
        let mut tables: HashMap<pg_sys::Oid, Table> = HashMap::new();
        sql::rows(TABLES, &[], |row| {
            let table = tables.entry(row.get(1)?).or_default();
            if row.get(3) == Some(true) {
                let rows = row.get::<f64>(4).filter(|&rows| rows >= 0.0);
                table.rows = match (table.rows, rows) {
                    (None, rows) => rows,
                    (rows, None) => rows,
                    (Some(some), Some(more)) => Some(some + more),
                };
                let inserted = row.get::<i64>(7).unwrap_or(0);
                table.inserted = table.inserted.saturating_add(inserted);
                table.leaves.push(row.get(2)?);
            }
            let path = row.get::<DecodedText>(6);
            let size = path.and_then(|path| relation_file::size(&path.0));
            let estimate = || {
                let pages = row.get::<i32>(5).map(i64::from);
                pages.map(|pages| pages * i64::from(pg_sys::BLCKSZ))
            };
            if let Some(bytes) = size.or_else(estimate) {
                *table.bytes.get_or_insert(0) += bytes;
            }
            Some(())
        });
        let reset = sql::rows(BEGUN, &[], |row| row.get::<TimestampWithTimeZone>(1)).pop();
        Self {
            tables,
            counting_since: reset.map(to_micros).or_else(extension::created),
        }
    }

    /// Returns what is known of a table; nothing of one that has no partitions.
    pub fn get(&self, table: pg_sys::Oid) -> Option<&Table> {
        self.tables.get(&table)
    }
}
