//! Statements that insert or change many rows at once, beside the same with numbers of `generate_series`.

use crate::candidates::{Candidate, QUICK_START};
use crate::per_call;
use crate::report::{self, Report, Results, Table, number};
use crate::scale::Scale;
use crate::stats::{Spread, ratio};
use mint_cluster::{Server, Session};
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

const STATEMENTS: [&str; 6] = [
    "COPY", "COPY and INSERT ... SELECT", "INSERT ... SELECT", "UPDATE", "VALUES",
    "VALUES (DEFAULT, ...)",
];
/// Rows of a statement with VALUES.
const VALUES: u32 = 1_000;
/// The default of the column: none where the statement has numbers in order itself.
const IDS: [(&str, &str, Option<&str>); 5] = [
    ("generate_series", "bigint", None),
    (QUICK_START, "bigint", Some(QUICK_START)),
    (
        "snowflake_next_id(5, 'twitter')",
        "bigint",
        Some("snowflake_next_id(5, 'twitter')"),
    ),
    ("nextval", "bigint", Some("nextval('bench_plain')")),
    ("uuid_v7", "uuid", Some("uuid_v7()")),
];

/// Seconds of each round, by statement.
type Taken = [Vec<f64>; STATEMENTS.len()];

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    let rows: u32 = scale.pick(5_000_000, 200_000);
    let rounds = scale.pick(IDS.len(), 2);
    let mut session = server.connect("postgres");
    // First, while the shard of the default layout has all of the ids ahead of the clock.
    let calls: Vec<Candidate> = IDS[1..]
        .iter()
        .filter_map(|&(name, _, call)| Some(Candidate::ours(name, call?)))
        .collect();
    let costs = per_call::net(&mut session, &calls, scale.pick(200_000, 50_000), 7);
    let folder: String = session.one("SELECT current_setting('data_directory')");
    for (file, columns) in [("both", "n, n"), ("one", "n")] {
        session.run(&format!(
            "COPY (SELECT {columns} FROM generate_series(1, {rows}) AS n) TO '{folder}/bench_{file}'"
        ));
    }
    let mut taken: [Taken; IDS.len()] =
        std::array::from_fn(|_| std::array::from_fn(|_| Vec::new()));
    for round in 0..rounds {
        for turn in 0..IDS.len() {
            // Each is the first of a round, if there are as many.
            let place = (turn + round) % IDS.len();
            report::progress(&format!(
                "  round {} of {rounds}: {}",
                round + 1,
                IDS[place].0
            ));
            let seconds = statements(&mut session, place, rows, &folder);
            for (taken, seconds) in taken[place].iter_mut().zip(seconds) {
                taken.push(seconds);
            }
        }
    }
    for file in ["both", "one"] {
        let _ = std::fs::remove_file(format!("{folder}/bench_{file}"));
    }
    let mut table = Table::new(
        "bulk",
        "Many rows in one statement",
        &format!(
            "{rows} rows of (id, bigint) in a logged table with the id as its primary key, beside the same statement with \
             the numbers 1 to {rows} as ids, which are in the file of `COPY` and in the rows of `VALUES` ({VALUES} rows a \
             statement). Other ids are the default of a column that the statement leaves out, or for which each of its rows \
             has `DEFAULT`. `COPY and INSERT ... SELECT` copies the file into a temporary table without defaults, and its rows \
             from there. `UPDATE` gives each row a new id; a number is the old one plus {rows}. With calls: beside that statement and the cost of so many calls, \
             measured in this run. Ratios are those of a round; the median of {rounds}. A shard of the default layout has \
             1,024,000 ids a second, and those of 2 s ahead of the clock."
        ),
        &[
            "statement", "id", "rows", "of generate_series", "with calls", "seconds", "±",
        ],
    );
    for (place, statement) in STATEMENTS.into_iter().enumerate() {
        let base = &taken[0][place];
        for (id, (name, ..)) in IDS.into_iter().enumerate() {
            let seconds = &taken[id][place];
            let calls = id.checked_sub(1).map_or(0.0, |id| costs[id].at_most());
            let with_calls: Vec<f64> = base
                .iter()
                .map(|base| base + f64::from(rows) * calls / 1e9)
                .collect();
            let spread = Spread::of(seconds);
            table.row(&[
                statement.to_owned(),
                name.to_owned(),
                rows.to_string(),
                format!("{:.2}", ratio(seconds, base).median),
                format!("{:.2}", ratio(seconds, &with_calls).median),
                number(spread.median),
                number(spread.noise()),
            ]);
        }
    }
    report.add(table);
}

