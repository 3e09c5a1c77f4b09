//! The code on the pages on programs is in the projects that they link, which `make drivers` runs.

use mint_house::repository;
use std::path::Path;

/// Pages with tables whose last column is the project.
const PAGES: [&str; 2] = ["docs/guides/programs.md", "docs/guides/json-and-urls.md"];

/// The text of such a cell where there is no project.
const NONE: &str = "not run";

fn without_spaces(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Returns the texts of a file, or of all files of a folder that are not installed there, without spaces.
fn texts(path: &Path) -> String {
    if path.is_file() {
        return without_spaces(&std::fs::read_to_string(path).unwrap_or_default());
    }
    let folder = std::fs::read_dir(path).expect("a folder of a project");
    let entries = folder.map(|entry| entry.expect("an entry").path());
    let ours = entries.filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        !name.starts_with('.') && name != "node_modules" && name != "README.md"
    });
    ours.map(|path| texts(&path) + "\n").collect()
}

/// Returns the pieces of code of a cell, with one backtick or two.
fn codes(cell: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = cell;
    while let Some(start) = rest.find('`') {
        let ticks = rest[start..]
            .chars()
            .take_while(|sign| *sign == '`')
            .count();
        let mark = "`".repeat(ticks);
        let inside = &rest[start + ticks..];
        let end = inside.find(&mark).expect("code has an end");
        found.push(inside[..end].replace("\\|", "|"));
        rest = &inside[end + ticks..];
    }
    found
}

/// Returns whether a text has the code; three dots are for anything.
fn has(text: &str, code: &str) -> bool {
    let mut rest = text;
    code.split("...").map(without_spaces).all(|part| {
        let found = rest.find(&part);
        rest = found.map_or("", |place| &rest[place + part.len()..]);
        found.is_some()
    })
}

#[test]
fn what_a_page_tells_to_write_is_in_the_project() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in PAGES {
        let page = repository().join(page);
        let text = std::fs::read_to_string(&page).expect("a page");
        let mut has_projects = false;
        for line in text.lines() {
            has_projects = line.starts_with('|') && (has_projects || line.ends_with("| Project |"));
            let row = line.trim_matches(['|', ' ']);
            if !has_projects || row.ends_with("Project") || row.starts_with("---") {
                continue;
            }
            let (cells, project) = row.rsplit_once(" | ").expect("a row has cells");
            if project == NONE {
                continue;
            }
            let (program, cells) = cells.split_once(" | ").expect("a row has cells");
            let targets = project.split("](").skip(1);
            let paths = targets.filter_map(|target| target.split(')').next());
            let texts: Vec<String> = paths
                .map(|path| texts(&page.with_file_name(path)))
                .collect();
            assert!(
                !texts.is_empty(),
                "{program}: neither a link nor \"{NONE}\""
            );
            for code in codes(cells) {
                count += 1;
                if !texts.iter().any(|text| has(text, &code)) {
                    wrong.push(format!("{program}: {project} lacks {code}"));
                }
            }
        }
    }
    assert!(count > 12, "only {count} pieces of code were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
