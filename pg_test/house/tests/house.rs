//! The layout of the code: imports run one way, files and folders are small, and unsafe code is in src/pg.

use mint_house::Crate;
use std::collections::BTreeMap;
use std::path::Path;

/// The folders of code to check.
const ROOTS: [&str; 4] = ["core/src", "src", "pg_test/cluster/src", "bench/src"];

fn read(root: &str) -> Crate {
    // Read at run time, as checkouts that share a target directory share this program.
    let here = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo names the package's directory");
    let path = Path::new(&here).join("../..").join(root);
    Crate::read(&path).unwrap_or_else(|error| panic!("{root}: {error}"))
}

#[test]
fn imports_run_one_way() {
    for root in ROOTS {
        let circles = read(root).circles();
        assert!(circles.is_empty(), "{root}:\n{}", circles.join("\n"));
    }
}

/// pg lends what the server has, the ideas use it, the registry uses the ideas, and lib.rs uses all.
#[test]
fn the_floors_of_the_extension_are_these() {
    let floor = |entry: &str| match entry {
        "pg" => 0,
        "snowflake" | "uuid" | "objectid" | "counter" | "codec" => 1,
        "registry" => 2,
        "lib.rs" => 3,
        other => panic!("{other} has no floor yet: add it here"),
    };
    for (entry, imports) in read("src").entries("") {
        for (other, (file, imported)) in imports {
            assert!(
                floor(&other) <= floor(&entry),
                "{file} imports {imported}, which is above it"
            );
        }
    }
}

#[test]
fn files_have_under_400_lines_and_folders_about_ten_entries() {
    for root in ROOTS {
        let code = read(root);
        for (file, lines) in &code.lines {
            assert!(*lines < 400, "{root}/{file} has {lines} lines");
        }
        for folder in code.folders() {
            let count = code.entries(&folder).len();
            assert!(count <= 13, "{root}/{folder} has {count} entries");
        }
    }
}

/// Files outside src/pg that need unsafe code: entry points of workers, and a trigger. A file that no longer has any fails too.
const UNSAFE_OUTSIDE_OF_PG: [&str; 3] = [
    "counter/segment/leaf.rs", "counter/segment/source.rs", "registry/member/worker.rs",
];

#[test]
fn unsafe_code_is_in_pg() {
    let all = read("src").with_unsafe;
    let outside: Vec<&str> = all
        .iter()
        .map(String::as_str)
        .filter(|file| !file.starts_with("pg/"))
        .collect();
    assert_eq!(outside, UNSAFE_OUTSIDE_OF_PG);
}

/// Tests the reader itself: circles of two files, of folders, of a re-export, and none.
#[test]
fn the_reader_finds_circles() {
    let parse = |files: &[(&str, &str)]| {
        let texts = files
            .iter()
            .map(|(file, text)| ((*file).to_owned(), (*text).to_owned()));
        Crate::parse(&texts.collect::<BTreeMap<_, _>>()).circles()
    };
    let two = parse(&[
        ("a.rs", "use crate::b::B;"),
        ("b.rs", "fn f() { crate::a::f() }"),
    ]);
    assert_eq!(two.len(), 2, "{two:?}");
    let folders = parse(&[
        ("a/mod.rs", "pub mod x; pub mod z;"),
        ("b/mod.rs", "pub mod y;"),
        ("a/x.rs", "use super::super::b::y::Y;"),
        ("b/y.rs", "use crate::a::z::{self, Z};"),
        ("a/z.rs", ""),
    ]);
    assert_eq!(folders.len(), 2, "{folders:?}");
    let reexport = parse(&[
        ("a/mod.rs", "pub mod x; pub use x::X;"),
        ("a/x.rs", "use super::X;"),
    ]);
    assert_eq!(reexport.len(), 2, "{reexport:?}");
    let none = parse(&[
        ("lib.rs", "mod a; mod b; use std::fmt;"),
        (
            "a.rs",
            "use crate::b::B; #[cfg(test)] mod tests { use super::*; }",
        ),
        ("b.rs", "mod inner { use super::B; }"),
    ]);
    assert!(none.is_empty(), "{none:?}");
}

#[test]
fn the_reader_finds_unsafe_code() {
    let has_unsafe = |text: &str| {
        let texts = BTreeMap::from([("lib.rs".to_owned(), text.to_owned())]);
        !Crate::parse(&texts).with_unsafe.is_empty()
    };
    assert!(has_unsafe("fn f() { unsafe { g() } }"));
    assert!(has_unsafe(
        "macro_rules! m { () => { #[unsafe(no_mangle)] extern fn f() {} } }"
    ));
    assert!(!has_unsafe(
        "/// Not unsafe.\n#[pg_extern(parallel_unsafe)] fn f() {}"
    ));
}
