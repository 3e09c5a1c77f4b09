//! All rows of a small table of the catalogs, as the server reads its own: the latest committed ones, without a query,
//! and also in a parallel worker.

use pgrx::pg_sys;
use std::ffi::CStr;
use std::ptr;

/// Reads columns of type integer, oid, regclass or boolean (0 or 1) of each row of a table: a value is none if it is
/// null, or the table has no such column. The result is none if the table was dropped.
pub fn read<const N: usize>(
    table: pg_sys::Oid,
    columns: [&CStr; N],
) -> Option<Vec<[Option<i32>; N]>> {
    let lock = pg_sys::AccessShareLock.cast_signed();
    let mut rows = Vec::new();
    // SAFETY: a scan of a table inside a transaction, over rows that stay while it is open. The arrays have a place for
    // each column. After an error, the end of the transaction closes the table.
    unsafe {
        let relation = pg_sys::try_table_open(table, lock);
        if relation.is_null() {
            return None;
        }
        let places = columns.map(|column| place(table, column));
        let width = usize::try_from((*(*relation).rd_att).natts).unwrap_or_default();
        let (mut values, mut nulls) = (vec![pg_sys::Datum::null(); width], vec![true; width]);
        let (none, all) = (pg_sys::InvalidOid, ptr::null_mut());
        let scan = pg_sys::systable_beginscan(relation, none, false, all, 0, ptr::null_mut());
        loop {
            let tuple = pg_sys::systable_getnext(scan);
            if tuple.is_null() {
                break;
            }
            let (to, is_null) = (values.as_mut_ptr(), nulls.as_mut_ptr());
            pg_sys::heap_deform_tuple(tuple, (*relation).rd_att, to, is_null);
            rows.push(places.map(|(place, of_type)| {
                let value = values.get(place).filter(|_| !nulls[place])?.value();
                match of_type {
                    pg_sys::INT4OID | pg_sys::OIDOID | pg_sys::REGCLASSOID => Some(value as i32),
                    pg_sys::BOOLOID => Some(i32::from(value as u8 != 0)),
                    _ => None,
                }
            }));
        }
        pg_sys::systable_endscan(scan);
        pg_sys::table_close(relation, lock);
    }
    Some(rows)
}

/// Returns the place of a column, from 0 on, and its type; a place that no row has if there is no such column.
///
/// # Safety
/// The table is open.
unsafe fn place(table: pg_sys::Oid, column: &CStr) -> (usize, pg_sys::Oid) {
    // SAFETY: lookups in the catalogs, inside a transaction.
    unsafe {
        let number = pg_sys::get_attnum(table, column.as_ptr());
        let place = usize::try_from(number)
            .ok()
            .and_then(|number| number.checked_sub(1));
        place.map_or((usize::MAX, pg_sys::InvalidOid), |place| {
            (place, pg_sys::get_atttype(table, number))
        })
    }
}
