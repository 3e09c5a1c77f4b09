//! The table of the comparison in docs/compare.md.

use crate::report::{self, Results, number};
use std::fmt::Write;
use std::path::Path;

/// Returns the costs that were measured beside other extensions on one version of PostgreSQL.
pub fn draw(results: &Path) -> String {
    if !results.join("README.md").exists() {
        return "Not measured.\n".to_owned();
    }
    let [calls, rows] =
        ["calls", "rows"].map(|name| Results::read(results, &format!("{name}.csv")));
    let mut text = report::machine_of(results);
    text += "\n| Id | a call; of `nextval` is 1 | index, MB |\n|---|---:|---:|\n";
    for id in calls.first_cells() {
        let call = number(calls.cell(&[id], "of nextval").parse().expect("a ratio"));
        let _ = writeln!(text, "| {id} | {call} | {} |", rows.cell(&[id], "index MB"));
    }
    text
}
