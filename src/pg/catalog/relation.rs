//! What the catalogs say of any relation.

use crate::pg::charset;
use crate::pg::ports::get_relation_constraint_oid;
use pgrx::pg_sys;
use std::ffi::CStr;

/// The name of a relation, without its schema; none when it is gone.
pub fn name(relation: pg_sys::Oid) -> Option<String> {
    // SAFETY: a lookup in the catalogs, inside a transaction, which returns a copy or null.
    unsafe {
        let name = pg_sys::get_rel_name(relation);
        (!name.is_null()).then(|| charset::decode_c(name))
    }
}

/// Whether there is a sequence with this oid.
pub fn is_sequence(relation: pg_sys::Oid) -> bool {
    // SAFETY: a lookup in the catalogs, inside a transaction.
    let kind = unsafe { pg_sys::get_rel_relkind(relation) };
    kind.cast_unsigned() == pg_sys::RELKIND_SEQUENCE
}

/// The sequences of a table's identity and serial columns, in the order of the columns.
pub fn owned_sequences(table: pg_sys::Oid) -> Vec<pg_sys::Oid> {
    // SAFETY: a lookup in the catalogs, inside a transaction. A list has as many elements as it says, here oids; none
    // is null.
    unsafe {
        let list = pg_sys::getOwnedSequences(table);
        list.as_ref().map_or_else(Vec::new, |list| {
            let length = list.length.unsigned_abs() as usize;
            let cells = std::slice::from_raw_parts(list.elements, length);
            cells.iter().map(|cell| cell.oid_value).collect()
        })
    }
}

/// The name of a table's column by its number, from 1 on. A column that was dropped keeps its number, under a name
/// that begins with `........pg.dropped.`.
pub fn column(table: pg_sys::Oid, number: usize) -> Option<String> {
    let number = i16::try_from(number).ok()?;
    // SAFETY: a lookup in the catalogs, inside a transaction, which returns a copy or null.
    unsafe {
        let name = pg_sys::get_attname(table, number, true);
        (!name.is_null()).then(|| charset::decode_c(name))
    }
}

/// Whether a table has a constraint of this name.
pub fn has_constraint(table: pg_sys::Oid, name: &CStr) -> bool {
    // SAFETY: a lookup in the catalogs, inside a transaction.
    let constraint = unsafe {
        pg_sys::ffi::pg_guard_ffi_boundary(|| {
            get_relation_constraint_oid(table, name.as_ptr(), true)
        })
    };
    constraint != pg_sys::InvalidOid
}
