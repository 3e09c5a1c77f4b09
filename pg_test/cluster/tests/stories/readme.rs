//! Tests of the documents: their SQL prints what they show, their links lead somewhere, and the reference is complete.

use mint_cluster::{Server, say};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A block of SQL and the output of its last statement, empty where the document does not show it.
struct Example<'a> {
    sql: &'a str,
    shown: &'a str,
    /// The block is marked `text exact`: every run prints the same, numbers included.
    is_exact: bool,
}

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Returns the examples of a document: each block marked `sql`, with the block marked `text` or `text exact` right
/// below it.
fn examples(document: &str) -> Vec<Example<'_>> {
    // Every second part is the inside of a block.
    let parts: Vec<&str> = document.split("\n```").collect();
    let mut examples = Vec::new();
    for place in (1..parts.len()).step_by(2) {
        let next = match parts[place + 1..] {
            [between, next, ..] if between.trim().is_empty() => next,
            _ => "",
        };
        let (mark, below) = next.split_once('\n').unwrap_or_default();
        let is_exact = mark == "text exact";
        let shown = if is_exact || mark == "text" {
            below
        } else {
            ""
        };
        if let Some(sql) = parts[place].strip_prefix("sql\n") {
            examples.push(Example {
                sql,
                shown,
                is_exact,
            });
        }
    }
    let marks = document.matches("\n```text").count();
    let known =
        document.matches("\n```text\n").count() + document.matches("\n```text exact\n").count();
    assert_eq!(
        marks, known,
        "a block is marked neither `text` nor `text exact`"
    );
    let exact = examples.iter().filter(|example| example.is_exact).count();
    let marked = document.matches("\n```text exact").count();
    assert_eq!(
        exact, marked,
        "a block marked `text exact` is not right below one marked `sql`"
    );
    examples
}

/// Returns whether a line is empty or psql's count of rows, which documents leave out.
fn is_footer(line: &str) -> bool {
    let count = line
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(" row"));
    line.is_empty() || matches!(count, Some((number, ")" | "s)")) if number.parse::<u64>().is_ok())
}

/// Returns the lines of an output without spaces at their ends and without footers.
fn literal(printed: &str) -> Vec<String> {
    let lines = printed.lines().map(str::trim_end);
    lines
        .filter(|line| !is_footer(line))
        .map(str::to_owned)
        .collect()
}

/// Returns whether a run of hexadecimal digits, dashes and colons has the shape of a UUID, an ObjectID or a node.
fn is_hex_id(run: &str) -> bool {
    let signs = |sign| run.matches(sign).count();
    matches!(
        (run.len(), signs('-'), signs(':')),
        (36, 4, 0) | (24, 0, 0) | (17, 0, 5)
    )
}

/// Returns a line with `@` in place of each id of hexadecimal digits.
fn without_hex_ids(line: &str) -> String {
    let in_run = |sign: char| sign.is_ascii_hexdigit() || sign == '-' || sign == ':';
    let mut masked = String::new();
    let mut rest = line;
    while let Some(sign) = rest.chars().next() {
        let run = &rest[..rest.find(|sign| !in_run(sign)).unwrap_or(rest.len())];
        let step = run.len().max(sign.len_utf8());
        masked.push_str(if is_hex_id(run) { "@" } else { &rest[..step] });
        rest = &rest[step..];
    }
    masked
}

/// Returns the lines of an output as they are in every run. Ids, times and widths of columns differ, so each number
/// becomes `#`, and each id of hexadecimal digits `@`.
fn normal(printed: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in literal(printed) {
        let line = without_hex_ids(&line);
        let mut masked = String::new();
        let words = line.split_whitespace();
        for sign in words.flat_map(|word| word.chars().chain([' '])) {
            match sign {
                // With the fraction of a second, which is not printed where it is zero.
                '0'..='9' | '.' if masked.ends_with('#') => {}
                '0'..='9' => masked.push('#'),
                '-' if masked.ends_with('-') => {}
                sign => masked.push(sign),
            }
        }
        lines.push(masked);
    }
    lines
}

