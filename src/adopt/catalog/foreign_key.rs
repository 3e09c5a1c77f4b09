//! Foreign keys, by the catalogs.

use crate::adopt::catalog::column::Place;
use crate::pg::catalog::sql;
use pgrx::pg_sys;
use serde::Deserialize;

/// A column that refers to another.
#[derive(Debug, Deserialize)]
pub struct Reference {
    pub from: KeyColumn,
    pub to: KeyColumn,
}

/// A column of a foreign key.
#[derive(Debug, Deserialize)]
pub struct KeyColumn {
    pub table: pg_sys::Oid,
    pub number: i16,
    /// The name of the table with its schema, quoted.
    pub table_name: String,
    pub name: String,
    #[serde(rename = "type")]
    pub type_oid: pg_sys::Oid,
    pub type_name: String,
}

impl Reference {
    /// Reads the foreign keys of a column, and those that refer to it; or all of the database.
    pub fn read(of: Option<Place>) -> Vec<Self> {
        let (table, number) = of.unzip();
        let query = include_str!("../../../sql/adopt/foreign_keys.sql");
        sql::read(query, &[table.into(), number.into()])
    }
}

impl KeyColumn {
    pub fn place(&self) -> Place {
        (self.table, self.number)
    }

    pub fn quoted(&self) -> String {
        sql::quoted_exactly(&self.name)
    }

    /// Returns the column with its table, like `public.item(order_id)`.
    pub fn full_name(&self) -> String {
        format!("{}({})", self.table_name, self.quoted())
    }
}
