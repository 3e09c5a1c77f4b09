//! The documents: links, anchors and pictures lead somewhere, every page is in the index, and the README has the figures of the bench.

use mint_house::markdown::{Document, files};
use mint_house::repository;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Pages beside README.md.
const PAGES: [&str; 9] = [
    "README.md", "CONTRIBUTING.md", "RELEASE.md", "SECURITY.md", "CHANGELOG.md",
    "examples/decode/README.md", "examples/express/README.md", "examples/fastapi/README.md",
    "examples/redis/README.md",
];

/// Returns all pages, with those that the bench writes.
fn documents() -> Vec<Document> {
    let repository = repository();
    let mut paths: Vec<PathBuf> = PAGES.iter().map(|page| repository.join(page)).collect();
    paths.extend(files(&repository.join("docs"), "md"));
    paths.extend(files(&repository.join("bench/results"), "md"));
    let read = |path: &PathBuf| {
        Document::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    paths.iter().map(read).collect()
}

/// Returns a path as readers know it.
fn shown_path(path: &Path) -> String {
    let inside = path.strip_prefix(repository());
    inside.unwrap_or(path).display().to_string()
}

#[test]
fn links_and_anchors_lead_somewhere() {
    let documents = documents();
    let anchors: BTreeMap<&Path, BTreeSet<String>> = documents
        .iter()
        .map(|document| (document.path.as_path(), document.anchors()))
        .collect();
    let mut broken = Vec::new();
    let mut count = 0;
    for document in &documents {
        for link in document.links() {
            // An index has headings that lead nowhere. A page in the root links to pages of the forge, such as its form for
            // vulnerabilities, from where the forge shows the file.
            let is_of_forge =
                link.target.starts_with("../../") && document.path.parent() == Some(&repository());
            if link.target.contains("://") || link.target.is_empty() || is_of_forge {
                continue;
            }
            count += 1;
            let (file, anchor) = link.target.split_once('#').unwrap_or((&link.target, ""));
            let path = match file {
                "" => document.path.clone(),
                file => document.path.with_file_name(file),
            };
            let place = format!("{} links to {}", shown_path(&document.path), link.target);
            let Ok(path) = path.canonicalize() else {
                broken.push(place);
                continue;
            };
            let is_known = anchor.is_empty()
                || anchors
                    .get(path.as_path())
                    .is_some_and(|all| all.contains(anchor));
            if !is_known {
                broken.push(format!("{place}: no such heading"));
            }
        }
    }
    assert!(count > 500, "only {count} links were found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// A link to one of them leads to the first.
#[test]
fn headings_of_a_page_differ() {
    for document in documents() {
        let mut repeated = document.repeated_headings();
        // The changelog has the same parts in each version, and the reference a heading for each form of a function.
        let is_log = document.path.ends_with("CHANGELOG.md");
        let heading = repeated.find(|heading| !is_log && !heading.ends_with('`'));
        assert_eq!(heading, None, "{}", shown_path(&document.path));
    }
}

#[test]
fn pictures_are_used_and_described() {
    let repository = repository();
    let mut used = BTreeSet::new();
    for document in documents() {
        for link in document.links().iter().filter(|link| link.is_picture) {
            let path = document.path.with_file_name(&link.target);
            let place = format!("{}: picture {}", shown_path(&document.path), link.target);
            // The bench describes a picture by its title, below which the figures are.
            let is_of_bench = document.path.ends_with("bench/results/README.md");
            assert!(
                link.text.len() >= if is_of_bench { 10 } else { 20 },
                "{place} has no description"
            );
            let path = path.canonicalize();
            used.insert(path.unwrap_or_else(|error| panic!("{place}: {error}")));
        }
    }
    for picture in files(&repository.join("docs"), "svg") {
        let text = std::fs::read_to_string(&picture).expect("a picture");
        let name = shown_path(&picture);
        assert!(used.contains(&picture), "{name} is in no document");
        assert!(text.contains("viewBox="), "{name} does not scale");
        assert!(text.trim_end().ends_with("</svg>"), "{name} is not whole");
    }
    for picture in &used {
        let text = std::fs::read_to_string(picture).expect("a picture");
        let name = shown_path(picture);
        assert!(
            text.contains("prefers-color-scheme"),
            "{name} is always light"
        );
    }
    assert!(used.len() > 3, "{used:?}");
}

#[test]
fn every_page_is_in_the_index_and_reachable_from_the_readme() {
    let repository = repository();
    let documents = documents();
    let targets = |document: &Document| -> Vec<PathBuf> {
        let links = document.links().into_iter().filter(|link| {
            let file = link.target.split('#').next().unwrap_or_default();
            !link.target.contains("://")
                && Path::new(file).extension().is_some_and(|end| end == "md")
        });
        let path = |target: &str| {
            let file = target.split('#').next().unwrap_or_default();
            document.path.with_file_name(file).canonicalize().ok()
        };
        links.filter_map(|link| path(&link.target)).collect()
    };
    let find = |path: &Path| documents.iter().find(|document| document.path == path);
    let mut reached = vec![repository.join("README.md")];
    let mut place = 0;
    while let Some(path) = reached.get(place).cloned() {
        place += 1;
        for target in find(&path).map(&targets).unwrap_or_default() {
            if !reached.contains(&target) {
                reached.push(target);
            }
        }
    }
    let index = repository.join("docs/SUMMARY.md");
    let listed = targets(find(&index).expect("docs/SUMMARY.md"));
    for path in files(&repository.join("docs"), "md") {
        assert!(reached.contains(&path), "no way to {}", shown_path(&path));
        let is_of_contributors = path.starts_with(repository.join("docs/contributing"));
        let is_listed = listed.contains(&path) != is_of_contributors || path == index;
        assert!(is_listed, "docs/SUMMARY.md, {}", shown_path(&path));
    }
}

/// Pages for users have budgets, as a reader has an hour. Contributors read code as well.
#[test]
fn pages_have_at_most_their_words() {
    let read = |path: &Path| std::fs::read_to_string(path).expect("a document");
    let budgets = read(&repository().join("pg_test/house/words.txt"));
    let budgets: BTreeMap<&str, usize> = budgets
        .lines()
        .filter_map(|line| line.split_once(": "))
        .filter_map(|(name, most)| Some((name, most.parse().ok()?)))
        .collect();
    let mut pages = files(&repository().join("docs"), "md");
    pages.retain(|path| !path.starts_with(repository().join("docs/contributing")));
    pages.push(repository().join("README.md"));
    let count = |path: &PathBuf| (shown_path(path), read(path).split_whitespace().count());
    let counted: BTreeMap<String, usize> = pages.iter().map(count).collect();
    for (page, words) in &counted {
        let most = budgets.get(page.as_str()).copied().unwrap_or(0);
        assert!(
            *words <= most,
            "{page} has {words} words, not at most {most}"
        );
    }
    let all: usize = counted.values().sum();
    assert!(all <= budgets["all"], "{all} words");
    let is_gone = |name: &&&str| **name != "all" && !counted.contains_key(**name);
    assert_eq!(
        budgets.keys().find(is_gone),
        None,
        "a budget without a page"
    );
}

/// Folders whose paths documents name.
const FOLDERS_OF_PATHS: [&str; 5] = ["src/", "core/", "sql/", "pg_test/", "examples/"];

/// Returns the paths in backticks of a text, without the arguments of a command.
fn paths(text: &str) -> BTreeSet<&str> {
    let spans = text
        .lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2));
    let paths = spans.filter_map(|span| span.split_whitespace().next());
    paths
        .filter(|path| {
            FOLDERS_OF_PATHS
                .iter()
                .any(|folder| path.starts_with(folder))
        })
        .collect()
}

/// Paths with a part in capitals or an asterisk stand for several, as `sql/pg_mint--VERSION.sql`; RELEASE.md names files of
/// releases to come.
#[test]
fn paths_in_documents_exist() {
    let mut count = 0;
    let mut gone = Vec::new();
    for document in documents() {
        let text = std::fs::read_to_string(&document.path).expect("a document");
        for path in paths(&text) {
            let stands_for_several = path.contains(['*', '…']) || path.contains("pg_mint--");
            count += 1;
            if !stands_for_several && !repository().join(path).exists() {
                gone.push(format!("{} names {path}", shown_path(&document.path)));
            }
        }
    }
    assert!(count > 60, "only {count} paths were found");
    assert!(gone.is_empty(), "{}", gone.join("\n"));
}

/// Each entry of the code has a row in the map, and a place in its picture.
#[test]
fn the_map_is_whole() {
    let read = |path: &str| std::fs::read_to_string(repository().join(path)).expect("a file");
    let map = read("docs/contributing/architecture.md");
    let (tables, _) = map.split_once("## Where do I add").expect("a section");
    let words = map.split_whitespace().count();
    assert!(
        words < 2000,
        "architecture.md has {words} words: the rest is for design.md"
    );
    let cells = tables.lines().filter_map(|line| line.strip_prefix("| `"));
    let first_cells = cells.filter_map(|row| row.split(" | ").next());
    let rows: BTreeSet<&str> = first_cells
        .flat_map(|cell| cell.split("`, `"))
        .map(|path| path.trim_end_matches('`'))
        .collect();
    let picture = read("docs/img/architecture.svg");
    let words: BTreeSet<&str> = picture.split([' ', '<', '>', '/', '\n']).collect();
    for root in ["src", "core/src"] {
        let folder = std::fs::read_dir(repository().join(root)).expect("a folder of the code");
        for entry in folder {
            let name = entry.expect("an entry").file_name();
            let name = name.to_string_lossy();
            let path = format!("{root}/{name}");
            assert!(
                rows.contains(path.as_str()),
                "architecture.md has no row for {path}"
            );
            let is_drawn = words.contains(&*name) || words.contains(name.trim_end_matches(".rs"));
            assert!(
                is_drawn || path == "core/src/lib.rs",
                "architecture.svg has no place for {path}"
            );
        }
    }
    for root in ["core/src", "sql", "pg_test", "bench", "examples"] {
        assert!(rows.contains(root), "architecture.md has no row for {root}");
    }
}

/// Code and tables of the README fit a phone: 390 pixels, at 8 for a sign of a table.
#[test]
fn the_readme_needs_no_sideways_scrolling() {
    const LONGEST_CODE: usize = 56;
    const LONGEST_WORD: usize = 24;
    const WIDEST_ROW: usize = 34;
    let text = std::fs::read_to_string(repository().join("README.md")).expect("README.md");
    let mut is_code = false;
    let mut count = 0;
    for line in text.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if is_code {
            count += 1;
            assert!(line.chars().count() <= LONGEST_CODE, "too wide: {line}");
        } else if let Some(row) = line.strip_prefix("| ") {
            let longest = |cell: &str| {
                let words = cell
                    .split([' ', ']'])
                    .map(|word| word.trim_matches(['`', '[']));
                let shown = words.filter(|word| !word.starts_with('('));
                shown.map(str::len).max().unwrap_or(0)
            };
            let words: Vec<usize> = row.split(" | ").map(longest).collect();
            let widest = words.iter().max().copied().unwrap_or(0);
            assert!(widest <= LONGEST_WORD, "a word of {widest} signs: {line}");
            let sum: usize = words.iter().sum();
            assert!(sum <= WIDEST_ROW, "words of {sum} signs: {line}");
            count += 1;
        }
    }
    assert!(count > 30, "only {count} lines were found");
}

