//! Names of relations, and the statements that run as the caller.
//!
//! Every statement names each operator, function, type and relation with its schema, casts to exact types, and runs
//! [`guarded`]. An unqualified name of the caller is looked up before, in the caller's search path.
//!
//! Only these statements run as the caller:
//!
//! - Queries on the server's own catalogs ([`ask`], [`rows`]): their results depend on the caller's privileges, and no
//!   function of anybody else can run, as [`binding`] refuses a query that names another object.
//! - CREATE, COMMENT, ALTER and DROP of objects that the caller makes, alters or drops by a function of the extension
//!   ([`run`], [`create`]), and `setval` ([`set_sequence`]): the server checks the caller's privileges alone.

use crate::pg::catalog::binding::{self, Bound};
use crate::pg::catalog::privilege::guarded;
use crate::pg::catalog::spi::{Row, Sees};
use crate::pg::catalog::{relation, spi};
use crate::pg::charset;
use crate::pg::datum::text::DecodedText;
use crate::pg::error::{relay_errors, report};
use pgrx::datum::DatumWithOid;
use pgrx::{FromDatum, IntoDatum, PgSqlErrorCode as Code, pg_sys};
use std::ffi::{CStr, CString, c_char};
use std::ptr;

/// Runs `work`, whose statements can name nothing but the server's own objects.
fn in_catalogs<T>(work: impl FnOnce() -> T) -> T {
    guarded(|| binding::restrict_to(Bound::default(), work))
}

/// Runs a query on the catalogs, and returns the only column of its only row.
pub fn ask<T: FromDatum + IntoDatum>(query: &str, argument: DatumWithOid<'_>) -> Option<T> {
    ask_with(query, &[argument])
}

