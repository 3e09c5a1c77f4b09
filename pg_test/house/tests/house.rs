//! The layout of the code: imports run one way, and no file or folder is too large to be taken in.

use mint_house::Crate;
use std::collections::BTreeMap;
use std::path::Path;

/// Every crate of the project that others build on.
const ROOTS: [&str; 4] = ["core/src", "src", "pg_test/cluster/src", "bench/src"];

fn read(root: &str) -> Crate {
    // Read when the test runs: checkouts that share a target directory share this program.
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

/// What the server has lies below the ideas, these below the registry, and lib.rs puts all together.
#[test]
fn the_floors_of_the_extension_are_these() {
    let floor = |entry: &str| match entry {
        "pg" => 0,
        "snowflake" | "uuid" | "objectid" | "counter" | "codec" => 1,
        "registry" => 2,
        "lib.rs" => 3,
        other => panic!("{other} has no floor yet: say here where it belongs"),
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

/// The reader itself: it sees a circle of two files, one by way of a folder, and none where there is none.
#[test]
fn a_circle_is_seen() {
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
