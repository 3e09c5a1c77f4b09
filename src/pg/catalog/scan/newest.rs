//! The largest number of a column, read by an index as an index scan does, but without a query: as samples are.

use crate::pg::catalog::scan::sample::{Open, Value, value};
use crate::pg::datum::list::oids;
use pgrx::pg_sys;
use std::ffi::c_int;
use std::ptr;

/// Returns the largest number of a column below another: an outer none if no index leads to it. **Whether the user may read
/// it is for [`access`](crate::pg::catalog::access) to check.**
pub fn largest(table: &Open, place: i16, below: i64) -> Option<Option<i64>> {
    if !table.can_be_read() {
        return None;
    }
    // SAFETY: the table is open; the list is of oids.
    let mut indexes = unsafe { oids(pg_sys::RelationGetIndexList(table.0)) };
    indexes.find_map(|index| {
        let index = Open::at_once(index)?;
        // SAFETY: the table and its index are open.
        unsafe { leads(&index, place).then(|| read(table, &index, place, below)) }
    })
}

/// Returns whether an index has all rows, in the order of a column of an integer type. Its expressions and its predicate
/// are not loaded, as that would call the functions in them.
///
/// # Safety
/// The index is open.
unsafe fn leads(index: &Open, place: i16) -> bool {
    // SAFETY: as the caller says. An index has its row of pg_index, and an array with the operator family of each column.
    unsafe {
        let index = &*index.0;
        let row = &*index.rd_index;
        let predicate = pg_sys::Anum_pg_index_indpred as c_int;
        (*index.rd_rel).relam == pg_sys::BTREE_AM_OID
            && row.indisvalid
            && !row.indcheckxmin
            && *row.indkey.values.as_ptr() == place
            && *index.rd_opfamily == pg_sys::INTEGER_BTREE_FAM_OID
            && pg_sys::heap_attisnull(index.rd_indextuple, predicate, ptr::null_mut())
    }
}

/// # Safety
/// Both are open, and the index leads.
unsafe fn read(table: &Open, index: &Open, place: i16, below: i64) -> Option<i64> {
    // SAFETY: as the caller says. The slot and the scan are released below, or with the transaction; a function that runs
    // in a query has an active snapshot.
    unsafe {
        let base_type = *(*index.0).rd_opcintype;
        let less = match base_type {
            pg_sys::INT2OID => pg_sys::F_INT28LT,
            pg_sys::INT4OID => pg_sys::F_INT48LT,
            _ => pg_sys::F_INT8LT,
        };
        let mut key = pg_sys::ScanKeyData::default();
        pg_sys::ScanKeyEntryInitialize(
            &raw mut key,
            0,
            1,
            pg_sys::BTLessStrategyNumber as pg_sys::StrategyNumber,
            pg_sys::INT8OID,
            pg_sys::InvalidOid,
            less.into(),
            below.into(),
        );
        let slot = pg_sys::table_slot_create(table.0, ptr::null_mut());
        let scan = begin(table.0, index.0);
        pg_sys::index_rescan(scan, &raw mut key, 1, ptr::null_mut(), 0);
        let is_descending = *(*index.0).rd_indoption & pg_sys::INDOPTION_DESC as i16 != 0;
        let direction = if is_descending {
            pg_sys::ScanDirection::ForwardScanDirection
        } else {
            pg_sys::ScanDirection::BackwardScanDirection
        };
        let found = if pg_sys::index_getnext_slot(scan, direction, slot) {
            pg_sys::slot_getsomeattrs_int(slot, i32::from(place));
            let at = usize::from(place.unsigned_abs()) - 1;
            value(*(*slot).tts_values.add(at), base_type)
        } else {
            None
        };
        pg_sys::index_endscan(scan);
        pg_sys::ExecDropSingleTupleTableSlot(slot);
        found.as_ref().and_then(Value::number)
    }
}

/// # Safety
/// They are open.
unsafe fn begin(table: pg_sys::Relation, index: pg_sys::Relation) -> pg_sys::IndexScanDesc {
    // SAFETY: as the caller says; a function that runs in a query has an active snapshot.
    unsafe {
        let snapshot = pg_sys::GetActiveSnapshot();
        #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
        let scan = pg_sys::index_beginscan(table, index, snapshot, 1, 0);
        #[cfg(feature = "pg18")]
        let scan = pg_sys::index_beginscan(table, index, snapshot, ptr::null_mut(), 1, 0);
        #[cfg(feature = "pg19")]
        let scan = pg_sys::index_beginscan(table, index, snapshot, ptr::null_mut(), 1, 0, 0);
        scan
    }
}
