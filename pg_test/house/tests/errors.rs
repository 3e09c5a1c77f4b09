//! The reference of errors: docs/reference/errors.md has messages of the code, and no other.

use mint_house::markdown::files;
use mint_house::repository;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the first cells of the tables, by the headings that they are under.
fn documented_errors() -> BTreeMap<String, BTreeSet<String>> {
    let page = repository().join("docs/reference/errors.md");
    let text = std::fs::read_to_string(page).expect("docs/reference/errors.md");
    let mut errors: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for section in text.split("\n## ").skip(1) {
        let (code, body) = section.split_once('\n').expect("a section has a text");
        let found = errors.entry(code.to_owned()).or_default();
        for row in body.lines().filter(|line| line.starts_with("| `")) {
            let (cell, _) = row[2..].split_once(" | ").expect("a row has two cells");
            let spans = cell.split('`').skip(1).step_by(2);
            found.extend(spans.map(str::to_owned));
        }
    }
    errors
}

/// Returns code whose literals are on one line each, without escapes of quotes.
fn without_breaks(code: &str) -> String {
    let mut parts = code.split("\\\n");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text += part.trim_start();
    }
    text.replace("\\\"", "\"")
}

/// Returns whether the parts of a message are in the code, each soon after the one before.
fn has_in_order<'a>(code: &str, mut parts: impl Iterator<Item = &'a str>) -> bool {
    /// A text that is filled in has a name or an expression of at most so many letters in between.
    const FILLED_IN: usize = 80;
    let first = parts.find(|part| !part.is_empty()).unwrap_or_default();
    let rest: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    code.match_indices(first).any(|(place, _)| {
        let mut after = &code[place + first.len()..];
        rest.iter().all(|part| {
            let mut end = after.len().min(FILLED_IN + part.len());
            while !after.is_char_boundary(end) {
                end -= 1;
            }
            let gap = after[..end].find(part);
            after = gap.map_or("", |gap| &after[gap + part.len()..]);
            gap.is_some()
        })
    })
}

/// Each reason for which there is no lease is on the page, by the longest part that is not filled in.
#[test]
fn the_reference_explains_why_there_is_no_lease() {
    let read = |path: &str| std::fs::read_to_string(repository().join(path)).expect("a file");
    let code = read("src/registry/member/trouble.rs").replace("\\\"", "");
    let texts = code.split('"').skip(1).step_by(2);
    let is_reason = |text: &&str| {
        text.starts_with(|sign: char| sign.is_lowercase()) && text.split(' ').count() > 3
    };
    let longest = |text: &'_ str| {
        let parts = text.split(['{', '}']).step_by(2).map(str::trim);
        parts.max_by_key(|part| part.len()).map(str::to_owned)
    };
    let reasons: BTreeSet<String> = texts.filter(is_reason).filter_map(longest).collect();
    let page = read("docs/reference/errors.md").replace(['`', '"'], "");
    let (_, section) = page
        .split_once("### Why there is no lease")
        .expect("a section");
    let (section, _) = section.split_once("\n#").expect("its end");
    assert!((6..=15).contains(&reasons.len()), "{reasons:?}");
    for reason in reasons {
        assert!(
            section.contains(&reason),
            "errors.md does not explain \"{reason}\""
        );
    }
}

/// The page has the messages that users meet. A message that the code has changed must change there.
#[test]
fn the_code_has_every_message_of_the_reference() {
    const FEWEST: usize = 40;
    let errors = documented_errors();
    let documented: BTreeSet<String> = errors.values().flatten().cloned().collect();
    assert!(documented.len() >= FEWEST, "only {documented:?}");
    let mut code = String::new();
    for (folder, ending) in [("src", "rs"), ("core/src", "rs"), ("sql", "sql")] {
        for path in files(&repository().join(folder), ending) {
            code += &std::fs::read_to_string(path).expect("a file of the code");
        }
    }
    let code = without_breaks(&code);
    let gone: Vec<&String> = documented
        .iter()
        .filter(|message| !has_in_order(&code, message.split('…')))
        .collect();
    assert!(
        gone.is_empty(),
        "errors.md has what the code lacks: {gone:#?}"
    );
}
