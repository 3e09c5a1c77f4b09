//! Relations in the catalogs.

use crate::pg::charset;
use crate::pg::datum::list::oids;
use crate::pg::ports::get_relation_constraint_oid;
use pgrx::pg_sys;
use std::ffi::{CStr, c_char};

/// Returns the name of a relation, without its schema; none when it is gone.
pub fn name(relation: pg_sys::Oid) -> Option<String> {
    // SAFETY: a lookup in the catalogs, inside a transaction, which returns a copy or null.
    unsafe { charset::decode_c(pg_sys::get_rel_name(relation)) }
}

/// Returns the oid of a schema and of its owner, if there is one of that name.
pub fn schema_and_owner(name: &str) -> Option<(pg_sys::Oid, pg_sys::Oid)> {
    let name = charset::c_string(name);
    let cache = pg_sys::SysCacheIdentifier::NAMESPACENAME;
    // SAFETY: the cache is of this catalog, by the name.
    let schema: pg_sys::FormData_pg_namespace = unsafe { row(cache, name.as_ptr().into()) }?;
    Some((schema.oid, schema.nspowner))
}

/// Returns a copy of the row of a catalog, without its columns of variable length; none if there is no such row.
///
/// # Safety
/// The cache is of the catalog whose rows are `T`, by this key.
pub unsafe fn row<T: Copy>(
    cache: pg_sys::SysCacheIdentifier::Type,
    key: pg_sys::Datum,
) -> Option<T> {
    // SAFETY: a lookup in the catalogs, inside a transaction; the row is copied before it is released.
    unsafe {
        let row = pg_sys::SearchSysCache1(cache as _, key);
        if row.is_null() {
            return None;
        }
        let copy = *pg_sys::GETSTRUCT(row).cast::<T>();
        pg_sys::ReleaseSysCache(row);
        Some(copy)
    }
}

/// Returns the oid of a relation of a schema.
pub fn find(schema: pg_sys::Oid, name: &CStr) -> Option<pg_sys::Oid> {
    // SAFETY: a lookup in the catalogs, inside a transaction.
    let oid = unsafe { pg_sys::get_relname_relid(name.as_ptr(), schema) };
    (oid != pg_sys::InvalidOid).then_some(oid)
}

/// Returns whether a relation has this name, in a schema of that name.
pub fn is_named(relation: pg_sys::Oid, schema: &CStr, name: &CStr) -> bool {
    let is = |found: &pg_sys::NameData, name: &CStr| {
        let end = name.to_bytes_with_nul();
        let found = found.data.iter().map(|&found| byte(found));
        found.take(end.len()).eq(end.iter().copied())
    };
    let Some(class) = class_of(relation).filter(|class| is(&class.relname, name)) else {
        return false;
    };
    let cache = pg_sys::SysCacheIdentifier::NAMESPACEOID;
    // SAFETY: the cache is of this catalog, by the oid.
    let its: Option<pg_sys::FormData_pg_namespace> =
        unsafe { row(cache, class.relnamespace.into()) };
    its.is_some_and(|its| is(&its.nspname, schema))
}

/// Returns the owner of a permanent or unlogged relation; none for a temporary one, or if there is none.
pub fn owner_of_lasting(relation: pg_sys::Oid) -> Option<pg_sys::Oid> {
    class_of(relation)
        .filter(|class| byte(class.relpersistence) != pg_sys::RELPERSISTENCE_TEMP)
        .map(|class| class.relowner)
}

/// Returns the kind of a relation, `pg_class.relkind`; none if there is none.
pub fn kind(relation: pg_sys::Oid) -> Option<u8> {
    class_of(relation).map(|class| byte(class.relkind))
}

/// Returns the number of the file that has the pages of a relation; none if there is no such relation.
pub fn file(relation: pg_sys::Oid) -> Option<pg_sys::Oid> {
    class_of(relation).map(|class| class.relfilenode)
}

