//! Each promise of the documents names the tests that hold it: pg_test/house/promises.txt.

use mint_house::markdown::without_blocks;
use mint_house::repository;
use std::fs::read_to_string;

const FILE: &str = "pg_test/house/promises.txt";
/// The number of promises that have `none` in place of a test. It only falls.
const OPEN: usize = 2;
const ROOTS: [&str; 3] = ["core/tests", "pg_test/cluster/tests/stories", "pg_test"];

/// Returns a text whose spaces and ends of lines are single spaces.
fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words
        .flat_map(str::split_whitespace)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the text below each heading of a page or of one of its sections, each row of a table, and the first line of each
/// item that begins with code. Signatures of functions are left out: readme.rs compares them with the catalog.
fn units(page: &str) -> Vec<String> {
    let (path, section) = page.split_once('#').unwrap_or((page, ""));
    let text = read_to_string(repository().join(path)).expect("a page of the documents");
    let (mut units, mut below, mut before) = (Vec::new(), Vec::new(), "");
    let mut is_section = section.is_empty();
    for line in without_blocks(&text).into_iter().chain(["## end"]) {
        if line.starts_with('#') {
            units.push(joined(below.drain(..)));
        }
        if let (Some(title), false) = (line.strip_prefix("## "), section.is_empty()) {
            is_section = title.to_lowercase().replace(' ', "-") == section;
        }
        let is_signature = line.starts_with("- `") && line.contains("` → ");
        if is_section && !is_signature && !line.starts_with('#') {
            below.push(line);
            let is_row = line.starts_with("| ") && before.starts_with('|');
            if is_row || line.starts_with("- `") {
                units.push(joined([line].into_iter()));
            }
        }
        before = line;
    }
    units.retain(|unit| !unit.is_empty());
    units
}

/// Returns whether a test is there: a file, and a function of it where one is named.
fn is_there(test: &str) -> bool {
    let (path, name) = test.split_once("::").unwrap_or((test, ""));
    ROOTS.iter().any(|root| {
        let text = read_to_string(repository().join(root).join(path));
        text.is_ok_and(|text| text.contains(&format!("fn {name}(")) || name.is_empty())
    })
}

#[test]
fn promises_name_their_tests() {
    let file = read_to_string(repository().join(FILE)).expect("the promises");
    let (mut bad, mut open) = (Vec::new(), 0);
    let (_, pages) = file.split_once("\n\n").expect("an introduction and pages");
    for page in pages.split("\n\n") {
        let mut lines = page.lines();
        let page = lines.next().unwrap_or_default();
        let units = units(page);
        let promises = lines.map(|line| line.rsplit_once(" | ").unwrap_or((line, "")));
        let promises: Vec<(&str, &str)> = promises.collect();
        for (promise, tests) in &promises {
            if !units.iter().any(|unit| unit.contains(promise)) {
                bad.push(format!("{page} does not say: {promise}"));
            }
            open += usize::from(*tests == "none");
            let missing = tests
                .split(' ')
                .filter(|test| *test != "none" && !is_there(test));
            bad.extend(missing.map(|test| format!("{promise}: there is no test {test}")));
        }
        let is_held = |unit: &&String| promises.iter().any(|(promise, _)| unit.contains(promise));
        // An introduction is here only if it promises something.
        let introductions = usize::from(!page.contains('#'));
        let missing = units[introductions..].iter().filter(|unit| !is_held(unit));
        bad.extend(missing.map(|unit| format!("{page}: no promise is of: {unit:.120}")));
    }
    assert_eq!(open, OPEN, "{FILE}: promises without a test");
    assert!(bad.is_empty(), "{}:\n{}", FILE, bad.join("\n"));
}
