//! Families of user sequences: tables without rows, whose columns are identities. The sequence of each is a section.
//!
//! So a family is created, renamed, dropped, dumped and restored like any table, with its sequences.

use crate::pg::catalog::{privilege, relation, sql};
use crate::pg::charset;
use crate::pg::error::report;
use pgrx::{PgSqlErrorCode as Code, pg_sys};

/// Returns the sequences of a family's sections, if the user has any of these privileges on it.
pub fn sections_of(family: pg_sys::Oid, any_of: u32) -> Vec<pg_sys::Oid> {
    let (name, sections) = look_up(family);
    privilege::require_any(family, &name, any_of, pg_sys::ObjectType::OBJECT_TABLE);
    sections
}

/// Returns a family's name and the sequences of its sections. Raises an error unless the table is a family.
pub fn look_up(family: pg_sys::Oid) -> (String, Vec<pg_sys::Oid>) {
    let name = relation::name(family).unwrap_or_else(|| sql::missing(family));
    let sections = relation::owned_sequences(family);
    let column = |number| relation::column(family, number);
    let further = column(sections.len() + 1);
    // Other sections would spread users differently, and give them their numbers again.
    let is_whole = is_made_with(family, sections.len())
        && (0..sections.len()).all(|section| column(section + 1) == Some(section_name(section)))
        && further.is_none_or(|name| name.starts_with("........pg.dropped."));
    if !is_whole {
        refuse(family, &name, sections.len());
    }
    (name, sections)
}

/// Returns whether a table was created as a family of that many sections.
fn is_made_with(table: pg_sys::Oid, sections: usize) -> bool {
    relation::has_constraint(table, &charset::c_string(&constraint_name(sections)))
}

/// Raises the error of a table that is not a family, or was altered since.
#[cold]
#[track_caller]
fn refuse(table: pg_sys::Oid, name: &str, sections: usize) -> ! {
    let Some(made) = (1..=MOST_SECTIONS).find(|&made| is_made_with(table, made)) else {
        report(
            Code::ERRCODE_WRONG_OBJECT_TYPE,
            format!("\"{name}\" is not a family of user sequences"),
        )
        .hint("Use user_sequence_create() to create a family.")
        .raise()
    };
    let names_differ = (0..made)
        .any(|section| relation::column(table, section + 1) != Some(section_name(section)));
    let hint = if names_differ || sections < made {
        "Undo the change to the columns, or restore the table from a backup."
    } else {
        "Drop the columns that were added."
    };
    report(
        Code::ERRCODE_WRONG_OBJECT_TYPE,
        format!("columns of family \"{name}\" were altered"),
    )
    .detail("Users of the family could get the same numbers again.")
    .hint(hint)
    .raise()
}

/// The most sections of a family, as they are columns of a table.
pub const MOST_SECTIONS: usize = 1_000;

/// Returns the column of a section.
pub fn section_name(section: usize) -> String {
    format!("section_{section}")
}

/// Returns the constraint of a family, which records how many sections it was made with.
pub fn constraint_name(sections: usize) -> String {
    format!("no_rows_in_{sections}_sections")
}
