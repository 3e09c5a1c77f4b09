//! The extension's own tables: their names in statements, and that these mean no others.

use super::binding::Bound;
use super::{binding, extension, sql};
use pgrx::pg_sys;

/// The extension's schema, quoted.
pub fn schema() -> Option<String> {
    extension::schema().map(|schema| sql::quoted_exactly(&schema))
}

/// A statement with the names of the extension's tables in it.
pub fn with_tables_of(schema: &str, text: &str) -> String {
    let table = |name: &str| format!("{schema}.{name}");
    text.replace("$registry", &table("pg_mint_registry"))
        .replace("$grants", &table("pg_mint_grants"))
        .replace("$sources", &table("pg_mint_sources"))
}

/// A statement with the names of the extension's tables in it, where it is installed.
pub fn statement(text: &str) -> Option<String> {
    Some(with_tables_of(&schema()?, text))
}

/// Runs `work`, in whose statements the names of the extension's tables mean those and no others.
pub fn bound_to_tables<T>(work: impl FnOnce() -> T) -> T {
    let names = [c"pg_mint_registry", c"pg_mint_grants", c"pg_mint_sources"];
    let tables: Vec<pg_sys::Oid> = names.into_iter().filter_map(extension::find).collect();
    let bound = Bound {
        relations: &tables,
        ..Bound::default()
    };
    binding::to(bound, work)
}
