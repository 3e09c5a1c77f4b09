//! The SQL files behind pgrx's functions: each file comes after the functions that it names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{Visit, visit_item_fn};
use syn::{ItemFn, Macro, Meta};

/// What is read of the Rust files.
#[derive(Default)]
struct Reader {
    file: PathBuf,
    /// The Rust functions behind an SQL name.
    functions: BTreeMap<String, BTreeSet<String>>,
    mounts: Vec<Mount>,
}

/// One `extension_sql_file!`.
struct Mount {
    name: String,
    sql: PathBuf,
    /// Functions, and other mounts in quotes.
    requires: BTreeSet<String>,
}

/// Returns the text between the first `before` and the next `after`.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    Some(rest.split_once(after)?.0)
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        let ident = function.sig.ident.to_string();
        for attribute in &function.attrs {
            if !attribute.path().is_ident("pg_extern") {
                continue;
            }
            let arguments = match &attribute.meta {
                Meta::List(list) => list.tokens.to_string(),
                _ => String::new(),
            };
            let name = between(&arguments, "name = \"", "\"").unwrap_or(&ident);
            let functions = self.functions.entry(name.to_owned()).or_default();
            functions.insert(ident.clone());
        }
        visit_item_fn(self, function);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        let is_mount = |segment: &syn::PathSegment| segment.ident == "extension_sql_file";
        if !call.path.segments.last().is_some_and(is_mount) {
            return;
        }
        let tokens = call.tokens.to_string();
        let path = between(&tokens, "\"", "\"").expect("the path of an SQL file");
        let required = between(&tokens, "requires = [", "]").unwrap_or_default();
        self.mounts.push(Mount {
            name: between(&tokens, "name = \"", "\"")
                .unwrap_or(path)
                .to_owned(),
            sql: self.file.with_file_name("").join(path),
            requires: required
                .split(',')
                .map(|item| item.trim().to_owned())
                .collect(),
        });
    }
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the extension") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// Returns the names that an SQL text calls or comments on: words before a parenthesis, outside of comments.
fn names(sql: &str) -> BTreeSet<String> {
    let code: Vec<&str> = sql
        .lines()
        .map(|line| line.split_once("--").map_or(line, |(code, _)| code))
        .collect();
    let code = code.join("\n");
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    code.match_indices('(')
        .map(|(end, _)| code[..end].rsplit(|character| !is_word(character)).next())
        .filter_map(|name| name.map(str::to_owned))
        .collect()
}

#[test]
fn sql_comes_after_the_functions_that_it_names() {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo names the package's directory");
    let root = Path::new(&here).join("../../src");
    let mut files = Vec::new();
    rust_files(&root, &mut files);
    let mut reader = Reader::default();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a Rust file");
        reader.file.clone_from(&file);
        reader.visit_file(
            &syn::parse_file(&text).unwrap_or_else(|error| panic!("{file:?}: {error}")),
        );
    }
    assert!(
        reader.mounts.len() > 20,
        "{} SQL files",
        reader.mounts.len()
    );
    let mut missing = Vec::new();
    for mount in &reader.mounts {
        let sql = std::fs::read_to_string(&mount.sql).expect("an SQL file");
        let earlier = closure(mount, &reader.mounts);
        for name in names(&sql) {
            if let Some(functions) = reader.functions.get(&name)
                && functions.is_disjoint(&earlier)
            {
                missing.push(format!("{} names {name}", mount.name));
            }
        }
    }
    assert!(
        missing.is_empty(),
        "not in `requires`:\n{}",
        missing.join("\n")
    );
}

/// Returns what comes before an SQL file: what it requires, and what the SQL files among that require.
fn closure(mount: &Mount, all: &[Mount]) -> BTreeSet<String> {
    let mut found = mount.requires.clone();
    for other in all {
        if mount.requires.contains(&format!("\"{}\"", other.name)) {
            found.extend(closure(other, all));
        }
    }
    found
}

#[test]
fn the_reader_of_sql_finds_names() {
    let sql = "COMMENT ON FUNCTION a(bigint) IS 'x'; -- b()\nSELECT c (1), mint.d(2) FROM e;";
    let expected = ["a", "", "d"].map(str::to_owned);
    assert_eq!(names(sql), BTreeSet::from(expected));
}
