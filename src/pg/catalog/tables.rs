//! Tables of the extension in statements: their names, and the check that these mean no others.

use super::binding::Bound;
use super::{binding, extension, sql};
use pgrx::pg_sys;
use std::ffi::CStr;

/// A table of the extension.
pub struct Table {
    /// What stands for it in the texts of statements.
    pub placeholder: &'static str,
    pub name: &'static CStr,
}

/// Returns the extension's schema, quoted.
pub fn schema() -> Option<String> {
    extension::schema().map(|schema| sql::quoted_exactly(&schema))
}

/// Fills the names of tables into a statement.
pub fn with_names(schema: &str, tables: &[Table], text: &str) -> String {
    tables.iter().fold(text.to_owned(), |text, table| {
        let name = format!("{schema}.{}", table.name.to_string_lossy());
        text.replace(table.placeholder, &name)
    })
}

/// As [`with_names`], with the extension's schema; returns none where the extension is not installed.
pub fn statement(tables: &[Table], text: &str) -> Option<String> {
    Some(with_names(&schema()?, tables, text))
}

/// Runs `work`, in whose statements names may mean these tables and no others.
pub fn bound_to<T>(tables: &[Table], work: impl FnOnce() -> T) -> T {
    let tables: Vec<pg_sys::Oid> = tables
        .iter()
        .filter_map(|table| extension::find(table.name))
        .collect();
    let bound = Bound {
        relations: &tables,
        ..Bound::default()
    };
    binding::restrict_to(bound, work)
}
