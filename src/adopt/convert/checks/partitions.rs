//! Which partitions take new ids, at any level, and what no row with one of these can fulfill.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::rows::Rows;
use crate::adopt::convert::table::TargetTable;
use crate::pg::backend::transaction;
use crate::pg::catalog::sql;
use pgrx::pg_sys;
use serde::Deserialize;

/// A partition, and the condition that its rows fulfill.
#[derive(Debug, Deserialize)]
struct Bound {
    relation: u32,
    parent: u32,
    parent_name: String,
    text: String,
}

/// Returns the partitions of a table and of those below, each table's together.
fn bounds(table: &TargetTable) -> Vec<Bound> {
    let (tables, _): (Vec<pg_sys::Oid>, Vec<i16>) = table.members().into_iter().unzip();
    let query = include_str!("../../../../sql/adopt/convert_bounds.sql");
    let found: Option<Vec<Bound>> = sql::read_now(query, &[tables.into()]);
    found.unwrap_or_default()
}

/// Returns whether a table, or one below it, can have the id, whatever other columns have.
pub fn reaches(table: &TargetTable, relation: u32, rows: &Rows) -> bool {
    let bounds = bounds(table);
    let mut own = bounds.iter().filter(|bound| bound.relation == relation);
    !own.any(|bound| is_closed(table, rows, [bound]))
}

/// Checks that each partitioned table that can have the id has a partition for it.
pub fn lacking(table: &TargetTable, id: i64) -> Option<Blocker> {
    let bounds = bounds(table);
    let rows = Rows::with(&table.members(), id);
    let mut parents = bounds.chunk_by(|one, next| one.parent == next.parent);
    let all = parents.find(|all| {
        let mut own = bounds
            .iter()
            .filter(|bound| bound.relation == all[0].parent);
        is_closed(table, &rows, *all) && !own.any(|own| is_closed(table, &rows, [own]))
    })?;
    let name = &all.first()?.parent_name;
    Some(Blocker::state(
        format!("table \"{name}\" has no partition for new ids"),
        format!("It is partitioned by the column, and an id like {id} has none."),
        "Create partitions for the new ids first, or a DEFAULT partition.",
    ))
}

/// Returns whether none of the partitions of one table takes the id.
fn is_closed<'a>(
    table: &TargetTable,
    rows: &Rows,
    partitions: impl IntoIterator<Item = &'a Bound>,
) -> bool {
    let mut partitions = partitions.into_iter().peekable();
    let row = partitions.peek().and_then(|one| rows.query(one.relation));
    let any: Vec<String> = partitions.map(|one| format!("({})", one.text)).collect();
    row.is_some_and(|row| is_never(table, &any.join(" OR "), &format!("({row}) AS one")))
}

/// Returns whether a condition on a row is false whatever the planner does not know of it: only then does it not evaluate what
/// the condition guards.
pub fn is_never(table: &TargetTable, condition: &str, from: &str) -> bool {
    let query = format!("SELECT CASE WHEN ({condition}) IS NOT FALSE THEN 1 / 0 END FROM {from}");
    transaction::undone(|| table.access().plan(&query)).is_ok_and(|planned| planned == Ok(true))
}
