//! Relations by name and by oid, and statements that create and drop them.

use super::charset;
use super::errors::OrReport;
use super::varlena::Words;
use pgrx::{Spi, pg_sys};

/// What a query of ours on the catalogs gives. They give one row of one column.
fn ask<T: pgrx::FromDatum + pgrx::IntoDatum>(
    query: &str,
    argument: pgrx::datum::DatumWithOid<'_>,
) -> Option<T> {
    charset::relay(|| Spi::get_one_with_args::<T>(query, &[argument])).or_report()
}

/// The same, from text to text.
fn words(query: &str, text: &str) -> String {
    ask::<Words>(query, Words(text.to_owned()).into()).map_or_else(String::new, |answer| answer.0)
}

/// A name as people write it, `orders`, `"Orders"` or `shop.orders`, in the form that a statement takes.
pub fn quoted(name: &str) -> String {
    let query = "SELECT pg_catalog.string_agg(pg_catalog.quote_ident(part), '.' ORDER BY place)
        FROM pg_catalog.unnest(pg_catalog.parse_ident($1)) WITH ORDINALITY AS name (part, place)";
    words(query, name)
}

/// A name as it is, letter by letter, in the form that a statement takes.
pub fn quoted_exactly(name: &str) -> String {
    words("SELECT pg_catalog.quote_ident($1)", name)
}

/// A text in the form that a statement takes.
pub fn literal(text: &str) -> String {
    words("SELECT pg_catalog.quote_literal($1)", text)
}

/// A text in the form that a statement for another server takes, whatever its settings are.
pub fn escaped(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('\'', "''");
    format!("E'{escaped}'")
}

/// The oid of the relation that a quoted name means now.
pub fn resolve(quoted: &str) -> pg_sys::Oid {
    let query = "SELECT $1::pg_catalog.regclass::pg_catalog.oid";
    ask(query, Words(quoted.to_owned()).into()).unwrap_or(pg_sys::InvalidOid)
}

/// A relation's name as a statement takes it, with its schema where that is needed.
pub fn name_of(relation: pg_sys::Oid) -> String {
    let query = "SELECT $1::pg_catalog.regclass::pg_catalog.text";
    ask::<Words>(query, relation.into()).map_or_else(String::new, |name| name.0)
}

/// Runs a statement of ours.
pub fn run(statement: &str) {
    charset::relay(|| Spi::run(&charset::carried(statement.to_owned()))).or_report();
}
