//! Roles that can insert into a table, and could not any more with the new default.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::generator::NewDefault;
use crate::adopt::convert::table::TargetTable;
use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;

const QUERY: &str = include_str!("../../../../sql/adopt/convert_executors.sql");

/// Returns the blocker of roles with INSERT that lack EXECUTE on the function of the default, which runs as the role that inserts.
pub fn lacking(table: &TargetTable, generator: &NewDefault) -> Option<Blocker> {
    let arguments = [
        pgrx::pg_sys::Oid::from_u32(table.oid).into(),
        generator.function().into(),
    ];
    let roles = sql::ask_with::<DecodedText>(QUERY, &arguments)?.0;
    let function: DecodedText = sql::ask_with(
        "SELECT $1::regprocedure::text",
        &[generator.function().into()],
    )?;
    let blocker = Blocker::state(
        format!(
            "roles that can insert into table \"{}\" cannot execute the new default",
            table.name
        ),
        format!("They are {roles}."),
        format!("Use GRANT EXECUTE ON FUNCTION {} TO {roles}.", function.0),
    );
    Some(blocker.privilege())
}
