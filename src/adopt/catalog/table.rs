//! Rows, sizes and growth of tables, those of a partitioned one as the sum of its partitions.

use crate::pg::catalog::sql;
use pgrx::pg_sys;
use serde::Deserialize;
use std::collections::HashMap;
use std::fs;

/// What is known of a table, or of all partitions of one.
#[derive(Default)]
pub struct TableSize {
    pub bytes: Option<i64>,
    /// Rows inserted since the statistics began.
    pub inserted: i64,
    /// The partitions that have rows; the table itself if it is not partitioned.
    pub leaves: Vec<Leaf>,
}

/// A table that has rows.
#[derive(Debug, Clone, Copy)]
pub struct Leaf {
    pub table: pg_sys::Oid,
    /// As of the last VACUUM or ANALYZE; none if there was neither.
    pub rows: Option<f64>,
}

/// A file of a table, of an index or of a TOAST table.
#[derive(Deserialize)]
struct TableFile {
    root: pg_sys::Oid,
    oid: pg_sys::Oid,
    pages: i64,
    path: Option<String>,
    /// Of a table alone.
    rows: Option<f64>,
    inserted: Option<i64>,
}

impl TableSize {
    /// Reads a table, or all of the database that are not partitions.
    pub fn read(table: Option<pg_sys::Oid>) -> HashMap<pg_sys::Oid, Self> {
        let mut all: HashMap<pg_sys::Oid, Self> = HashMap::new();
        let query = include_str!("../../../sql/adopt/tables.sql");
        for file in sql::read::<TableFile>(query, &[table.into()]) {
            all.entry(file.root).or_default().add(&file);
        }
        all
    }

    fn add(&mut self, file: &TableFile) {
        if let Some(rows) = file.rows {
            self.leaves.push(Leaf {
                table: file.oid,
                rows: Some(rows).filter(|&rows| rows >= 0.0),
            });
        }
        self.inserted = self.inserted.saturating_add(file.inserted.unwrap_or(0));
        let size = file.path.as_deref().and_then(size_of);
        let estimate = file.pages * i64::from(pg_sys::BLCKSZ);
        *self.bytes.get_or_insert(0) += size.unwrap_or(estimate);
    }

    /// Returns about how many rows there are, where that is known.
    pub fn rows(&self) -> Option<f64> {
        self.leaves
            .iter()
            .filter_map(|leaf| leaf.rows)
            .reduce(|some, more| some + more)
    }
}

/// Returns how long the main file of a relation is with all its segments, by its path below the data directory, in which each
/// process of the server works; none if it is not there. It takes no lock: another session might have locked the relation.
fn size_of(path: &str) -> Option<i64> {
    let length = |path: &str| Some(fs::metadata(path).ok()?.len());
    let mut total = length(path)?;
    let mut segment = 1;
    while let Some(more) = length(&format!("{path}.{segment}")) {
        total += more;
        segment += 1;
    }
    i64::try_from(total).ok()
}
