//! The figures in README.md and docs/, between marks: `<!-- bench NAME -->` and `<!-- /bench -->`.
//!
//! They are written from the results of a run, so that documents and results agree.

use crate::compare;
use crate::many::{members, word};
use crate::report::{self, Results, read};
use std::fmt::Write;
use std::path::Path;

const DOCUMENTS: [&str; 4] = [
    "README.md", "docs/explanation/leases.md", "docs/from/tidb.md", "docs/compare.md",
];

/// Each key of a table, and the generator of it.
const KEYS: [(&str, &str); 7] = [
    ("serial", "nextval"),
    ("snowflake", "snowflake_next_id"),
    ("snowflake, scattered", "snowflake_next_id, scattered"),
    ("uuid_v7", "uuid_v7"),
    ("objectid", "objectid"),
    ("uuid_v4", "uuid_v4"),
    ("gen_random_uuid", "gen_random_uuid"),
];

/// What users of TiDB compare: keys in order, scattered by digits, as text, and in partitions.
const SCATTERING: [(&str, &str); 7] = [
    ("serial", "nextval"),
    ("snowflake", "snowflake_next_id"),
    ("snowflake, scattered", "snowflake_next_id, scattered"),
    (
        "snowflake, 2 digits scattered",
        "snowflake_next_id, scattered",
    ),
    (
        "snowflake, 3 digits scattered",
        "snowflake_next_id, scattered",
    ),
    ("snowflake as text", "snowflake_next_id"),
    ("snowflake, 16 hash partitions", "snowflake_next_id"),
];

/// Rewrites the text between the marks of every document.
pub fn refresh(results: &Path) {
    let repository = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    for name in DOCUMENTS {
        let place = repository.join(name);
        let before = read(&place);
        let after = filled(&before, results);
        if after != before {
            std::fs::write(&place, after).expect("a document can be written");
            report::progress(&format!("new figures in {name}"));
        }
    }
}

/// Returns the document with new text between its marks.
fn filled(document: &str, results: &Path) -> String {
    const BEGIN: &str = "<!-- bench ";
    const END: &str = "<!-- /bench -->";
    let mut parts = document.split(BEGIN);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->").expect("a mark has an end");
        let (_, after) = rest.split_once(END).expect("a mark is closed");
        let figures = match name {
            "machine" => report::machine_of(results),
            "compare 18" => compare::draw(&results.join("compare/18")),
            "compare 19" => compare::draw(&results.join("compare/19")),
            "keys" => keys(results, &KEYS, true),
            "figures" => figures(results),
            "word" => word::draw(results),
            "members" => members::draw(results),
            "members_size" => Results::read(results, "members_size.csv").markdown(),
            "scattering" => keys(results, &SCATTERING, false),
            other => panic!("there is no bench {other}"),
        };
        let _ = write!(text, "{BEGIN}{name} -->\n{figures}{END}{after}");
    }
    text
}

fn keys(results: &Path, keys: &[(&str, &str)], with_calls: bool) -> String {
    let calls = Results::read(results, "per_call.csv");
    let tables = Results::read(results, "tables.csv");
    let scans = Results::read(results, "scans.csv");
    let rows = tables.cell(&[keys[0].0], "rows");
    let [calls_title, calls_line] = if with_calls {
        [" a call, ns |", "---:|"]
    } else {
        ["", ""]
    };
    let mut text = format!(
        "| Key |{calls_title} INSERT of {rows} rows, s | index, MB | WAL, MB | newest 1 % by the key, ms | by time, ms |\n\
         |---|{calls_line}---:|---:|---:|---:|---:|\n"
    );
    for (key, generator) in keys {
        let table = |column| tables.cell(&[key], column);
        let scan = |by| scans.cell(&[key, by], "ms");
        let call = if with_calls {
            format!(" {} |", calls.cell(&[generator], "ns"))
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "| {key} |{call} {} | {} | {} | {} | {} |",
            table("seconds"),
            table("key's index MB"),
            table("WAL MB"),
            scan("the key"),
            scan("the timestamp"),
        );
    }
    text
}

/// Returns the figures of README.md: a row for each generator, as narrow as a phone.
fn figures(results: &Path) -> String {
    const GENERATORS: [(&str, &str, &str, &str); 3] = [
        (
            "snowflake", "snowflake_next_id", "snowflake, a lane each", "snowflake",
        ),
        ("sequence", "nextval", "nextval", "serial"),
        (
            "random UUID", "gen_random_uuid", "gen_random_uuid", "gen_random_uuid",
        ),
    ];
    let calls = Results::read(results, "per_call.csv");
    let sessions = Results::read(results, "sessions.csv");
    let tables = Results::read(results, "tables.csv");
    let rows = tables.cell(&["snowflake"], "rows");
    let rows: f64 = rows.parse().expect("a number of rows");
    let mut text = format!(
        "| Generator | ns per call | million per second, 8 sessions | MB of index, {} million rows |\n\
         |---|---:|---:|---:|\n",
        rows / 1e6
    );
    for (name, call, session, key) in GENERATORS {
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} |",
            calls.cell(&[call], "ns"),
            sessions.cell(&[session], "8"),
            tables.cell(&[key], "key's index MB"),
        );
    }
    text
}
