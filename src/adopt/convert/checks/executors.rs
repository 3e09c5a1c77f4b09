//! Roles that can insert into a table, and could not any more with the new default.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::generator::NewDefault;
use crate::adopt::convert::table::TargetTable;
use crate::pg::catalog::{relation, sql};
use crate::pg::datum::text::DecodedText;
use pgrx::pg_sys;

const QUERY: &str = include_str!("../../../../sql/adopt/convert_executors.sql");

/// Returns the blockers of roles with INSERT that lack EXECUTE on the function of the default, which runs as the role that
/// inserts, or USAGE on a sequence that it draws from.
pub fn lacking(table: &TargetTable, generator: &NewDefault) -> Vec<Blocker> {
    let function = generator.function();
    let mut found = Vec::new();
    if let Some(roles) = roles(table, Some(function), None) {
        let name =
            sql::ask_with::<DecodedText>("SELECT $1::regprocedure::text", &[function.into()]);
        let name = name.map(|name| name.0).unwrap_or_default();
        found.push(blocker(
            format!(
                "roles that can insert into table \"{}\" cannot execute the new default",
                table.name
            ),
            &roles,
            format!("GRANT EXECUTE ON FUNCTION {name}"),
        ));
    }
    let sequences = generator.relations();
    for sequence in sequences.filter(|&of| relation::kind(of) == Some(pg_sys::RELKIND_SEQUENCE)) {
        let Some(roles) = roles(table, None, Some(sequence)) else {
            continue;
        };
        let name = sql::exact_name_of(sequence);
        found.push(blocker(
            format!(
                "roles that can insert into table \"{}\" cannot draw from sequence {name}",
                table.name
            ),
            &roles,
            format!("GRANT USAGE ON SEQUENCE {name}"),
        ));
    }
    found
}

fn roles(
    table: &TargetTable,
    function: Option<pg_sys::Oid>,
    sequence: Option<pg_sys::Oid>,
) -> Option<String> {
    let before = table.sequence().filter(|before| !before.is_identity);
    let before = before.map(|before| pg_sys::Oid::from_u32(before.rules.oid));
    let table = pg_sys::Oid::from_u32(table.oid);
    let arguments = [
        table.into(),
        function.into(),
        sequence.into(),
        before.into(),
    ];
    sql::ask_with::<DecodedText>(QUERY, &arguments).map(|roles| roles.0)
}

fn blocker(message: String, roles: &str, grant: String) -> Blocker {
    let detail = format!("They are {roles}.");
    Blocker::state(message, detail, format!("Use {grant} TO {roles}.")).privilege()
}
