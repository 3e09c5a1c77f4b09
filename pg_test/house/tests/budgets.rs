//! The most lines of each room of the house, and of all: pg_test/house/budgets.txt.

use mint_house::repository;
use std::collections::BTreeMap;
use std::fs::{read_dir, read_to_string, write};
use std::path::{Path, PathBuf};

const FILE: &str = "pg_test/house/budgets.txt";
const CODE: &str = "src and core/src";

/// Numbers of lines by what has them.
type Lines = BTreeMap<String, usize>;

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = read_dir(folder).expect("a folder of the repository");
    entries.map(|entry| entry.expect("an entry of the folder").path())
}

/// Returns the text of the files that are a path, or below it, with these endings.
fn text(path: &Path, endings: &[&str]) -> String {
    if path.is_dir() {
        return entries(path).map(|path| text(&path, endings)).collect();
    }
    let ending = path.extension().unwrap_or_default();
    let is_counted = endings.iter().any(|one| ending == *one);
    let text = is_counted.then(|| read_to_string(path).expect("a file of the repository"));
    text.unwrap_or_default()
}

/// Returns the rooms: what src, core/src and sql consist of.
fn rooms() -> Lines {
    let mut rooms = Lines::new();
    for folder in ["core/src", "sql", "src"] {
        for path in entries(&repository().join(folder)) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let lines = text(&path, &["rs", "sql", "sh"]).lines().count();
            rooms.insert(format!("{folder}/{name}"), lines);
        }
    }
    rooms
}

fn totals(rooms: &Lines) -> Lines {
    let read = |path: &str, endings| text(&repository().join(path), endings);
    let code = read("core/src", &["rs"]) + &read("src", &["rs"]);
    let tests = ["core/tests", "core/fuzz"].map(|path| read(path, &["rs"]));
    let tests = tests.concat() + &read("pg_test", &["rs", "sql", "out", "spec"]);
    let is_script = |(name, _): &(&String, &usize)| name.starts_with("sql/pg_mint--");
    let scripts = rooms.iter().filter(is_script).map(|(_, lines)| lines);
    let is_wide = |line: &&str| line.chars().count() > 120;
    let totals = [
        (CODE, code.lines().count()),
        ("install script", scripts.sum()),
        ("tests", tests.lines().count()),
        (
            "wide lines of the code",
            code.lines().filter(is_wide).count(),
        ),
    ];
    totals.map(|(name, lines)| (name.to_owned(), lines)).into()
}

/// Returns what is over its budget, or has none, or is gone.
fn faults(budgets: &Lines, counted: &Lines) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, lines) in counted {
        match budgets.get(name) {
            Some(most) if lines <= most => {}
            Some(most) => faults.push(format!("{name}: {lines} lines, not more than {most}")),
            None => faults.push(format!("{name}: {lines} lines, and no budget")),
        }
    }
    let gone = budgets.keys().filter(|name| !counted.contains_key(*name));
    faults.extend(gone.map(|name| format!("{name}: a budget, and no lines")));
    let of_code = |name: &str| name.starts_with("src/") || name.starts_with("core/src/");
    let rooms = budgets.iter().filter(|(name, _)| of_code(name));
    let sum: usize = rooms.map(|(_, most)| most).sum();
    if sum > budgets[CODE] {
        faults.push(format!("{CODE}: the rooms have {sum}, more than the total"));
    }
    faults
}

#[test]
fn nothing_is_over_its_budget() {
    let path = repository().join(FILE);
    let mut file = read_to_string(&path).expect("the file of budgets");
    let rooms = rooms();
    if std::env::var_os("MINT_ROOMS").is_some() {
        let (totals, _) = file.split_once("\n\n").expect("a blank line");
        let new = rooms
            .iter()
            .map(|(name, lines)| format!("{name}: {lines}\n"));
        file = format!("{totals}\n\n{}", new.collect::<String>());
        write(&path, &file).expect("the file of budgets, written");
    }
    let of_line = |line: &str| {
        let (name, most) = line.rsplit_once(": ")?;
        Some((name.to_owned(), most.parse().expect("a number")))
    };
    let mut counted = totals(&rooms);
    counted.extend(rooms);
    let faults = faults(&file.lines().filter_map(of_line).collect(), &counted);
    assert!(
        faults.is_empty(),
        "{FILE}:\n{}\nNo commit raises a total, and a room grows only by what another one loses. \
         To count the rooms again: MINT_ROOMS=1 cargo test -p mint_house --test budgets",
        faults.join("\n")
    );
}
