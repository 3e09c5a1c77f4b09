//! Columns that a script has lost sight of.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::table::TargetTable;
use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;
use pgrx::pg_sys;

/// What the labels of all conversions begin with.
const BEGIN: &str = "-- Of the conversion of ";

/// Returns the line with which the functions of the triggers begin that keep the shadows of columns equal which refer to this one:
/// by it they are found when no foreign key leads to them any more, also after a restore and beside a copy.
pub fn label(table: &TargetTable) -> String {
    let column = sql::quoted_exactly(&table.column().name);
    // A name can have the end of a line, behind which a comment would end.
    let name = format!("{}.{column}", table.quoted()).replace(char::is_control, " ");
    format!("{BEGIN}{name}")
}

/// Returns the blockers of columns whose foreign keys were dropped since a script has begun: its cleanup would leave them their
/// shadows, and the checks of a way back, which refuse new ids.
pub fn blockers(table: &TargetTable, label: &str) -> Vec<Blocker> {
    let query = include_str!("../../../../sql/adopt/convert_orphans.sql");
    let owner = pg_sys::Oid::from(table.owner);
    let first = DecodedText(format!("{label}\n"));
    let found: Option<Vec<String>> = sql::read_now(query, &[first.into(), owner.into()]);
    let found = found.unwrap_or_default().into_iter();
    found
        .map(|name| {
            Blocker::state(
                format!("column {name} has a shadow that no foreign key leads to"),
                "The key was dropped since its conversion began, whose cleanup would leave the shadow and its checks, which can refuse new ids.",
                "Add the key again, NOT VALID if need be, and drop it after the cleanup.",
            )
        })
        .collect()
}
