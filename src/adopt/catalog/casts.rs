//! Casts to domains of other roles in what each statement on a table plans: the planner runs the checks of these.

use crate::pg::catalog::foreign::{self, ForeignType};
use crate::pg::catalog::sql;
use pgrx::pg_sys;
use serde::Deserialize;

/// An object of a table, and a type that it has values of.
#[derive(Debug, Deserialize)]
struct Cast {
    /// The server's description.
    object: String,
    #[serde(rename = "type")]
    type_oid: u32,
}

/// Returns the objects of tables with such a cast, which would run as a role.
pub fn foreign(tables: &[pg_sys::Oid], role: pg_sys::Oid) -> Vec<(String, ForeignType)> {
    let query = include_str!("../../../sql/adopt/casts.sql");
    let found: Option<Vec<Cast>> = sql::read_now(query, &[tables.to_vec().into()]);
    let found = found.unwrap_or_default();
    let types: Vec<pg_sys::Oid> = found.iter().map(|one| one.type_oid.into()).collect();
    let foreign = foreign::among(&types, &[], role);
    let all = found.into_iter().filter_map(|one| {
        let mut foreign = foreign.iter();
        Some((one.object, *foreign.find(|of| of.oid == one.type_oid)?))
    });
    all.collect()
}
