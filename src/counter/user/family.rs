//! Families of user sequences: tables without rows, whose columns are identities. The sequence of each is a section.
//!
//! So a family is created, renamed, dropped, dumped and restored as any table, its sequences with it.

use crate::pg::catalog::{privilege, relation, sql};
use crate::pg::error::report;
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use std::ffi::CString;

/// Returns the sequences of a family's sections, if the user has any of these privileges on it.
pub fn sections_of(family: pg_sys::Oid, any_of: u32) -> Vec<pg_sys::Oid> {
    let (name, sections) = look_up(family);
    privilege::demand(family, &name, any_of, pg_sys::ObjectType::OBJECT_TABLE);
    sections
}

/// Returns a family's name and the sequences of its sections. Raises an error unless the table is a family.
pub fn look_up(family: pg_sys::Oid) -> (String, Vec<pg_sys::Oid>) {
    let name = relation::name(family).unwrap_or_else(|| sql::missing(family));
    let sections = relation::owned_sequences(family);
    let column = |number| relation::column(family, number);
    let further = column(sections.len() + 1);
    if sections.is_empty()
        || column(1) != Some(section_name(0))
        || further.is_some_and(|name| !name.starts_with("........pg.dropped."))
    {
        report(
            Code::ERRCODE_WRONG_OBJECT_TYPE,
            format!("\"{name}\" is not a family of user sequences"),
        )
        .hint("Use user_sequence_create() to create a family.")
        .raise();
    }
    // Over other sections users would be spread anew, and get their numbers again.
    let recorded = CString::new(constraint_name(sections.len())).unwrap_or_default();
    if !relation::has_constraint(family, &recorded)
        || (0..sections.len()).any(|section| column(section + 1) != Some(section_name(section)))
    {
        report(
            Code::ERRCODE_WRONG_OBJECT_TYPE,
            format!("sections of family \"{name}\" were altered"),
        )
        .detail("Users of the family could get the same numbers again.")
        .hint("Drop the columns that were added.")
        .raise();
    }
    (name, sections)
}

/// The column of a section.
pub fn section_name(section: usize) -> String {
    format!("section_{section}")
}

/// The constraint of a family, which records how many sections it was made with.
pub fn constraint_name(sections: usize) -> String {
    format!("no_rows_in_{sections}_sections")
}
