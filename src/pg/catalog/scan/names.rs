//! Names of schemas, kept while the server parses texts of its own that have them.

use crate::pg::backend::lock::within;
use crate::pg::catalog::binding;
use crate::pg::catalog::scan::equals;
use pgrx::pg_sys;
use std::ptr;

/// Keeps the names of schemas until the transaction ends, as `SELECT ... FOR KEY SHARE` of their rows does: whatever else is
/// done to a schema waits for nothing. Raises an error (55P03) for a row that another transaction has renamed, if that does
/// not end within `millis`.
pub fn keep(schemas: &[pg_sys::Oid], millis: i32) {
    within(millis, || {
        for &schema in schemas {
            if !lock(schema) {
                binding::refuse();
            }
        }
    });
}

/// Locks the row of a schema. Returns whether it has it, as it is now.
fn lock(schema: pg_sys::Oid) -> bool {
    let mut key = equals(
        pg_sys::Anum_pg_namespace_oid,
        pg_sys::F_OIDEQ,
        schema.into(),
    );
    // SAFETY: a scan of the catalog inside a transaction, closed below or with the transaction. The row is on a page that the
    // scan has pinned; the lock of it pins the page once more.
    unsafe {
        let share = pg_sys::RowShareLock.cast_signed();
        let table = pg_sys::table_open(pg_sys::NamespaceRelationId, share);
        let index = pg_sys::Oid::from_u32(pg_sys::NamespaceOidIndexId);
        let latest = ptr::null_mut();
        let scan = pg_sys::systable_beginscan(table, index, true, latest, 1, &raw mut key);
        let found = pg_sys::systable_getnext(scan);
        let mut result = pg_sys::TM_Result::TM_Deleted;
        if !found.is_null() {
            let mut row = *found;
            let mut page = 0;
            let mut failure = pg_sys::TM_FailureData::default();
            result = pg_sys::heap_lock_tuple(
                table,
                &raw mut row,
                pg_sys::GetCurrentCommandId(true),
                pg_sys::LockTupleMode::LockTupleKeyShare,
                pg_sys::LockWaitPolicy::LockWaitBlock,
                true,
                &raw mut page,
                &raw mut failure,
            );
            if page != 0 {
                pg_sys::ReleaseBuffer(page);
            }
        }
        pg_sys::systable_endscan(scan);
        pg_sys::table_close(table, pg_sys::NoLock.cast_signed());
        // What this transaction itself has changed, nobody else can.
        [pg_sys::TM_Result::TM_Ok, pg_sys::TM_Result::TM_SelfModified].contains(&result)
    }
}
