//! The extension's own tables in statements: their names, and the check that these mean no others.

use super::binding::Bound;
use super::{binding, extension};
use pgrx::pg_sys;

/// Replaces the placeholders of the extension's tables in a statement.
pub fn with_tables(text: &str) -> String {
    text.replace("$registry", "mint.pg_mint_registry")
        .replace("$grants", "mint.pg_mint_grants")
        .replace("$sources", "mint.pg_mint_sources")
}

/// As [`with_tables`]; returns none where the extension is not installed.
pub fn statement(text: &str) -> Option<String> {
    extension::is_installed().then(|| with_tables(text))
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
