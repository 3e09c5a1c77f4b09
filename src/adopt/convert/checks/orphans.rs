//! Columns that a script has lost sight of, or that another one has begun with.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::table::TargetTable;
use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;
use pgrx::pg_sys;
use serde::Deserialize;

#[derive(Deserialize)]
struct Orphan {
    /// The quoted name, with that of its table.
    name: String,
    /// The table of the other conversion.
    begun_by: Option<String>,
}

/// Returns the line with which the functions of the triggers begin that keep the shadows of columns equal which refer to this one:
/// by it they are found when no foreign key leads to them any more. The oid is right whatever the table is called now, the name
/// after a restore.
pub fn label(table: &TargetTable) -> String {
    let (oid, [column, of]) = (table.oid, names(table));
    format!("-- Of the conversion of table {oid}, {of}.{column}")
}

/// Returns the quoted names of the column and the table. They can have the end of a line, behind which a comment would end.
fn names(table: &TargetTable) -> [String; 2] {
    let column = sql::quoted_exactly(&table.column().name);
    [column, table.quoted()].map(|name| name.replace(char::is_control, " "))
}

/// Returns the blockers of columns that were lost since a script has begun: its cleanup would leave them their shadows, and the
/// checks of a way back, which refuse new ids. And those of shadows of another script, which it would take for its own.
pub fn blockers(table: &TargetTable) -> Vec<Blocker> {
    let query = include_str!("../../../../sql/adopt/convert_orphans.sql");
    let [oid, owner] = [table.oid, table.owner].map(pg_sys::Oid::from);
    let [column, of] = names(table);
    let name = DecodedText(format!("{of}.{column}"));
    let (tables, numbers): (Vec<pg_sys::Oid>, Vec<i16>) = table.columns().into_iter().unzip();
    let found: Option<Vec<Orphan>> = sql::read_now(
        query,
        &[
            oid.into(),
            DecodedText(column).into(),
            name.into(),
            owner.into(),
            tables.into(),
            numbers.into(),
        ],
    );
    let found = found.unwrap_or_default().into_iter();
    found.map(|orphan| orphan.blocker()).collect()
}

impl Orphan {
    fn blocker(&self) -> Blocker {
        let name = &self.name;
        if let Some(other) = &self.begun_by {
            return Blocker::state(
                format!("column {name} is in the conversion of table {other}"),
                "",
                "Run that script to its end, or take it back.",
            );
        }
        Blocker::state(
            format!("column {name} has a shadow that no foreign key leads to"),
            "The key was dropped, or the column renamed, since its conversion began, whose cleanup would leave the shadow and its checks, which can refuse new ids.",
            "Until the cleanup, add the key again, NOT VALID if need be, or rename the column back. If the table that the key led to does not exist, end the conversion by mint.convert_plan() of that column.",
        )
    }
}
