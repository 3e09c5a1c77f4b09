//! Citus's own objects: which tables are distributed, and the results of a command on all nodes of a cluster.

use crate::pg::catalog::binding::{self, Bound};
use crate::pg::catalog::scan::rows;
use crate::pg::catalog::spi::Sees;
use crate::pg::catalog::{function, privilege, relation, spi};
use crate::pg::datum::text::DecodedText;
use pgrx::pg_sys;
use std::collections::BTreeSet;

/// Returns the tables that are distributed over a cluster, or are known to it; none where there is no Citus.
pub fn distributed_tables() -> BTreeSet<u32> {
    let catalog = pg_sys::Oid::from_u32(pg_sys::PG_CATALOG_NAMESPACE);
    let table = relation::find(catalog, c"pg_dist_partition");
    let rows = table.and_then(|table| rows::read(table, [c"logicalrelid"]));
    let oids = rows.unwrap_or_default().into_iter();
    oids.filter_map(|[oid]| oid.map(i32::cast_unsigned))
        .collect()
}

/// Returns the number of each node and its answer to the command; no answer if it failed. Empty if there is no such
/// function. It connects as the caller, with an unknown search path: the command qualifies every name.
pub fn on_all_nodes(command: &str) -> Vec<(i32, Option<String>)> {
    let catalog = pg_sys::Oid::from_u32(pg_sys::PG_CATALOG_NAMESPACE);
    let arguments = [pg_sys::TEXTOID, pg_sys::BOOLOID, pg_sys::BOOLOID];
    let Some(function) = function::find(catalog, c"run_command_on_all_nodes", &arguments) else {
        return Vec::new();
    };
    let bound = Bound {
        functions: &[function],
        first_only: true,
        ..Bound::default()
    };
    let query = "SELECT r.nodeid, CASE WHEN r.success THEN r.result END FROM run_command_on_all_nodes($1, true, false) AS r";
    let command = DecodedText(command.to_owned()).into();
    // Statements in the function of Citus use other objects of Citus.
    binding::restrict_to(bound, || {
        privilege::guarded(|| {
            spi::rows(Sees::Commits, query, &[command], |row| {
                Some((row.get(1)?, row.get::<DecodedText>(2).map(|text| text.0)))
            })
        })
    })
}
