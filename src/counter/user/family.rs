//! Families of user sequences: tables without rows, whose columns are identities. The sequence of each is a section.
//!
//! So a family is created, renamed, dropped, dumped and restored as any table, its sequences with it.

use crate::pg::catalog::{privilege, sql};
use crate::pg::error::report;
use crate::pg::ports::get_relation_constraint_oid;
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::ffi::{CStr, CString};

/// Raises an error unless it is a family.
pub fn demand_family(family: pg_sys::Oid) {
    look_up(family);
}

/// The sequences of a family's sections, if the user has any of these privileges on it.
pub fn sections_of(family: pg_sys::Oid, any_of: u32) -> Vec<pg_sys::Oid> {
    let (name, sections) = look_up(family);
    privilege::demand(family, &name, any_of, pg_sys::ObjectType::OBJECT_TABLE);
    sections
}

/// A family's name and the sequences of its sections.
fn look_up(family: pg_sys::Oid) -> (String, Vec<pg_sys::Oid>) {
    // SAFETY: lookups in the catalogs, inside a transaction, as every call of a function is. What they
    // return is a copy, in memory of the statement.
    unsafe {
        let name = pg_sys::get_rel_name(family);
        if name.is_null() {
            sql::missing(family);
        }
        let name = crate::pg::charset::decode_c(name);
        // In the order of the columns, as the index that is read has them.
        let list = pg_sys::getOwnedSequences(family);
        let length = if list.is_null() { 0 } else { (*list).length };
        let first = pg_sys::get_attname(family, 1, true);
        let further = pg_sys::get_attname(family, length as i16 + 1, true);
        // One that was dropped keeps its place, under such a name.
        let is_gone = |name| {
            CStr::from_ptr(name)
                .to_bytes()
                .starts_with(b"........pg.dropped.")
        };
        if length == 0
            || first.is_null()
            || CStr::from_ptr(first) != FIRST_COLUMN
            || !(further.is_null() || is_gone(further))
        {
            report(
                Code::ERRCODE_WRONG_OBJECT_TYPE,
                format!("\"{name}\" is not a family of user sequences"),
            )
            .hint("Make one with user_sequence_create().")
            .raise();
        }
        // Over other sections users would be spread anew, and get their numbers again.
        if !has_its_sections(family, length) {
            report(
                Code::ERRCODE_WRONG_OBJECT_TYPE,
                format!("the sections of \"{name}\" were altered"),
            )
            .detail("Its users would get numbers again.")
            .hint("Drop the columns that were added.")
            .raise();
        }
        let cells = std::slice::from_raw_parts((*list).elements, length.unsigned_abs() as usize);
        (name, cells.iter().map(|cell| cell.oid_value).collect())
    }
}

/// Whether a family has the sections that it was made with, as the name of its constraint and those of its columns say.
fn has_its_sections(family: pg_sys::Oid, sections: i32) -> bool {
    let recorded = CString::new(format!("no_rows_in_{sections}_sections")).unwrap_or_default();
    // SAFETY: lookups in the catalogs, inside a transaction; a name is a copy with a zero byte at its end.
    unsafe {
        let constraint = pg_sys::ffi::pg_guard_ffi_boundary(|| {
            get_relation_constraint_oid(family, recorded.as_ptr(), true)
        });
        constraint != pg_sys::InvalidOid
            && (0..sections).all(|section| {
                let name = pg_sys::get_attname(family, section as i16 + 1, true);
                !name.is_null()
                    && CStr::from_ptr(name).to_bytes() == format!("section_{section}").as_bytes()
            })
    }
}

/// By which a family is told from other tables.
const FIRST_COLUMN: &CStr = c"section_0";
