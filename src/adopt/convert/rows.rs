//! The rows of tables whose columns become bigint, and the functions that take or return these.

use crate::pg::catalog::foreign::{self, Held};
use crate::pg::catalog::{relation, sql};
use crate::pg::datum::json::list;
use pgrx::pg_sys;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Default, Deserialize)]
pub struct Rows {
    /// Lists of SELECT with the columns that a table has after the swap, by its oid.
    lists: Option<BTreeMap<String, String>>,
    /// The tables whose lists lack a column of a type of another role.
    #[serde(deserialize_with = "list")]
    lacking: Vec<u32>,
    /// Whether these have an id.
    #[serde(skip)]
    has_id: bool,
    /// Functions that take or return rows of the tables.
    #[serde(deserialize_with = "list")]
    pub functions: Vec<String>,
    /// Views, functions and conditions of triggers that have rows of the tables.
    #[serde(deserialize_with = "list")]
    pub whole: Vec<String>,
    /// Functions of their triggers.
    #[serde(deserialize_with = "list")]
    pub compiled: Vec<Compiled>,
    /// Functions of their triggers that mention all columns of a row.
    #[serde(deserialize_with = "list")]
    pub starred: Vec<String>,
    /// Checks that are NOT VALID.
    #[serde(deserialize_with = "list")]
    pub unvalidated: Vec<String>,
}

/// A function that open sessions have compiled for rows of before.
#[derive(Debug, Deserialize)]
pub struct Compiled {
    pub name: String,
    /// What makes them compile it again; none for one that the owner cannot alter.
    pub again: Option<String>,
}

impl Rows {
    /// Reads the rows of the tables of columns.
    pub fn of(columns: &[(pg_sys::Oid, i16)]) -> Self {
        Self::read(columns, None, Vec::new())
    }

    /// Does the same, of tables in which the columns have an id, to be planned and evaluated as the owner of the first one: other
    /// columns of a type of another role are left out.
    pub fn with(columns: &[(pg_sys::Oid, i16)], id: i64) -> Self {
        let tables: Vec<pg_sys::Oid> = columns.iter().map(|&(table, _)| table).collect();
        let owner = tables.first().and_then(|&table| relation::owner(table));
        let query = "SELECT jsonb_agg(DISTINCT a.atttypid::int8) FROM pg_attribute AS a WHERE a.attrelid = ANY ($1::oid[]) AND a.atttypid >= 16384";
        let types: Option<Vec<u32>> = sql::read_now(query, &[tables.into()]);
        let types: Vec<pg_sys::Oid> = types.into_iter().flatten().map(Into::into).collect();
        let foreign = owner.map_or_else(Vec::new, |owner| {
            foreign::among(&foreign::types(types), Held::ByName, owner)
        });
        let foreign = foreign.iter().map(|of| of.oid.into()).collect();
        let rows = Self::read(columns, Some(id), foreign);
        Self {
            has_id: true,
            ..rows
        }
    }

    /// Returns whether a table has a column that is left out.
    pub fn lacks(&self, relation: u32) -> bool {
        self.lacking.contains(&relation)
    }

    fn read(columns: &[(pg_sys::Oid, i16)], id: Option<i64>, foreign: Vec<pg_sys::Oid>) -> Self {
        let (tables, numbers): (Vec<pg_sys::Oid>, Vec<i16>) = columns.iter().copied().unzip();
        let query = include_str!("../../../sql/adopt/convert_rows.sql");
        let arguments = [tables.into(), numbers.into(), id.into(), foreign.into()];
        sql::read_now(query, &arguments).unwrap_or_default()
    }

    /// Returns a query with the columns that a table has after the swap, of no row or of one with the id; none of another table.
    pub fn query(&self, relation: u32) -> Option<String> {
        let list = self.lists.as_ref()?.get(&relation.to_string())?;
        let condition = if self.has_id { "" } else { " WHERE false" };
        Some(format!("SELECT {list}{condition}"))
    }
}