/// Runs a document's examples in one psql session on a new database, and compares what each prints.
fn check(server: &Server, name: &str, examples: &[Example<'_>]) {
    const MARK: &str = "==== next example";
    let mut session = server.connect("postgres");
    session.run("ALTER SYSTEM RESET ALL");
    session.run("SELECT pg_reload_conf()");
    session.run("DROP DATABASE IF EXISTS app WITH (FORCE)");
    session.run("CREATE DATABASE app");
    let all: String = examples.iter().map(|example| example.sql).collect();
    let has_dblink = "SELECT count(*) > 0 FROM pg_available_extensions WHERE name = 'dblink'";
    if all.contains("EXTENSION dblink") && !session.one::<bool>(has_dblink) {
        say(format!("SKIPPED {name}: this server has no dblink"));
        return;
    }
    let bindir: String = session.one("SELECT setting FROM pg_config WHERE name = 'BINDIR'");
    let socket: String = session.one("SHOW unix_socket_directories");
    let mut script = tempfile::NamedTempFile::new().expect("a temporary file");
    for Example { sql, .. } in examples {
        // The other server of an example is this one.
        let sql = sql.replace("registry.example.com", &socket);
        writeln!(script, "\\echo {MARK}\n{sql}").expect("the script is written");
    }
    let output = Command::new(Path::new(&bindir).join("psql"))
        .args("-X -q -v ON_ERROR_STOP=1 -U postgres -p 5432 -d app -h".split(' '))
        .args([Path::new(&socket), Path::new("-f"), script.path()])
        .env_clear()
        .envs([("LC_ALL", "C"), ("PGTZ", "UTC")])
        .output()
        .expect("psql runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    for (example, printed) in examples.iter().zip(printed.split(MARK).skip(1)) {
        let Example { sql, shown, .. } = example;
        let comparable = if example.is_exact { literal } else { normal };
        let as_shown = comparable(printed).ends_with(&comparable(shown));
        assert!(as_shown, "{name}:\n{sql}\nprints\n{printed}{complaint}");
    }
    assert!(output.status.success(), "{name}: {complaint}");
}

/// Returns the paths of all documents, README.md first.
fn documents() -> Vec<PathBuf> {
    let repository = Path::new(REPOSITORY)
        .canonicalize()
        .expect("the repository");
    let mut found = vec![repository.join("README.md")];
    let mut folders = vec![repository.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("docs") {
            let path = entry.expect("docs").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn examples_print_what_they_show() {
    let server = Server::build("documents").start_empty();
    for file in documents() {
        check(
            &server,
            &file.display().to_string(),
            &examples(&read(&file)),
        );
    }
}

/// Returns the files of the repository that a document links to.
fn links(file: &Path) -> Vec<PathBuf> {
    let text = read(file);
    let links = text.split("](").skip(1);
    // Without the heading; a link within the document has nothing else.
    let targets = links.map(|link| link.split([')', '#']).next().unwrap_or_default());
    let inside = targets.filter(|target| !target.is_empty() && !target.contains("://"));
    let files = inside.map(|target| file.with_file_name(target));
    files
        .map(|target| {
            target.canonicalize().unwrap_or_else(|error| {
                panic!("{} links to {}: {error}", file.display(), target.display())
            })
        })
        .collect()
}

#[test]
fn every_document_is_reachable_from_the_readme_and_in_the_index() {
    let all = documents();
    let index = all[0].with_file_name("docs/SUMMARY.md");
    let mut reached = vec![all[0].clone()];
    let mut place = 0;
    while let Some(file) = reached.get(place).cloned() {
        place += 1;
        if file.extension().is_some_and(|end| end == "md") {
            for link in links(&file) {
                if !reached.contains(&link) {
                    reached.push(link);
                }
            }
        }
    }
    let listed = links(&index);
    for file in all.iter().filter(|file| **file != index) {
        assert!(reached.contains(file), "no way to {}", file.display());
        assert!(listed.contains(file), "not listed: {}", file.display());
    }
}

/// The README names every setting with its default and context, and every function that applications or administrators
/// call. The comment of any other says so: `Internal: ...`, or what type, operator or cast it implements.
#[test]
fn the_readme_names_every_setting_and_function() {
    let readme = read(format!("{REPOSITORY}/README.md").as_ref());
    let server = Server::start("readme");
    let mut session = server.connect("postgres");
    session.run("LOAD 'pg_mint'");
    let settings = "SELECT format('| `%s` | `%s` | %s |', name, current_setting(name), context)
        FROM pg_settings WHERE name LIKE 'pg\\_mint.%'";
    let functions = "SELECT DISTINCT '`' || CASE pronamespace::regnamespace::text WHEN 'mint' THEN 'mint.' ELSE '' END || proname || '(' FROM pg_depend JOIN pg_proc p ON p.oid = objid
        WHERE deptype = 'e' AND classid = 'pg_proc'::regclass AND prokind = 'f'
            AND obj_description(p.oid) !~ '^(Internal: .*|I/O|hash|less-equal-greater|sort support|implementation of .*|(smaller|larger) of two)$'
            AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_mint')";
    for wanted in [settings, functions] {
        let names: Vec<String> = session.column(wanted);
        assert!(names.len() > 5, "{names:?}");
        for name in names {
            assert!(readme.contains(&name), "README.md lacks {name}");
        }
    }
}