/// Returns the tablespace that has the file of a relation; none if there is no such relation.
pub fn tablespace(relation: pg_sys::Oid) -> Option<pg_sys::Oid> {
    let own = class_of(relation)?.reltablespace;
    if own != pg_sys::InvalidOid {
        return Some(own);
    }
    // SAFETY: reads a plain oid, set when the process connected.
    Some(unsafe { pg_sys::MyDatabaseTableSpace })
}

/// Returns the owner of a relation; none if there is none.
pub fn owner(relation: pg_sys::Oid) -> Option<pg_sys::Oid> {
    class_of(relation).map(|class| class.relowner)
}

/// Returns a "char" of a catalog as a byte: `c_char` has a sign on some processors only.
pub const fn byte(of: c_char) -> u8 {
    let [byte] = of.to_ne_bytes();
    byte
}

/// Returns the row of a relation in `pg_class`.
fn class_of(relation: pg_sys::Oid) -> Option<pg_sys::FormData_pg_class> {
    // SAFETY: the cache is of this catalog, by the oid.
    unsafe { row(pg_sys::SysCacheIdentifier::RELOID, relation.into()) }
}

/// Returns whether there is a sequence with this oid.
pub fn is_sequence(relation: pg_sys::Oid) -> bool {
    // SAFETY: a lookup in the catalogs, inside a transaction.
    let kind = unsafe { pg_sys::get_rel_relkind(relation) };
    byte(kind) == pg_sys::RELKIND_SEQUENCE
}

/// Returns the sequences of a table's identity and serial columns, in the order of the columns.
pub fn owned_sequences(table: pg_sys::Oid) -> Vec<pg_sys::Oid> {
    // SAFETY: a lookup in the catalogs, inside a transaction, which returns a list of oids.
    unsafe { oids(pg_sys::getOwnedSequences(table)) }.collect()
}

/// Returns the table of a sequence that is an identity column, and the number of that column.
pub fn identity_of(sequence: pg_sys::Oid) -> Option<(pg_sys::Oid, usize)> {
    let (mut table, mut column) = (pg_sys::InvalidOid, 0);
    // SAFETY: a lookup in the catalogs, inside a transaction, which writes both when it returns true.
    let is_owned = unsafe {
        pg_sys::sequenceIsOwned(
            sequence,
            pg_sys::DependencyType::DEPENDENCY_INTERNAL as c_char,
            &raw mut table,
            &raw mut column,
        )
    };
    is_owned.then_some((table, usize::try_from(column).ok()?))
}

/// Returns the name of a table's column by its number, from 1 on. A column that was dropped keeps its number, under a name
/// that begins with `........pg.dropped.`.
pub fn column(table: pg_sys::Oid, number: usize) -> Option<String> {
    let number = i16::try_from(number).ok()?;
    // SAFETY: a lookup in the catalogs, inside a transaction, which returns a copy or null.
    unsafe { charset::decode_c(pg_sys::get_attname(table, number, true)) }
}

/// Returns whether a table has a constraint of this name.
pub fn has_constraint(table: pg_sys::Oid, name: &CStr) -> bool {
    // SAFETY: a lookup in the catalogs, inside a transaction.
    let constraint = unsafe {
        pg_sys::ffi::pg_guard_ffi_boundary(|| {
            get_relation_constraint_oid(table, name.as_ptr(), true)
        })
    };
    constraint != pg_sys::InvalidOid
}

/// The row of pg_sequence; see `FormData_pg_sequence`, which pgrx does not bind.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct SequenceDefinition {
    pub sequence: pg_sys::Oid,
    pub value_type: pg_sys::Oid,
    pub start: i64,
    pub increment: i64,
    pub max: i64,
    pub min: i64,
    pub cache: i64,
    pub cycle: bool,
}

/// Returns the row of a sequence; none if it is gone.
pub fn sequence(sequence: pg_sys::Oid) -> Option<SequenceDefinition> {
    // SAFETY: the cache is of this catalog, by the oid.
    unsafe { row(pg_sys::SysCacheIdentifier::SEQRELID, sequence.into()) }
}
