//! The first and the last value that an index has now.

use crate::pg::planner::node::nodes;
use pgrx::pg_sys;
use std::ffi::c_int;
use std::slice;

/// Returns the smallest or the largest value of a column, of so many bytes, from an index that it leads, in the order of
/// an operator `<`. It may be one of a row that is gone: nothing but the first page of the index is read.
///
/// # Safety
/// A table that is being planned, with a column of such a type.
pub unsafe fn of(
    table: &pg_sys::RelOptInfo,
    column: pg_sys::AttrNumber,
    less: pg_sys::Oid,
    is_smallest: bool,
    length: usize,
) -> Option<Vec<u8>> {
    // SAFETY: the arrays have an element for each column of the key, of which there is at least one.
    unsafe {
        let index = nodes(table.indexlist)
            .map(|index| &*index.cast::<pg_sys::IndexOptInfo>())
            .find(|index| {
                index.relam == pg_sys::BTREE_AM_OID
                    && *index.indexkeys == c_int::from(column)
                    && index.indpred.is_null()
                    && !index.hypothetical
                    && !index.reverse_sort.is_null()
                    && pg_sys::get_op_opfamily_strategy(less, *index.opfamily)
                        == pg_sys::BTLessStrategyNumber as c_int
            })?;
        read(index, is_smallest != *index.reverse_sort, length)
    }
}

/// # Safety
/// The planner has locked the index and its table.
#[cold]
unsafe fn read(index: &pg_sys::IndexOptInfo, is_forward: bool, length: usize) -> Option<Vec<u8>> {
    // SAFETY: what is opened is closed. A scan of an index alone reads entries of the length that their type has.
    unsafe {
        let no_lock = pg_sys::NoLock as pg_sys::LOCKMODE;
        let opened = pg_sys::index_open(index.indexoid, no_lock);
        let table = pg_sys::table_open((*(*opened).rd_index).indrelid, no_lock);
        let mut not_null = pg_sys::ScanKeyData::default();
        pg_sys::ScanKeyEntryInitialize(
            &raw mut not_null,
            (pg_sys::SK_ISNULL | pg_sys::SK_SEARCHNOTNULL) as c_int,
            1,
            0,
            pg_sys::InvalidOid,
            pg_sys::InvalidOid,
            pg_sys::InvalidOid,
            pg_sys::Datum::null(),
        );
        let scan = begin(table, opened);
        (*scan).xs_want_itup = true;
        // Entries of rows that are gone are not passed over, however many there are.
        (*scan).ignore_killed_tuples = false;
        pg_sys::index_rescan(scan, &raw mut not_null, 1, std::ptr::null_mut(), 0);
        let direction = if is_forward {
            pg_sys::ScanDirection::ForwardScanDirection
        } else {
            pg_sys::ScanDirection::BackwardScanDirection
        };
        let entry = pg_sys::index_getnext_tid(scan, direction);
        let found = (!entry.is_null() && !(*scan).xs_itup.is_null()).then(|| {
            let mut values = [pg_sys::Datum::null(); pg_sys::INDEX_MAX_KEYS as usize];
            let mut nulls = [true; pg_sys::INDEX_MAX_KEYS as usize];
            pg_sys::index_deform_tuple(
                (*scan).xs_itup,
                (*scan).xs_itupdesc,
                values.as_mut_ptr(),
                nulls.as_mut_ptr(),
            );
            slice::from_raw_parts(values[0].cast_mut_ptr::<u8>(), length).to_vec()
        });
        pg_sys::index_endscan(scan);
        pg_sys::table_close(table, no_lock);
        pg_sys::index_close(opened, no_lock);
        found
    }
}

/// # Safety
/// They are opened.
unsafe fn begin(table: pg_sys::Relation, index: pg_sys::Relation) -> pg_sys::IndexScanDesc {
    // SAFETY: as the caller says. With this snapshot no row is looked at, and no page is locked for others.
    unsafe {
        let any = &raw mut pg_sys::SnapshotAnyData;
        #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17"))]
        let scan = pg_sys::index_beginscan(table, index, any, 1, 0);
        #[cfg(feature = "pg18")]
        let scan = pg_sys::index_beginscan(table, index, any, std::ptr::null_mut(), 1, 0);
        #[cfg(feature = "pg19")]
        let scan = pg_sys::index_beginscan(table, index, any, std::ptr::null_mut(), 1, 0, 0);
        scan
    }
}
