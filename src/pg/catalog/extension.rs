//! Lookups in the catalogs: the extension's schema and relations, and this database.

use crate::pg::backend::local::Local;
use crate::pg::catalog::relation;
use crate::pg::catalog::scan::equals;
use crate::pg::charset;
use mint_core::bytes::hash::fibonacci;
use pgrx::pg_sys;
use std::ffi::{CStr, OsStr};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::ptr;

/// The schema of the extension's relations.
const SCHEMA: &CStr = c"mint";

/// Returns the oid of a relation of the extension; none where the extension is not installed.
pub fn find(name: &CStr) -> Option<pg_sys::Oid> {
    relation::find(namespace()?, name)
}

/// Returns whether a relation has this name, in a schema with the name of the extension's: cheaper than to [find] it.
pub fn is_named(relation: pg_sys::Oid, name: &CStr) -> bool {
    relation::is_named(relation, SCHEMA, name)
}

/// Returns the oid of the schema that the extension has made; none if it is not installed, even if the name exists.
pub fn namespace() -> Option<pg_sys::Oid> {
    // SAFETY: lookups in the catalogs, inside a transaction, as every call of a function is.
    unsafe {
        let extension = pg_sys::get_extension_oid(c"pg_mint".as_ptr(), true);
        let schema = pg_sys::get_namespace_oid(SCHEMA.as_ptr(), true);
        let is_own = extension != pg_sys::InvalidOid
            && schema != pg_sys::InvalidOid
            && pg_sys::getExtensionOfObject(pg_sys::NamespaceRelationId, schema) == extension;
        is_own.then_some(schema)
    }
}

/// Returns whether there is a database of a name.
pub fn has_database(name: &str) -> bool {
    let name = charset::c_string(name);
    // SAFETY: a lookup in the catalogs, inside a transaction.
    unsafe { pg_sys::get_database_oid(name.as_ptr(), true) != pg_sys::InvalidOid }
}

/// Returns the oid of this session's database.
pub fn database() -> u32 {
    // SAFETY: reads a plain oid, set when the process connected.
    unsafe { pg_sys::MyDatabaseId }.to_u32()
}

/// Returns a number that tells this database from a dropped one with the same oid, never 0: a hash of the file that
/// CREATE DATABASE writes first, and nothing later changes.
pub fn incarnation() -> u32 {
    static KNOWN: Local<u32> = Local::new(0);
    if KNOWN.get() == 0 {
        let stamp = first_file().map_or(0, |file| {
            let made = file.mtime().wrapping_mul(1_000_000_000) + file.mtime_nsec();
            fibonacci(made.cast_unsigned() ^ file.ino().rotate_left(40))
        });
        KNOWN.set(((stamp >> 32) as u32).max(1));
    }
    KNOWN.get()
}

/// Returns the metadata of the file that CREATE DATABASE writes first.
fn first_file() -> Option<fs::Metadata> {
    // SAFETY: the path of this process's database, a string that was set when it connected.
    let folder = unsafe { CStr::from_ptr(pg_sys::DatabasePath) };
    let file = Path::new(OsStr::from_bytes(folder.to_bytes())).join("PG_VERSION");
    fs::metadata(file).ok()
}

/// Returns the name of the database of this process.
pub fn name_of_own_database() -> String {
    name_of_database(database().into()).unwrap_or_default()
}

/// Returns the name of a database, if it exists.
pub fn name_of_database(database: pg_sys::Oid) -> Option<String> {
    // SAFETY: a catalog lookup; the name is a copy, with a zero byte at its end.
    unsafe { charset::decode_c(pg_sys::get_database_name(database)) }
}

/// Returns whether this transaction has replaced a relation or its file, by dropping and creating it or by rewriting
/// it. A rollback would bring the old one back.
///
/// It scans the rows of pg_class: a parallel worker's relation does not show what the leader's transaction did.
pub fn has_replaced(name: &CStr, now: (pg_sys::Oid, pg_sys::Oid)) -> bool {
    // SAFETY: a call without preconditions.
    if unsafe { pg_sys::GetTopTransactionIdIfAny() } == pg_sys::InvalidTransactionId {
        return false;
    }
    // SAFETY: a scan of the catalogs inside a transaction, over rows that stay while it is open, and
    // closed before anything else is opened.
    unsafe {
        let share = pg_sys::AccessShareLock.cast_signed();
        let table = pg_sys::table_open(pg_sys::RelationRelationId, share);
        let (column, name) = (pg_sys::Anum_pg_class_relname, name.as_ptr().into());
        let mut key = equals(column, pg_sys::F_NAMEEQ, name);
        let index = pg_sys::Oid::from_u32(pg_sys::ClassNameNspIndexId);
        let any = &raw mut pg_sys::SnapshotAnyData;
        let scan = pg_sys::systable_beginscan(table, index, true, any, 1, &raw mut key);
        let mut replaced = false;
        loop {
            let tuple = pg_sys::systable_getnext(scan);
            if tuple.is_null() || replaced {
                break;
            }
            let row = pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_class>();
            replaced = is_deleted_here(&*(*tuple).t_data)
                && ((*row).oid, (*row).relfilenode) != now
                && may_be_own((*row).relnamespace);
        }
        pg_sys::systable_endscan(scan);
        pg_sys::table_close(table, share);
        replaced
    }
}

/// Returns whether this is or was the extension's schema: it has its name, or this transaction has dropped it.
fn may_be_own(schema: pg_sys::Oid) -> bool {
    // SAFETY: a lookup in the catalogs, inside a transaction, which returns a copy or null.
    unsafe {
        let name = pg_sys::get_namespace_name(schema);
        name.is_null() || CStr::from_ptr(name) == SCHEMA
    }
}

/// Returns whether this transaction has deleted or updated a row that a rollback can bring back, perhaps to a
/// savepoint: not one that the same subtransaction has made.
fn is_deleted_here(header: &pg_sys::HeapTupleHeaderData) -> bool {
    const NO_DELETION: u32 = pg_sys::HEAP_XMAX_INVALID | pg_sys::HEAP_XMAX_LOCK_ONLY;
    let has = |bits: u32| u32::from(header.t_infomask) & bits != 0;
    if has(NO_DELETION) {
        return false;
    }
    // SAFETY: a row on disk has this form of the union; the calls have no preconditions but that one of the
    // transactions of a row with several has changed it.
    unsafe {
        let fields = &header.t_choice.t_heap;
        let by = if has(pg_sys::HEAP_XMAX_IS_MULTI) {
            pg_sys::HeapTupleGetUpdateXid(ptr::from_ref(header).cast_mut())
        } else {
            fields.t_xmax
        };
        pg_sys::TransactionIdIsCurrentTransactionId(by) && fields.t_xmin != by
    }
}
