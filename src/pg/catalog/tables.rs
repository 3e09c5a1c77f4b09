//! The extension's own tables in statements: their names, and the check that these mean no others.

use super::binding::Bound;
use super::{binding, extension, sql};
use pgrx::pg_sys;

/// Returns the extension's schema, quoted.
pub fn schema() -> Option<String> {
    extension::schema().map(|schema| sql::quoted_exactly(&schema))
}

/// Replaces the placeholders of the extension's tables in a statement.
pub fn with_tables_of(schema: &str, text: &str) -> String {
    let table = |name: &str| format!("{schema}.{name}");
    text.replace("$registry", &table("pg_mint_registry"))
        .replace("$grants", &table("pg_mint_grants"))
        .replace("$sources", &table("pg_mint_sources"))
}

/// As [`with_tables_of`], with the extension's schema; returns none where the extension is not installed.
pub fn statement(text: &str) -> Option<String> {
    Some(with_tables_of(&schema()?, text))
}

/// Runs `work`, in whose statements names may mean the extension's tables and no others.
pub fn bound_to_tables<T>(work: impl FnOnce() -> T) -> T {
    let names = [c"pg_mint_registry", c"pg_mint_grants", c"pg_mint_sources"];
    let tables: Vec<pg_sys::Oid> = names.into_iter().filter_map(extension::find).collect();
    let bound = Bound {
        relations: &tables,
        ..Bound::default()
    };
    binding::restrict_to(bound, work)
}
