//! The table of the comparison in docs/compare.md.

use crate::report::{self, Results, number};
use std::fmt::Write;
use std::path::Path;

/// Returns what was measured beside other extensions on one version of PostgreSQL.
pub fn draw(results: &Path) -> String {
    if !results.join("README.md").exists() {
        return "Not measured.\n".to_owned();
    }
    let [calls, rows, order, crash] = ["calls", "rows", "order", "crash"]
        .map(|name| Results::read(results, &format!("{name}.csv")));
    let mut text = report::machine_of(results);
    text += "\n| Id | bytes | a call; of `nextval` is 1 | `COPY`; of an identity is 1 | million ids a second, 8 sessions | index / WAL, MB | out of order | twice: in two tables / after a crash |\n\
             |---|---:|---:|---:|---:|---:|---:|---:|\n";
    let copied = |id: &str| rows.cell(&[id], "copy s").parse::<f64>().ok();
    let identity = copied("identity").expect("the identity");
    for id in calls.first_cells() {
        let row = |table: &Results, column| table.cell(&[id], column).to_owned();
        let again = |column| row(&crash, column).parse::<u64>().ok();
        let both = |[one, two]: [String; 2]| {
            if one.is_empty() {
                one
            } else {
                format!("{one} / {two}")
            }
        };
        let after_crash = again("again, committed").zip(again("again, open"));
        let after_crash = after_crash.map_or("not measured".to_owned(), |(one, two)| {
            (one + two).to_string()
        });
        let cells = [
            row(&rows, "bytes"),
            number(row(&calls, "of nextval").parse().expect("a ratio")),
            copied(id).map_or_else(String::new, |seconds| format!("{:.1}", seconds / identity)),
            row(&calls, "million a second"),
            both([row(&rows, "index MB"), row(&rows, "WAL MB")]),
            row(&order, "lower"),
            both([row(&order, "in both tables"), after_crash]),
        ];
        let _ = writeln!(text, "| {id} | {} |", cells.join(" | "));
    }
    if results.join("missing.csv").exists() {
        let missing = Results::read(results, "missing.csv");
        for id in missing.first_cells() {
            let _ = writeln!(
                text,
                "\nNot measured: {id}: {}.",
                missing.cell(&[id], "reason")
            );
        }
    }
    text
}
