//! Names of relations, and statements that create and drop them.
//!
//! Every statement names each operator, function, type and relation with its schema, casts to exact types, and runs
//! [`guarded`]. An unqualified name of the caller is looked up before, in the caller's search path.

use crate::pg::catalog::privilege::{guarded, restricted};
use crate::pg::charset;
use crate::pg::datum::text::DecodedText;
use crate::pg::error::{OrReport, relay_errors, report};
use pgrx::{IntoDatum, PgSqlErrorCode as Code, Spi, pg_sys};
use std::ffi::c_char;
use std::ptr;

/// Runs a query on the catalogs, and returns the only column of its only row.
pub fn ask<T: pgrx::FromDatum + pgrx::IntoDatum>(
    query: &str,
    argument: pgrx::datum::DatumWithOid<'_>,
) -> Option<T> {
    ask_with(query, &[argument])
}

/// As [`ask`], with any number of arguments. It sees all that was committed before, also while this statement waited for
/// a lock; but during recovery, where nothing waits for locks of others.
pub fn ask_with<T: pgrx::FromDatum + pgrx::IntoDatum>(
    query: &str,
    arguments: &[pgrx::datum::DatumWithOid<'_>],
) -> Option<T> {
    guarded(|| match relay_errors(|| get_one(query, arguments)) {
        // No row.
        Err(pgrx::spi::Error::InvalidPosition) => None,
        answer => answer.or_report(),
    })
}

fn get_one<T: pgrx::FromDatum + pgrx::IntoDatum>(
    query: &str,
    arguments: &[pgrx::datum::DatumWithOid<'_>],
) -> pgrx::spi::Result<Option<T>> {
    // SAFETY: a call without preconditions.
    if unsafe { pg_sys::RecoveryInProgress() } {
        // Any other kind of call asks for a transaction id.
        return Spi::connect(|client| client.select(query, Some(1), arguments)?.first().get_one());
    }
    Spi::get_one_with_args::<T>(query, arguments)
}

/// Quotes a name that a user has written, like `orders`, `"Orders"` or `shop.orders`.
pub fn quoted(name: &str) -> String {
    // Enough for a database, a schema and a name of nothing but quotes. At each quote the server's parser of names
    // scans the rest of the text, and cannot be interrupted: ten million quotes keep it busy for an hour.
    const LONGEST: usize = 1024;
    if name.len() > LONGEST {
        report(Code::ERRCODE_NAME_TOO_LONG, "relation name is too long")
            .detail(format!(
                "The name has {} bytes, but at most {LONGEST} are allowed.",
                name.len()
            ))
            .raise();
    }
    let query = "SELECT pg_catalog.string_agg(pg_catalog.quote_ident(part), '.'::pg_catalog.text ORDER BY place)
        FROM pg_catalog.unnest(pg_catalog.parse_ident($1::pg_catalog.text)) WITH ORDINALITY AS name (part, place)";
    let answer = ask::<DecodedText>(query, DecodedText(name.to_owned()).into());
    answer.map_or_else(String::new, |answer| answer.0)
}

/// Quotes an identifier.
pub fn quoted_exactly(name: &str) -> String {
    let name = charset::c_string(name);
    // SAFETY: takes and returns a string.
    unsafe { charset::decode_c(pg_sys::quote_identifier(name.as_ptr())) }
}

/// Quotes a text as a literal.
pub fn literal(text: &str) -> String {
    let text = charset::c_string(text);
    // SAFETY: takes and returns a string.
    unsafe { charset::decode_c(pg_sys::quote_literal_cstr(text.as_ptr())) }
}

/// Quotes a text as a literal in a statement for another server, whatever its settings are.
pub fn escaped(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('\'', "''");
    format!("E'{escaped}'::pg_catalog.text")
}

/// Adds the schema in which the caller would create a relation of that name, if allowed.
pub fn with_schema(quoted: &str) -> String {
    let text = DecodedText(quoted.to_owned()).into_datum();
    let text = text.map_or(ptr::null_mut(), |datum| datum.cast_mut_ptr());
    // SAFETY: functions of the parser, which raise errors; their results live in the current memory context.
    let (schema, name) = relay_errors(|| unsafe {
        let name = pg_sys::makeRangeVarFromNameList(pg_sys::textToQualifiedNameList(text));
        let lock = pg_sys::NoLock.cast_signed();
        let schema = pg_sys::RangeVarGetAndCheckCreationNamespace(name, lock, ptr::null_mut());
        (schema, (*name).relname)
    });
    // SAFETY: a lookup in the catalogs, inside a transaction.
    if unsafe { pg_sys::isAnyTempNamespace(schema) } {
        // SAFETY: the parser returned the name.
        let name = unsafe { charset::decode_c(name) };
        report(
            Code::ERRCODE_FEATURE_NOT_SUPPORTED,
            format!("cannot create temporary relation \"{name}\""),
        )
        .detail("Numbers of a temporary relation could repeat after a crash.")
        .raise();
    }
    // SAFETY: the parser returned the name.
    unsafe { qualified(schema, name) }
}

/// Returns the oid of a relation, by its quoted name with the schema.
pub fn resolve(qualified: &str) -> pg_sys::Oid {
    let query = "SELECT $1::pg_catalog.text::pg_catalog.regclass::pg_catalog.oid";
    ask(query, DecodedText(qualified.to_owned()).into()).unwrap_or(pg_sys::InvalidOid)
}

/// Returns a relation's name for a message, with its schema if it is not in the caller's search path.
pub fn name_of(relation: pg_sys::Oid) -> String {
    // SAFETY: the output function of type regclass, which returns a string.
    unsafe {
        charset::decode_c(pg_sys::OidOutputFunctionCall(
            pg_sys::F_REGCLASSOUT.into(),
            relation.into(),
        ))
    }
}

/// Raises the error of a relation that does not exist.
#[cold]
#[track_caller]
pub fn missing(relation: pg_sys::Oid) -> ! {
    report(
        Code::ERRCODE_UNDEFINED_TABLE,
        format!("relation with OID {relation} does not exist"),
    )
    .raise()
}

/// Returns a relation's quoted name with its schema. Raises an error if there is no such relation.
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

/// Quotes a name with its schema.
///
/// # Safety
/// `name` is a string.
unsafe fn qualified(schema: pg_sys::Oid, name: *const c_char) -> String {
    // SAFETY: the name of a schema is a copy, or null if there is no such schema.
    unsafe {
        let schema = pg_sys::get_namespace_name(schema);
        charset::decode_c(pg_sys::quote_qualified_identifier(schema, name))
    }
}

/// Sets the last value of a sequence, by `setval`.
pub fn set_sequence(sequence: pg_sys::Oid, value: i64) {
    let set = format!(
        "SELECT pg_catalog.setval({}::pg_catalog.oid::pg_catalog.regclass, $1::pg_catalog.int8)",
        sequence.to_u32()
    );
    ask::<i64>(&set, value.into());
}

/// Drops a table of the user. In the caller's search path, so that an error names dependent objects as
/// the caller does; the statement itself has no names to look up there.
pub fn drop_table(relation: pg_sys::Oid) {
    let name = exact_name_of(relation);
    let statement = charset::encode_for_pgrx(format!("DROP TABLE {name}"));
    restricted(|| relay_errors(|| Spi::run(&statement)).or_report());
}

/// Runs a statement with the user's privileges.
pub fn run(statement: &str) {
    let statement = charset::encode_for_pgrx(statement.to_owned());
    guarded(|| relay_errors(|| Spi::run(&statement)).or_report());
}
