//! Texts of the server that are parsed again with a column of another type, and could call another object of that name: one
//! that any role has put beside the first, which would run with the rights of the table's owner. The same is of constants and casts
//! whose types are of another role: the parser and the planner run the checks of a domain.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::pg::catalog::foreign::{self, Foreign, Held};
use crate::pg::catalog::{relation, sql};
use pgrx::pg_sys;
use serde::Deserialize;
use std::collections::HashSet;

/// An object by the oids of its catalog and of itself.
pub type Key = (u32, u32);

/// A text, and what it calls.
#[derive(Debug, Deserialize)]
struct Rebound {
    object: String,
    key: Key,
    /// The type that it has values of; 0 if it is about a call.
    #[serde(rename = "type")]
    type_oid: u32,
    called: String,
    schema: String,
    has_namesake: bool,
    /// The other role that owns the schema, if it is only named; 0 if it is called.
    role: u32,
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
    let tables: Vec<pg_sys::Oid> = columns.iter().map(|&(table, _)| table).collect();
    let owner = tables.first().copied().and_then(relation::owner);
    let owner = owner.unwrap_or(pg_sys::InvalidOid);
    let moved = foreign::among(&foreign::relations(&tables), Held::ByName, owner).into_iter();
    let schemas: Vec<String> = moved
        .map(|of| relation::schema_name(relation::schema(of.oid.into())))
        .collect();
    // Of the schema of a table, the table is said.
    let is_said = |one: &Rebound| {
        one.role != 0 && one.called.starts_with("relation ") && schemas.contains(&one.schema)
    };
    let found = find(columns, texts).into_iter();
    let found = found.filter(|(one, _)| !is_said(one));
    found.map(|(one, of)| one.blocker(of, owner)).collect()
}

/// Returns these objects, and views for their rules.
pub fn objects(columns: &[(pg_sys::Oid, i16)]) -> HashSet<Key> {
    let found = find(columns, Texts::All).into_iter();
    found.map(|(one, _)| one.key).collect()
}

fn find(columns: &[(pg_sys::Oid, i16)], texts: Texts) -> Vec<(Rebound, Option<Foreign>)> {
    let (tables, numbers): (Vec<pg_sys::Oid>, Vec<i16>) = columns.iter().copied().unzip();
    let first = tables.first().copied();
    let query = include_str!("../../../../sql/adopt/convert_rebound.sql");
    let arguments = [
        tables.into(),
        numbers.into(),
        (texts == Texts::Checks).into(),
    ];
    let found: Option<Vec<Rebound>> = sql::read_now(query, &arguments);
    of_others(found.unwrap_or_default(), first)
}

/// Leaves out values of types that are not of another role than the owner of the table.
fn of_others(found: Vec<Rebound>, table: Option<pg_sys::Oid>) -> Vec<(Rebound, Option<Foreign>)> {
    let types: Vec<pg_sys::Oid> = found.iter().map(|one| one.type_oid.into()).collect();
    let owner = table.and_then(relation::owner);
    let foreign = owner.map_or_else(Vec::new, |owner| {
        foreign::among(&foreign::types(types), Held::ByName, owner)
    });
    let found = found.into_iter().map(|one| {
        let mut foreign = foreign.iter();
        let of = foreign.find(|of| of.oid == one.type_oid).copied();
        (one, of)
    });
    found
        .filter(|(one, of)| one.type_oid == 0 || of.is_some())
        .collect()
}

impl Rebound {
    fn blocker(&self, foreign: Option<Foreign>, owner: pg_sys::Oid) -> Blocker {
        if let Some(of) = foreign {
            return Blocker::foreign(&self.object, of);
        }
        let schema = &self.schema;
        if self.role != 0 {
            let remedy = foreign::remedy(schema, self.role.into(), owner);
            let blocker = Blocker::state(
                format!(
                    "{} names {}, which another role can replace",
                    self.object, self.called
                ),
                format!("The owner of schema \"{schema}\" can put another object in its place."),
                format!("{remedy} Or drop it, and create it again after the swap."),
            );
            return blocker.unsupported();
        }
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
