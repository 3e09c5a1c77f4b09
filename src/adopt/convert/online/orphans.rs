//! Columns that the script has lost sight of.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::online::closure::{Closure, LinkedColumn};
use crate::adopt::convert::table::TargetTable;
use crate::pg::catalog::sql;
use pgrx::pg_sys;

/// Returns the comment that a swap gives the columns that it keeps: by it they are found when no foreign key leads to them any more.
pub fn comment(table: &TargetTable) -> String {
    let column = sql::quoted_exactly(&table.column().name);
    format!("Kept until the cleanup of {}.{column}", table.quoted())
}

/// Returns the blockers of columns whose foreign keys were dropped since the swap: the cleanup would leave them their shadows, and
/// the checks of a way back, which refuse new ids.
pub fn blockers(closure: &Closure) -> Vec<Blocker> {
    let Some(first) = closure.columns.first() else {
        return Vec::new();
    };
    let columns = closure.columns.iter();
    let (tables, numbers): (Vec<pg_sys::Oid>, Vec<i16>) = columns
        .map(|member| (LinkedColumn::oid(member), member.number))
        .unzip();
    let query = include_str!("../../../../sql/adopt/convert_orphans.sql");
    let owner = pg_sys::Oid::from(first.owner);
    let found: Option<Vec<String>> =
        sql::read_now(query, &[tables.into(), numbers.into(), owner.into()]);
    let found = found.unwrap_or_default().into_iter();
    found
        .map(|name| {
            Blocker::state(
                format!("column {name} has a shadow that no foreign key leads to"),
                "The key was dropped since the swap, and the cleanup would leave the shadow and its checks, which can refuse new ids.",
                "Add the key again, NOT VALID if need be, and drop it after the cleanup.",
            )
        })
        .collect()
}
