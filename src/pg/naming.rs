//! Relations by name and by oid, and statements that create and drop them.

use super::errors::OrReport;
use pgrx::{Spi, pg_sys};

/// What a query of ours on the catalogs gives. They give one row of one column.
fn ask<T: pgrx::FromDatum + pgrx::IntoDatum>(
    query: &str,
    argument: pgrx::datum::DatumWithOid<'_>,
) -> Option<T> {
    Spi::get_one_with_args::<T>(query, &[argument]).or_report()
}

/// A name as people write it, `orders`, `"Orders"` or `shop.orders`, in the form that a statement takes.
pub fn quoted(name: &str) -> String {
    let query = "SELECT pg_catalog.string_agg(pg_catalog.quote_ident(part), '.' ORDER BY place)
        FROM pg_catalog.unnest(pg_catalog.parse_ident($1)) WITH ORDINALITY AS name (part, place)";
    ask(query, name.into()).unwrap_or_default()
}

/// A name as it is, letter by letter, in the form that a statement takes.
pub fn quoted_exactly(name: &str) -> String {
    ask("SELECT pg_catalog.quote_ident($1)", name.into()).unwrap_or_default()
}

/// A text in the form that a statement takes.
pub fn literal(text: &str) -> String {
    ask("SELECT pg_catalog.quote_literal($1)", text.into()).unwrap_or_default()
}

/// A text in the form that a statement for another server takes, whatever its settings are.
pub fn escaped(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('\'', "''");
    format!("E'{escaped}'")
}

/// The oid of the relation that a quoted name means now.
pub fn resolve(quoted: &str) -> pg_sys::Oid {
    let query = "SELECT $1::pg_catalog.regclass::pg_catalog.oid";
    ask(query, quoted.into()).unwrap_or(pg_sys::InvalidOid)
}

/// A relation's name as a statement takes it, with its schema where that is needed.
pub fn name_of(relation: pg_sys::Oid) -> String {
    let query = "SELECT $1::pg_catalog.regclass::pg_catalog.text";
    ask(query, relation.into()).unwrap_or_default()
}

/// Runs a statement of ours.
pub fn run(statement: &str) {
    Spi::run(statement).or_report();
}