/// Returns the seconds of each statement with a kind of id.
fn statements(
    session: &mut Session,
    place: usize,
    rows: u32,
    folder: &str,
) -> [f64; STATEMENTS.len()] {
    let (_, column, call) = IDS[place];
    let default = call.map_or(String::new(), |call| format!("DEFAULT {call}"));
    session.run(&format!(
        "DROP TABLE IF EXISTS bench_bulk; CREATE TABLE bench_bulk (id {column} PRIMARY KEY {default}, n bigint)"
    ));
    let [copy, stage, staged, select, update] = match call {
        None => [
            format!("COPY bench_bulk FROM '{folder}/bench_both'"),
            format!("COPY bench_staged FROM '{folder}/bench_both'"),
            "INSERT INTO bench_bulk SELECT id, n FROM bench_staged".to_owned(),
            format!("INSERT INTO bench_bulk SELECT n, n FROM generate_series(1, {rows}) AS n"),
            format!("UPDATE bench_bulk SET id = id + {rows}"),
        ],
        Some(call) => [
            format!("COPY bench_bulk (n) FROM '{folder}/bench_one'"),
            format!("COPY bench_staged (n) FROM '{folder}/bench_one'"),
            "INSERT INTO bench_bulk (n) SELECT n FROM bench_staged".to_owned(),
            format!("INSERT INTO bench_bulk (n) SELECT n FROM generate_series(1, {rows}) AS n"),
            format!("UPDATE bench_bulk SET id = {call}"),
        ],
    };
    let mut timed = |statement: &str| {
        let began = Instant::now();
        session.run(statement);
        began.elapsed().as_secs_f64()
    };
    // Pages of earlier statements must not be written during a statement that is measured.
    timed("CHECKPOINT");
    let copied = timed(&copy);
    timed("TRUNCATE bench_bulk; CREATE TEMP TABLE bench_staged (id bigint, n bigint)");
    timed("CHECKPOINT");
    let staged = timed(&stage) + timed(&staged);
    timed("DROP TABLE bench_staged; TRUNCATE bench_bulk");
    timed("CHECKPOINT");
    let selected = timed(&select);
    timed("CHECKPOINT");
    let updated = timed(&update);
    let mut inserted = |columns: &str, row: &dyn Fn(u32) -> String| -> f64 {
        timed("TRUNCATE bench_bulk");
        timed("CHECKPOINT");
        let insert = |first| {
            let values: Vec<String> = (first + 1..=first + VALUES).map(row).collect();
            let values = values.join(", ");
            timed(&format!("INSERT INTO bench_bulk {columns} VALUES {values}"))
        };
        (0..rows).step_by(VALUES as usize).map(insert).sum()
    };
    let [left_out, named] = match call {
        None => [(); 2].map(|()| inserted("(id, n)", &|n| format!("({n}, {n})"))),
        Some(_) => [
            inserted("(n)", &|n| format!("({n})")),
            inserted("(id, n)", &|n| format!("(DEFAULT, {n})")),
        ],
    };
    session.run("DROP TABLE bench_bulk");
    [copied, staged, selected, updated, left_out, named]
}

/// Returns the ratios as the table of the documents, and what a temporary table costs beside `COPY`.
pub fn draw(results: &Path) -> String {
    let recorded = Results::read(results, "bulk.csv");
    let mut text = "| Id | `COPY` | `INSERT ... SELECT` |\n|---|---:|---:|\n".to_owned();
    for (name, ..) in IDS {
        let cell = |statement| recorded.cell(&[statement, name], "of generate_series");
        let [copy, insert] = ["COPY", "INSERT ... SELECT"].map(cell);
        let _ = writeln!(text, "| `{name}` | {copy} | {insert} |");
    }
    let seconds = |statement| -> f64 {
        let cell = recorded.cell(&[statement, QUICK_START], "seconds");
        cell.parse().unwrap_or_default()
    };
    let staged = seconds("COPY and INSERT ... SELECT") / seconds("COPY");
    let _ = writeln!(
        text,
        "\nBy `COPY` into a temporary table without a default, and `INSERT ... SELECT` from there,\nthe rows with \
         `{QUICK_START}` take {staged:.2} times as long as by `COPY`."
    );
    text
}