/// The figures in the text are those of the last run of the bench.
#[test]
fn the_readme_has_the_figures_of_the_bench() {
    let read = |path: &str| {
        let text = std::fs::read_to_string(repository().join(path));
        text.unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let calls = read("bench/results/per_call.csv");
    let mut rows = calls.lines().map(|line| {
        let cells = line.trim_matches('"').split("\",\"");
        cells.collect::<Vec<_>>()
    });
    let header = rows.next().expect("a header");
    let place = header.iter().position(|&name| name == "of nextval");
    let place = place.expect("a column of ratios");
    let figures: Vec<(&str, &str)> = rows.map(|cells| (cells[0], cells[place])).collect();
    assert!(figures.len() > 20, "only {} generators", figures.len());
    let readme = read("README.md")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let (_, picture) = readme
        .split_once("![Cost of a call, that of nextval as 1: ")
        .expect("a picture of the costs");
    let (costs, _) = picture.split_once(']').expect("its text");
    let costs: Vec<(&str, &str)> = costs
        .split(", ")
        .filter_map(|cost| cost.rsplit_once(' '))
        .collect();
    assert_eq!(costs.len(), 5, "generators in README.md");
    for cost in costs {
        assert!(
            figures.contains(&cost),
            "README.md has another {}: {}",
            cost.0,
            cost.1
        );
    }
}
