//! Types of other roles in what each statement on a table plans: the planner runs the checks of domains and casts to them.

use crate::pg::catalog::foreign::{self, Foreign, Held, Objects};
use crate::pg::catalog::sql;
use pgrx::pg_sys;
use serde::Deserialize;

/// An object of a table, and what it is made of.
#[derive(Debug, Deserialize)]
struct Cast {
    /// The server's description.
    object: String,
    /// It has an expression.
    is_written: bool,
    types: Vec<u32>,
    functions: Vec<u32>,
    operators: Vec<u32>,
}

/// Returns the objects of tables with such a cast, which would run as a role, and tables in schemas of others.
pub fn foreign(tables: &[pg_sys::Oid], role: pg_sys::Oid) -> Vec<(String, Foreign)> {
    // Statements name the tables.
    let moved = foreign::among(&foreign::relations(tables), Held::ByName, role).into_iter();
    let moved = moved.map(|of| (format!("table {}", sql::name_of(of.oid.into())), of));
    moved.chain(planned(tables, role)).collect()
}

/// Returns an object of tables whose expression has what a user has made.
pub fn written(tables: &[pg_sys::Oid]) -> Option<String> {
    let mut all = find(tables).into_iter();
    all.find(|one| one.is_written).map(|one| one.object)
}

/// Returns the objects of tables with such a cast, which would run as a role where the server plans a query of them by oid.
pub fn planned(tables: &[pg_sys::Oid], role: pg_sys::Oid) -> Vec<(String, Foreign)> {
    let oids = |oids: Vec<u32>| oids.into_iter().map(Into::into).collect();
    let all = find(tables).into_iter().filter_map(|one| {
        let objects = Objects {
            types: oids(one.types),
            functions: oids(one.functions),
            operators: oids(one.operators),
            relations: Vec::new(),
        };
        let of = foreign::refuse(&objects, Held::ByOid, role).err()?;
        Some((one.object, of))
    });
    all.collect()
}

fn find(tables: &[pg_sys::Oid]) -> Vec<Cast> {
    let query = include_str!("../../../sql/adopt/casts.sql");
    let found: Option<Vec<Cast>> = sql::read_now(query, &[tables.to_vec().into()]);
    found.unwrap_or_default()
}
