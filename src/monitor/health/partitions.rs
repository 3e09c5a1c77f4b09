//! The check of tables whose partitions are maintained.

use crate::adopt::partition::register::{self, Registered, Supply};
use crate::monitor::health::finding::{Finding, Status};

/// The most owners that the check names.
const SHOWN: usize = 5;

/// Returns whether each registered table has at least half of the partitions that it is to have ahead. Every owner of a table can
/// register it, and let it run out, so that this is never critical. It names one table of each owner, so that no owner hides the tables of another.
pub fn partitions() -> Finding {
    let all = register::all();
    if all.is_empty() {
        return Finding::ok(
            "No table of this database is registered for the maintenance of its partitions.",
        );
    }
    let count = all.len();
    let states = all.into_iter().map(|row| (row.state(), row));
    let late: Vec<(Registered, String)> = states
        .filter_map(|(state, row)| problem(&row, state).map(|text| (row, text)))
        .collect();
    let detail = if late.is_empty() {
        format!("Registered tables with enough partitions ahead: {count}.")
    } else {
        describe(&late)
    };
    Finding::ok(detail)
        .measured(late.len() as f64, 1.0, "tables")
        .with(
            Status::Warning.when(!late.is_empty()),
            "Check that mint.partition_maintain_all() is called regularly, and its warnings. mint.partitions shows the tables.",
        )
}

/// Returns what is wrong with a table, if it is.
fn problem(row: &Registered, state: Result<Option<Supply>, String>) -> Option<String> {
    match state {
        Err(problem) => Some(problem),
        Ok(Some(supply)) if supply.ahead < 0 => {
            Some("The current partition is missing.".to_owned())
        }
        Ok(Some(supply)) if 2 * supply.ahead < row.ahead.into() => Some(format!(
            "It has {} of {} partitions after the current one.",
            supply.ahead, row.ahead
        )),
        Ok(_) => None,
    }
}

fn describe(late: &[(Registered, String)]) -> String {
    let mut owners: Vec<&str> = Vec::new();
    let mut text = Vec::new();
    for (row, problem) in late {
        if owners.contains(&row.owner.as_str()) {
            continue;
        }
        owners.push(&row.owner);
        if owners.len() <= SHOWN {
            text.push(format!(
                "Table {} of role \"{}\": {problem}",
                row.name(),
                row.owner
            ));
        }
    }
    let further = late.len() - text.len();
    if further > 0 {
        text.push(format!("{further} more are in mint.partitions."));
    }
    text.join(" ")
}
