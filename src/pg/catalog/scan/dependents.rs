//! The objects that depend on a function.

use crate::pg::catalog::scan::equals;
use pgrx::pg_sys;
use std::ptr;

/// The most objects that depend on a function that are read.
const MOST: usize = 100;

/// Returns whether the expression of an index, a key of partitions or a constraint of any table calls a function. Also
/// returns true if too many objects depend on the function to read them all.
pub fn are_expressions(function: pg_sys::Oid) -> bool {
    let class = pg_sys::ProcedureRelationId;
    let mut keys = [
        equals(
            pg_sys::Anum_pg_depend_refclassid,
            pg_sys::F_OIDEQ,
            class.into(),
        ),
        equals(
            pg_sys::Anum_pg_depend_refobjid,
            pg_sys::F_OIDEQ,
            function.into(),
        ),
    ];
    // SAFETY: a scan of the catalogs inside a transaction, over rows that stay while it is open, and closed after it.
    unsafe {
        let share = pg_sys::AccessShareLock.cast_signed();
        let table = pg_sys::table_open(pg_sys::DependRelationId, share);
        let index = pg_sys::Oid::from_u32(pg_sys::DependReferenceIndexId);
        let latest = ptr::null_mut();
        let scan = pg_sys::systable_beginscan(table, index, true, latest, 2, keys.as_mut_ptr());
        let are = (0..=MOST)
            .map(|place| (place, pg_sys::systable_getnext(scan)))
            .take_while(|(_, tuple)| !tuple.is_null())
            .any(|(place, tuple)| {
                let row = &*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_depend>();
                place == MOST
                    || row.classid == pg_sys::RelationRelationId
                    || row.classid == pg_sys::ConstraintRelationId
            });
        pg_sys::systable_endscan(scan);
        pg_sys::table_close(table, share);
        are
    }
}
