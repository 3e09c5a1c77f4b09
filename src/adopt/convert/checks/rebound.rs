//! Texts of the server that are parsed again with a column of another type, and could call another object of that name: one
//! that any role has put beside the first, which would run with the rights of the table's owner. The same is of constants and casts
//! whose types are of another role: the parser and the planner run the checks of a domain.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::pg::catalog::sql;
use pgrx::pg_sys;
use serde::Deserialize;
use std::collections::HashSet;

/// A text, and what it calls.
#[derive(Debug, Deserialize)]
struct Rebound {
    object: String,
    called: String,
    /// The other role that owns the type which is called, if it is one.
    type_owner: Option<String>,
    schema: String,
    has_namesake: bool,
}

/// Which texts are parsed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// All that depend on a column.
    All,
    /// The checks of a column and of its domain.
    Checks,
}

/// Returns what could mean something else, of columns of tables with one owner.
pub fn blockers(columns: &[(pg_sys::Oid, i16)], texts: Texts) -> Vec<Blocker> {
    let found = find(columns, texts).into_iter();
    found.map(|one| one.blocker()).collect()
}

/// Returns the descriptions of these objects, as of `pg_describe_object`.
pub fn objects(columns: &[(pg_sys::Oid, i16)]) -> HashSet<String> {
    let found = find(columns, Texts::All).into_iter();
    found.map(|one| one.object).collect()
}

fn find(columns: &[(pg_sys::Oid, i16)], texts: Texts) -> Vec<Rebound> {
    let (tables, numbers): (Vec<pg_sys::Oid>, Vec<i16>) = columns.iter().copied().unzip();
    let query = include_str!("../../../../sql/adopt/convert_rebound.sql");
    let arguments = [
        tables.into(),
        numbers.into(),
        (texts == Texts::Checks).into(),
    ];
    let found: Option<Vec<Rebound>> = sql::read_now(query, &arguments);
    found.unwrap_or_default()
}

impl Rebound {
    fn blocker(&self) -> Blocker {
        if let Some(owner) = &self.type_owner {
            let blocker = Blocker::state(
                format!("{} has values of type {}", self.object, self.called),
                format!(
                    "Role \"{owner}\", which owns the type or a part of it, can add checks, and these would run with the privileges of the table's owner."
                ),
                "Drop it, and create it again after the conversion; or give the type and its parts to the owner of the table.",
            );
            return blocker.unsupported();
        }
        let schema = &self.schema;
        let detail = if self.has_namesake {
            format!("Another one of the name is in schema \"{schema}\".")
        } else {
            format!(
                "Roles without the privileges of the owner can create another one of the name in schema \"{schema}\"."
            )
        };
        let blocker = Blocker::state(
            format!(
                "{} calls {}, and could call another one for the new ids",
                self.object, self.called
            ),
            detail,
            "Drop it, and create it again after the swap; or leave one of the name, and CREATE on its schema to the owner alone.",
        );
        blocker.unsupported()
    }
}
