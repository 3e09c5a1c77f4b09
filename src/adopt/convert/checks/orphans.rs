//! Columns that a script has lost sight of, or that another one has begun with.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::table::TargetTable;
use crate::pg::catalog::sql;
use pgrx::pg_sys;
use serde::Deserialize;

#[derive(Deserialize)]
struct Orphan {
    /// The quoted name, with that of its table.
    name: String,
    /// The table of the other conversion.
    begun_by: Option<String>,
}

/// Returns the lines with which the functions of the triggers begin that keep the shadows of columns equal: by them they are found
/// when no foreign key leads to this column any more. The oid and the number are right whatever it is called now, the names after a
/// restore.
pub fn label(table: &TargetTable) -> String {
    let (oid, number) = (table.oid, table.column().number);
    // A comment would end behind the end of a line.
    let shown = |name: &str| name.replace(|c: char| c.is_ascii_control(), " ");
    let of = shown(&format!("{}.{}", table.schema, table.name));
    let column = shown(&table.column().name);
    format!("-- Of the conversion of table {oid}, {of}\n-- and of its column {number}, {column}")
}

/// Returns the blockers of columns that were lost since a script has begun: its cleanup would leave them their shadows, and the
/// checks of a way back, which refuse new ids. And those of shadows of another script, which it would take for its own.
pub fn blockers(table: &TargetTable) -> Vec<Blocker> {
    let query = include_str!("../../../../sql/adopt/convert_orphans.sql");
    let [oid, owner] = [table.oid, table.owner].map(pg_sys::Oid::from);
    let number = table.column().number;
    let (tables, numbers): (Vec<pg_sys::Oid>, Vec<i16>) = table.columns().into_iter().unzip();
    let found: Option<Vec<Orphan>> = sql::read_now(
        query,
        &[
            oid.into(),
            number.into(),
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
            "The key was dropped, or a column dropped or renamed, since its conversion began, whose cleanup would leave the shadow and its checks, which can refuse new ids.",
            "Until the cleanup, add the key again, NOT VALID if need be, or rename the column back. If the table that the key led to does not exist, or it leads to another one now, end the conversion by mint.convert_plan() of that column, which needs an index, without the phase \"default\". If the column was dropped, drop the function of its trigger \"~mint_copy_...\" with CASCADE, and its column \"mint_new_...\" or \"mint_old_...\".",
        )
    }
}
