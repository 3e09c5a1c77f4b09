//! The layout of the code: imports run one way, files and folders are small, and unsafe code is in named files.

use mint_house::markdown::files;
use mint_house::{Crate, repository};
use std::collections::{BTreeMap, BTreeSet};

/// The crates to check, by their folders.
const ROOTS: [&str; 12] = [
    "core/src",
    "src",
    "core/tests/counter",
    "core/tests/inspect",
    "core/tests/known_ids",
    "core/tests/loom",
    "core/tests/registry_ring",
    "core/tests/snowflake",
    "core/tests/uuid",
    "pg_test/cluster/src",
    "pg_test/cluster/tests/stories",
    "bench/src",
];

fn read(root: &str) -> Crate {
    Crate::read(&repository().join(root)).unwrap_or_else(|error| panic!("{root}: {error}"))
}

#[test]
fn imports_run_one_way() {
    for root in ROOTS {
        let circles = read(root).circles();
        assert!(circles.is_empty(), "{root}:\n{}", circles.join("\n"));
    }
}

/// pg provides what the server has, and statistics what all count; each idea uses these and no other idea, the registry and
/// inspect use the ideas, monitor shows them, and lib.rs uses all.
#[test]
fn the_floors_of_the_extension_are_these() {
    every_import_leads_down("src", |entry| match entry {
        "pg" => 0,
        "statistics.rs" => 1,
        "snowflake" | "uuid" | "objectid" | "counter" | "codec" | "time_predicates" => 2,
        "registry" | "citus" | "inspect" => 3,
        "monitor" => 4,
        "lib.rs" => 5,
        other => panic!("{other} has no floor yet: add it here"),
    });
}

/// Words in memory, clocks, what is built of both, the ideas, none of which uses another, and the table of their ids.
#[test]
fn the_floors_of_the_core_are_these() {
    every_import_leads_down("core/src", |entry| match entry {
        "atomic.rs" | "bytes" => 0,
        "clock.rs" => 1,
        "ceiling.rs" | "monotonic.rs" => 2,
        "snowflake" | "uuid" | "objectid.rs" | "counter" | "codec" | "registry" => 3,
        "family" => 4,
        "lib.rs" => 5,
        other => panic!("{other} has no floor yet: add it here"),
    });
}

fn every_import_leads_down(root: &str, floor: impl Fn(&str) -> u32) {
    for (entry, imports) in read(root).entries("") {
        for (other, (file, imported)) in imports {
            assert!(
                floor(&other) < floor(&entry),
                "{root}: {file} imports {imported}, which is not below it"
            );
        }
    }
}

