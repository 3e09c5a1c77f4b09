//! What keeps to a column of before and is dropped and made again in the swap, by the text that the server prints: views,
//! triggers, extended statistics, privileges on columns.

use crate::pg::catalog::sql;
use crate::pg::datum::json::list;
use pgrx::pg_sys;
use serde::Deserialize;

/// A relation: its oid, and the quoted names of its schema and of itself.
pub type Relation = (u32, String, String);

/// An object, with the statements that replace it. Its text has the names of the columns, which are the same after the swap.
#[derive(Debug, Clone, Deserialize)]
pub struct Recreated {
    /// What it is, and its name.
    pub name: String,
    /// The query of a view, or expressions.
    pub text: Option<String>,
    /// The quoted names of the schema and of the view.
    pub view: Option<(String, String)>,
    /// The view, or the table that the expressions are of.
    pub relation: Option<u32>,
    /// The owner of a view.
    pub owner: Option<u32>,
    /// The relations that a view reads, but for views of this list.
    #[serde(deserialize_with = "list")]
    pub reads: Vec<Relation>,
    /// The columns of a view and their types.
    #[serde(deserialize_with = "list")]
    pub columns: Vec<(String, u32)>,
    /// A statement that locks it and changes nothing; none if the lock of the table is enough.
    pub lock: Option<String>,
    pub drop: String,
    #[serde(deserialize_with = "list")]
    pub create: Vec<String>,
    /// Why it cannot be made again as it was.
    pub refused: Option<String>,
}

impl Recreated {
    /// Returns what keeps to columns, in an order in which all can be dropped.
    pub fn of(columns: &[(pg_sys::Oid, i16)]) -> Vec<Self> {
        let (tables, numbers): (Vec<pg_sys::Oid>, Vec<i16>) = columns.iter().copied().unzip();
        if tables.is_empty() {
            return Vec::new();
        }
        let query = include_str!("../../../sql/adopt/convert_recreated.sql");
        sql::read_now(query, &[tables.into(), numbers.into()]).unwrap_or_default()
    }
}
