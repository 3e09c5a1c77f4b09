//! What the documents show is what happens: their SQL runs, and prints what they say it prints.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mint_cluster::Server;

/// A block of SQL, and what its last statement prints if the document shows it.
struct Example<'a> {
    line: usize,
    sql: &'a str,
    shown: Option<&'a str>,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The examples of a document: each block marked `sql`, with the block marked `text` right below it.
fn examples(document: &str) -> Vec<Example<'_>> {
    // Every second part is the inside of a block.
    let parts: Vec<&str> = document.split("\n```").collect();
    let mut examples = Vec::new();
    let mut line = 1;
    for (place, part) in parts.iter().enumerate() {
        line += usize::from(place > 0);
        if let (1, Some(sql)) = (place % 2, part.strip_prefix("sql\n")) {
            let between = parts
                .get(place + 1)
                .is_some_and(|part| part.trim().is_empty());
            let next = parts.get(place + 2).filter(|_| between);
            let shown = next.and_then(|part| part.strip_prefix("text\n"));
            examples.push(Example { line, sql, shown });
        }
        line += part.matches('\n').count();
    }
    examples
}

/// What two runs have in common. Ids, times and widths of columns differ, so each number becomes `#`.
fn normal(printed: &str) -> Vec<String> {
    let normal_line = |line: &str| {
        let mut masked = String::new();
        for sign in line
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .chars()
        {
            match sign {
                // The fraction of a second with it, which is left out where it is zero.
                '0'..='9' | '.' if masked.ends_with('#') => {}
                '0'..='9' => masked.push('#'),
                '-' if masked.ends_with('-') => {}
                sign => masked.push(sign),
            }
        }
        masked
    };
    let lines = printed.lines().map(normal_line);
    // The count of rows is a footer that documents leave out.
    let footers = ["", "(# rows)", "(# row)"];
    lines
        .filter(|line| !footers.contains(&line.as_str()))
        .collect()
}

/// Runs a document's examples in one psql session on a new server, and returns what each printed.
fn run(server: &Server, examples: &[Example<'_>]) -> Vec<String> {
    const MARK: &str = "==== next example";
    let mut session = server.connect("postgres");
    session.run("CREATE DATABASE app");
    let bindir: String = session.one("SELECT setting FROM pg_config WHERE name = 'BINDIR'");
    let socket: String = session.one("SHOW unix_socket_directories");
    let mut psql = Command::new(Path::new(&bindir).join("psql"));
    psql.args("-X -q -v ON_ERROR_STOP=1 -U postgres -p 5432 -d app -h".split(' '))
        .arg(socket);
    psql.env_clear().envs([("LC_ALL", "C"), ("PGTZ", "UTC")]);
    psql.stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut running = psql.spawn().expect("psql runs");
    let marked = |example: &Example<'_>| format!("\\echo {MARK}\n{}\n", example.sql);
    let script: String = examples.iter().map(marked).collect();
    // A psql that stopped at an error says so itself.
    let _ = running
        .stdin
        .take()
        .expect("a pipe to psql")
        .write_all(script.as_bytes());
    let output = running.wait_with_output().expect("psql ends");
    let printed = String::from_utf8_lossy(&output.stdout);
    let sections: Vec<String> = printed.split(MARK).skip(1).map(str::to_owned).collect();
    let complaint = String::from_utf8_lossy(&output.stderr);
    let last = &examples[sections.len().saturating_sub(1)];
    assert!(
        output.status.success(),
        "line {}:\n{}\n{complaint}",
        last.line,
        last.sql
    );
    sections
}

#[test]
fn examples_print_what_they_show() {
    let docs = std::fs::read_dir(repository().join("docs")).expect("docs");
    let docs = docs.map(|entry| entry.expect("docs").path());
    let docs = docs.filter(|path| path.extension().is_some_and(|end| end == "md"));
    for file in docs.chain([repository().join("README.md")]) {
        let document = read(&file);
        let examples = examples(&document);
        if examples.is_empty() {
            continue;
        }
        let server = Server::build("documents").start_empty();
        for (example, printed) in examples.iter().zip(run(&server, &examples)) {
            let shown = normal(example.shown.unwrap_or_default());
            let place = format!("{} line {}", file.display(), example.line);
            assert!(
                normal(&printed).ends_with(&shown),
                "{place} prints\n{printed}"
            );
        }
    }
}

/// Every setting with its default and context, and every function that is not of the type's own.
#[test]
fn the_readme_names_all_there_is() {
    let readme = read(&repository().join("README.md"));
    let server = Server::start("readme");
    let mut session = server.connect("postgres");
    session.run("LOAD 'pg_mint'");
    let settings = "SELECT format('| `%s` | `%s` | %s |', name, current_setting(name), context)
        FROM pg_settings WHERE name LIKE 'pg\\_mint.%'";
    let functions = "SELECT DISTINCT '`' || proname || '(' FROM pg_depend JOIN pg_proc p ON p.oid = objid
        WHERE deptype = 'e' AND classid = 'pg_proc'::regclass AND proname NOT LIKE 'snowflake\\_layout\\_%'
            AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_mint')";
    for wanted in [settings, functions] {
        let names: Vec<String> = session.column(wanted);
        assert!(names.len() > 5, "{names:?}");
        for name in names {
            assert!(readme.contains(&name), "README.md lacks {name}");
        }
    }
}
