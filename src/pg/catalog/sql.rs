//! Relations by name and by oid, and statements that create and drop them.
//!
//! Every text for the server names each operator, function, type and relation with its schema, and casts to exact types;
//! and it runs [`guarded`]. What a caller calls by an unqualified name is looked up before, in the caller's search path.

use crate::pg::catalog::privilege::{guarded, restricted};
use crate::pg::charset;
use crate::pg::datum::text::Words;
use crate::pg::error::{OrReport, relay, report};
use pgrx::{IntoDatum, PgSqlErrorCode as Code, Spi, pg_sys};
use std::ffi::c_char;
use std::ptr;

/// What a query of ours on the catalogs gives. They give one row of one column.
pub fn ask<T: pgrx::FromDatum + pgrx::IntoDatum>(
    query: &str,
    argument: pgrx::datum::DatumWithOid<'_>,
) -> Option<T> {
    guarded(|| relay(|| Spi::get_one_with_args::<T>(query, &[argument])).or_report())
}

/// The same, from text to text.
fn words(query: &str, text: &str) -> String {
    ask::<Words>(query, Words(text.to_owned()).into()).map_or_else(String::new, |answer| answer.0)
}

/// A name as people write it, `orders`, `"Orders"` or `shop.orders`, in the form that a statement takes.
pub fn quoted(name: &str) -> String {
    // Leaves room for a database, a schema and a name of nothing but quotes. The server's parser of names goes over the
    // rest of the text at each quote, and cannot be interrupted: ten million of them keep it busy for an hour.
    const LONGEST: usize = 1024;
    if name.len() > LONGEST {
        report(
            Code::ERRCODE_NAME_TOO_LONG,
            "name of a relation is too long",
        )
        .detail(format!(
            "It has {} bytes. At most {LONGEST} are possible.",
            name.len()
        ))
        .raise();
    }
    let query = "SELECT pg_catalog.string_agg(pg_catalog.quote_ident(part), '.'::pg_catalog.text ORDER BY place)
        FROM pg_catalog.unnest(pg_catalog.parse_ident($1::pg_catalog.text)) WITH ORDINALITY AS name (part, place)";
    words(query, name)
}

/// A name as it is, letter by letter, in the form that a statement takes.
pub fn quoted_exactly(name: &str) -> String {
    words("SELECT pg_catalog.quote_ident($1::pg_catalog.text)", name)
}

/// A text in the form that a statement takes.
pub fn literal(text: &str) -> String {
    words("SELECT pg_catalog.quote_literal($1::pg_catalog.text)", text)
}

/// A text in the form that a statement for another server takes, whatever its settings are.
pub fn escaped(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('\'', "''");
    format!("E'{escaped}'::pg_catalog.text")
}

/// A quoted name with the schema in which the caller would create a relation of that name, and may.
pub fn with_schema(quoted: &str) -> String {
    let text = Words(quoted.to_owned()).into_datum();
    let text = text.map_or(ptr::null_mut(), |datum| datum.cast_mut_ptr());
    // SAFETY: calls of the parser's own, which raise errors; what they return lasts as long as the transaction.
    let (schema, name) = relay(|| unsafe {
        let name = pg_sys::makeRangeVarFromNameList(pg_sys::textToQualifiedNameList(text));
        let lock = pg_sys::NoLock.cast_signed();
        let schema = pg_sys::RangeVarGetAndCheckCreationNamespace(name, lock, ptr::null_mut());
        (schema, (*name).relname)
    });
    // SAFETY: a lookup in the catalogs, inside a transaction.
    if unsafe { pg_sys::isAnyTempNamespace(schema) } {
        report(
            Code::ERRCODE_FEATURE_NOT_SUPPORTED,
            format!("{quoted} cannot be temporary"),
        )
        .detail("Its numbers would come back after a crash.")
        .raise();
    }
    // SAFETY: the name is a string of the parser's.
    unsafe { qualified(schema, name) }
}

/// The oid of the relation that a quoted name with a schema means.
pub fn resolve(qualified: &str) -> pg_sys::Oid {
    let query = "SELECT $1::pg_catalog.text::pg_catalog.regclass::pg_catalog.oid";
    ask(query, Words(qualified.to_owned()).into()).unwrap_or(pg_sys::InvalidOid)
}

/// A relation's name as a message shows it, with its schema where the caller needs that.
pub fn name_of(relation: pg_sys::Oid) -> String {
    // SAFETY: the output function of type regclass, which returns a string.
    unsafe {
        charset::decode_c(pg_sys::OidOutputFunctionCall(
            pg_sys::F_REGCLASSOUT.into(),
            relation.into(),
        ))
    }
}

/// Raises the error of a relation that is gone.
#[cold]
pub fn missing(relation: pg_sys::Oid) -> ! {
    report(
        Code::ERRCODE_UNDEFINED_TABLE,
        format!("relation with OID {relation} does not exist"),
    )
    .raise()
}

/// A relation's name as a statement takes it, with its schema. Raises an error when there is no such relation.
pub fn exact_name_of(relation: pg_sys::Oid) -> String {
    // SAFETY: lookups in the catalogs, inside a transaction, which return copies.
    unsafe {
        let name = pg_sys::get_rel_name(relation);
        if name.is_null() {
            missing(relation);
        }
        qualified(pg_sys::get_rel_namespace(relation), name)
    }
}

/// # Safety
/// `name` is a string.
unsafe fn qualified(schema: pg_sys::Oid, name: *const c_char) -> String {
    // SAFETY: the name of a schema is a copy, or null when the schema is gone.
    unsafe {
        let schema = pg_sys::get_namespace_name(schema);
        charset::decode_c(pg_sys::quote_qualified_identifier(schema, name))
    }
}

/// Sets a sequence to a value, as issued, by the server's own function.
pub fn set_sequence(sequence: pg_sys::Oid, value: i64) {
    let set = format!(
        "SELECT pg_catalog.setval({}::pg_catalog.oid::pg_catalog.regclass, $1::pg_catalog.int8)",
        sequence.to_u32()
    );
    ask::<i64>(&set, value.into());
}

/// Drops a sequence or a table, which its owner can. In the caller's search path, so that an error names what depends on
/// it as the caller does; the statement itself leaves nothing to be found there.
pub fn drop(kind: &str, relation: pg_sys::Oid) {
    let name = exact_name_of(relation);
    let statement = charset::carried(format!("DROP {kind} {name}"));
    restricted(|| relay(|| Spi::run(&statement)).or_report());
}

/// Runs a statement of ours, with the user's rights.
pub fn run(statement: &str) {
    let statement = charset::carried(statement.to_owned());
    guarded(|| relay(|| Spi::run(&statement)).or_report());
}
