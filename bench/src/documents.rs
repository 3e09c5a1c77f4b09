//! The figures in README.md and docs/, between marks: `<!-- bench NAME -->` and `<!-- /bench -->`.
//!
//! They are written from the results of a run, so that documents and results agree.

use crate::candidates::QUICK_START;
use crate::many::sessions::ONE_IN_A_QUERY;
use crate::many::word;
use crate::report::{self, Results, read};
use crate::tables::bulk;
use crate::{compare, per_call};
use std::fmt::Write;
use std::path::Path;

const DOCUMENTS: [&str; 4] = [
    "README.md", "docs/contributing/scale.md", "docs/compare.md", "docs/faq.md",
];

/// Rewrites the text between the marks of every document.
pub fn refresh(results: &Path) {
    let repository = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    for name in DOCUMENTS {
        let place = repository.join(name);
        let before = read(&place);
        let after = filled_document(&before, results);
        if after != before {
            std::fs::write(&place, after).expect("a document can be written");
            report::progress(&format!("new figures in {name}"));
        }
    }
}

/// Returns the document with new text between its marks.
fn filled_document(document: &str, results: &Path) -> String {
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
            "cost" => per_call::draw(results, 0),
            "cost in docs" => per_call::draw(results, 1),
            "bulk" => bulk::draw(results),
            "figures" => figures(results),
            "word" => word::draw(results),
            "client" => client(results),
            other => panic!("there is no bench {other}"),
        };
        let _ = write!(text, "{BEGIN}{name} -->\n{figures}{END}{after}");
    }
    text
}

/// Returns the figures of README.md.
fn figures(results: &Path) -> String {
    let calls = Results::read(results, "per_call.csv");
    let tables = Results::read(results, "tables.csv");
    let bulk = Results::read(results, "bulk.csv");
    let generators = [QUICK_START, "nextval", "gen_random_uuid"];
    let row = |cell: &dyn Fn(&'static str) -> String| generators.map(cell).join(" | ");
    let call = row(&|generator| calls.cell(&[generator], "of nextval").to_owned());
    let insert = row(&|generator| {
        let to = bulk.cell(&["INSERT ... SELECT", generator], "of generate_series");
        to.to_owned()
    });
    let keys = ["snowflake", "serial", "gen_random_uuid"];
    let index = keys.map(|key| tables.cell(&[key], "key's index MB"));
    format!(
        "| Figure | snowflake | sequence | random UUID |\n\
         |---|---:|---:|---:|\n\
         | duration of a call, that of a sequence as 1 | {call} |\n\
         | `INSERT ... SELECT` of {} rows; that with `generate_series` as 1 | {insert} |\n\
         | index of {} rows, MB | {} |\n",
        bulk.cell(&["INSERT ... SELECT"], "rows"),
        tables.cell(&["snowflake"], "rows"),
        index.join(" | "),
    )
}

/// Returns how many ids programs get that ask for one at a time.
fn client(results: &Path) -> String {
    let sessions = Results::read(results, "sessions.csv");
    let rate = |clients| {
        let million: f64 = sessions
            .cell(&[ONE_IN_A_QUERY], clients)
            .parse()
            .unwrap_or_default();
        format!("{:.0} thousand", million * 1e3)
    };
    format!(
        "A client that asks for one id in a query gets {} a second, and eight clients {}.\n",
        rate("1"),
        rate("8")
    )
}

#[cfg(test)]
mod tests {
    use super::{DOCUMENTS, filled_document};
    use crate::report::read;
    use std::fs;
    use std::path::Path;

    /// Copies files of results, of which figures are made: charts are drawn beside them.
    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).expect("a folder");
        for entry in fs::read_dir(from).expect("results") {
            let path = entry.expect("a file of the results").path();
            let to = to.join(path.file_name().expect("its name"));
            if path.is_dir() {
                copy(&path, &to);
            } else {
                fs::copy(&path, to).expect("a copy");
            }
        }
    }

    #[test]
    fn the_documents_have_the_figures_of_the_results() {
        let repository = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let results = std::env::temp_dir().join(format!("mint_bench.{}", std::process::id()));
        copy(&repository.join("bench/results"), &results);
        for name in DOCUMENTS {
            let document = read(&repository.join(name));
            assert!(
                filled_document(&document, &results) == document,
                "{name} has other figures: make bench BENCH=documents"
            );
        }
        fs::remove_dir_all(&results).expect("the copy goes");
    }
}