/// Does the same as [`ask`], with any number of arguments. It sees all that was committed before, also while this
/// statement waited for a lock; but not during recovery, where nothing waits for locks of others.
pub fn ask_with<T: FromDatum + IntoDatum>(
    query: &str,
    arguments: &[DatumWithOid<'_>],
) -> Option<T> {
    in_catalogs(|| spi::one(query, arguments))
}

/// Runs a query on the catalogs, and returns the results of `read`. It sees what the calling statement sees.
pub fn rows<T>(
    query: &str,
    arguments: &[DatumWithOid<'_>],
    read: impl FnMut(&Row<'_>) -> Option<T>,
) -> Vec<T> {
    rows_seen(Sees::Statement, query, arguments, read)
}

/// Does the same as [`rows`], with the snapshot that `sees` names.
pub fn rows_seen<T>(
    sees: Sees,
    query: &str,
    arguments: &[DatumWithOid<'_>],
    read: impl FnMut(&Row<'_>) -> Option<T>,
) -> Vec<T> {
    in_catalogs(|| spi::rows(sees, query, arguments, read))
}

/// Does the same as [`rows`], but sees all that was committed before, as [`ask_with`] does.
pub fn rows_now<T>(
    query: &str,
    arguments: &[DatumWithOid<'_>],
    read: impl FnMut(&Row<'_>) -> Option<T>,
) -> Vec<T> {
    rows_seen(Sees::Commits, query, arguments, read)
}

/// Quotes a name that a user has written, like `orders`, `"Orders"` or `shop.orders`. The server would cut a part of more than
/// 63 bytes.
pub fn quoted(name: &str) -> String {
    check_name_length(name);
    let query = "SELECT string_agg(quote_ident(part), '.' ORDER BY place)
        FROM unnest(parse_ident($1::text)) WITH ORDINALITY AS name (part, place) HAVING max(octet_length(part)) < 64";
    let answer = ask::<DecodedText>(query, DecodedText(name.to_owned()).into());
    answer.map_or_else(
        || too_long("A part of the name has more than 63 bytes."),
        |answer| answer.0,
    )
}

/// Raises an error unless a name is short enough for the server's parser of names: at each quote it scans the rest of the text,
/// and cannot be interrupted, so that ten million quotes keep it busy for an hour.
fn check_name_length(name: &str) {
    // Enough for a database, a schema and a name of nothing but quotes, in quotes.
    const MAX_NAME_BYTES: usize = 400;
    let length = name.len();
    if length > MAX_NAME_BYTES {
        too_long(&format!(
            "The name has {length} bytes, but at most {MAX_NAME_BYTES} are allowed."
        ));
    }
}

#[cold]
fn too_long(detail: &str) -> ! {
    report(Code::ERRCODE_NAME_TOO_LONG, "relation name is too long")
        .detail(detail)
        .raise()
}

/// Quotes an identifier.
pub fn quoted_exactly(name: &str) -> String {
    let name = charset::c_string(name);
    // SAFETY: takes and returns a string.
    unsafe { charset::decode_c(pg_sys::quote_identifier(name.as_ptr())) }.unwrap_or_default()
}

/// Quotes a text as a literal.
pub fn literal(text: &str) -> String {
    let text = charset::c_string(text);
    // SAFETY: takes and returns a string.
    unsafe { charset::decode_c(pg_sys::quote_literal_cstr(text.as_ptr())) }.unwrap_or_default()
}

/// Quotes a text as a literal in a statement for another server, whatever its settings are.
pub fn escaped(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('\'', "''");
    format!("E'{escaped}'::pg_catalog.text")
}

/// Creates a relation of a quoted name in the schema in which the caller would create it, if allowed: `statement` gets
/// the name with its schema. Returns the relation, and the name.
pub fn create(quoted: &str, statement: impl FnOnce(&str) -> String) -> (pg_sys::Oid, String) {
    let (schema, name) = place(quoted);
    // SAFETY: the name is a string.
    let qualified = unsafe { qualified(schema, name.as_ptr()) };
    run(&statement(&qualified));
    // A schema can be renamed while its name is in use.
    let relation = relation::find(schema, &name).unwrap_or_else(|| binding::refuse());
    (relation, qualified)
}

/// Returns the schema in which the caller would create a relation of that name, if allowed, and its name without one.
fn place(quoted: &str) -> (pg_sys::Oid, CString) {
    check_name_length(quoted);
    let text = DecodedText(quoted.to_owned()).into_datum();
    let text = text.map_or(ptr::null_mut(), |datum| datum.cast_mut_ptr());
    // SAFETY: functions of the parser, which raise errors; their results live in the current memory context.
    let (schema, name) = relay_errors(|| unsafe {
        let name = pg_sys::makeRangeVarFromNameList(pg_sys::textToQualifiedNameList(text));
        let lock = pg_sys::NoLock.cast_signed();
        let schema = pg_sys::RangeVarGetAndCheckCreationNamespace(name, lock, ptr::null_mut());
        (schema, CStr::from_ptr((*name).relname).to_owned())
    });
    // SAFETY: a lookup in the catalogs, inside a transaction.
    if unsafe { pg_sys::isAnyTempNamespace(schema) } {
        let name = charset::decode(name.to_bytes());
        report(
            Code::ERRCODE_FEATURE_NOT_SUPPORTED,
            format!("cannot create temporary relation \"{name}\""),
        )
        .detail("Numbers of a temporary relation could repeat after a crash.")
        .raise();
    }
    (schema, name)
}

/// Returns a relation's name for a message, with its schema if it is not in the caller's search path.
pub fn name_of(relation: pg_sys::Oid) -> String {
    // SAFETY: the output function of type regclass, which returns a string.
    let name = unsafe {
        charset::decode_c(pg_sys::OidOutputFunctionCall(
            pg_sys::F_REGCLASSOUT.into(),
            relation.into(),
        ))
    };
    name.unwrap_or_default()
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
        charset::decode_c(pg_sys::quote_qualified_identifier(schema, name)).unwrap_or_default()
    }
}

/// Sets a sequence by `setval`: its last value, or the next one if `is_called` is false.
pub fn set_sequence(sequence: pg_sys::Oid, value: i64, is_called: bool) {
    let set = format!(
        "SELECT setval({}::oid::regclass, $1::int8, {is_called})",
        sequence.to_u32()
    );
    ask::<i64>(&set, value.into());
}

/// Runs a statement with the caller's privileges.
pub fn run(statement: &str) {
    guarded(|| spi::run(statement));
}