#[test]
fn files_have_less_than_400_lines() {
    let mut count = 0;
    let mut long = Vec::new();
    for folder in ["src", "core", "bench", "pg_test"] {
        for path in files(&repository().join(folder), "rs") {
            let text = std::fs::read_to_string(&path).expect("a file of the code");
            let lines = text.lines().count();
            count += 1;
            if lines >= 400 {
                long.push(format!("{} has {lines} lines", path.display()));
            }
        }
    }
    assert!(count > 400, "only {count} files were found");
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn folders_have_about_ten_entries() {
    for root in ROOTS {
        let code = read(root);
        for folder in code.folders() {
            let entries = code.entries(&folder);
            let is_index = |entry: &str| ["mod.rs", "lib.rs"].contains(&entry);
            let count = entries.keys().filter(|entry| !is_index(entry)).count();
            assert!(count <= 13, "{root}/{folder} has {count} entries");
        }
    }
}

/// Files outside src/pg with unsafe code: the entry points of workers, which must not be mangled, and what one idea alone asks
/// of the server.
const UNSAFE_OUTSIDE_OF_PG: [&str; 15] = [
    "counter/last_used.rs", "counter/row_estimate.rs", "counter/segment/leaf.rs",
    "counter/segment/supply.rs", "registry/member/worker.rs", "snowflake/lane/open_ticks.rs",
    "time_predicates/bounding.rs", "time_predicates/derive.rs", "time_predicates/estimate.rs",
    "time_predicates/function.rs", "time_predicates/functions.rs", "time_predicates/hook.rs",
    "time_predicates/inline.rs", "time_predicates/predicate.rs", "time_predicates/proof.rs",
];

#[test]
fn unsafe_code_is_in_pg_and_in_named_files() {
    let all = read("src").with_unsafe;
    let outside: Vec<&str> = all
        .keys()
        .map(String::as_str)
        .filter(|file| !file.starts_with("pg/"))
        .collect();
    assert_eq!(outside, UNSAFE_OUTSIDE_OF_PG);
}

/// Words of code that reaches relations, and the only files that have them. See src/pg/catalog/spi.rs.
const DOORS: [(&str, &[&str]); 6] = [
    ("Spi::", &["pg/catalog/spi.rs"]),
    // Statements are on the server's catalogs, on the registry's tables, and for other servers: none is on a table of a user.
    (
        "spi::run(|spi::rows(|spi::one(|spi::open(|spi::update(",
        &[
            "pg/catalog/sql.rs", "pg/catalog/tables.rs", "pg/citus.rs", "pg/worker/dblink.rs",
            "registry/server/state.rs",
        ],
    ),
    // Only src/pg decides as which role a statement runs.
    ("SetUserIdAndSecContext(", &["pg/catalog/privilege.rs"]),
    // Only the worker that asks another server has another role than the caller.
    ("privilege::as_role(", &["pg/worker/dblink.rs"]),
    // The planner's hook opens what the planner has locked, for the role that runs the query.
    (
        "relation_open(|table_open(|index_open(",
        &[
            "pg/backend/lock.rs",
            "pg/catalog/extension.rs",
            "pg/catalog/scan/dependents.rs",
            "pg/catalog/scan/rows.rs",
            "pg/sequence/mod.rs",
            "time_predicates/proof.rs",
        ],
    ),
    (
        "LockRelationOid(",
        &["pg/backend/lock.rs", "pg/sequence/mod.rs"],
    ),
];

/// Statements, other roles, and locks of relations come through one door.
#[test]
fn relations_are_reached_by_the_doors_alone() {
    let src = repository().join("src");
    for (words, files) in DOORS {
        let says = |file: &&String| {
            let text = std::fs::read_to_string(src.join(file)).expect("a file of src");
            let mut code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            code.any(|line| words.split('|').any(|word| line.contains(word)))
        };
        let all = read("src").imports;
        let found: Vec<&str> = all.keys().filter(says).map(String::as_str).collect();
        assert_eq!(found, files, "{words}");
    }
    // Functions that act as another role, or without the caller's search path, are for src/pg alone.
    let privilege =
        std::fs::read_to_string(src.join("pg/catalog/privilege.rs")).expect("a file of src");
    for function in ["guarded", "as_role"] {
        let open = format!("pub(in crate::pg) fn {function}<T>(");
        assert!(
            privilege.contains(&open),
            "{function} is not for src/pg alone"
        );
    }
}

#[test]
fn nothing_is_a_static_mut() {
    for root in ROOTS {
        assert_eq!(read(root).with_static_mut, BTreeSet::new(), "{root}");
    }
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
    let in_macro = parse(&[
        ("a.rs", "fn f() { assert!(crate::b::g()) }"),
        ("b.rs", "macro_rules! m { () => { $crate::a::f() } }"),
    ]);
    assert_eq!(in_macro.len(), 2, "{in_macro:?}");
    let aliased = parse(&[
        ("a/mod.rs", "pub mod x; pub mod y;"),
        ("a/x.rs", "fn f() { b::y::g() } use crate::a as b;"),
        ("a/y.rs", "use crate::a::x::f;"),
    ]);
    assert_eq!(aliased.len(), 2, "{aliased:?}");
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

/// `\errverbose` shows the place that a message comes from, not the function that all messages come through.
#[test]
fn every_message_has_the_place_of_its_caller() {
    let path = repository().join("src/pg/error.rs");
    let text = std::fs::read_to_string(path).expect("the file of errors");
    // The text before each use, from the item before the function on.
    let uses = text.match_indices("ErrorReport::new(");
    let uses: Vec<&str> = uses
        .chain(text.match_indices("report(Code::"))
        .map(|(at, _)| {
            let function = text[..at].rfind("fn ").expect("a function");
            let item = text[..function].rfind("\n\n").expect("an item before");
            &text[item..function]
        })
        .collect();
    assert!(uses.len() >= 6, "{uses:?}");
    for item in uses {
        assert!(item.contains("#[track_caller]"), "{item}");
    }
}
