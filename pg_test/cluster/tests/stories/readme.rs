//! Tests of the documents: their SQL prints what they show, and the reference and the catalogs have the same. Links and
//! pictures are tested by `mint_house`, which needs no server.

use mint_cluster::{Server, say};
use std::collections::BTreeSet;
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
fn pattern(printed: &str) -> Vec<String> {
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
    // Each document stands for itself: of those before it, only what is in shared memory stays.
    let roles: Vec<String> = session.column(
        "SELECT quote_ident(rolname) FROM pg_roles WHERE rolname <> current_user AND rolname !~ '^pg_'",
    );
    for role in roles {
        session.run(&format!("DROP ROLE {role}"));
    }
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
        // Files for users to run are in the folder in which a reader has them.
        .current_dir(Path::new(REPOSITORY).join("sql/managed"))
        .env_clear()
        .envs([("LC_ALL", "C"), ("PGTZ", "UTC")])
        .output()
        .expect("psql runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    for (example, printed) in examples.iter().zip(printed.split(MARK).skip(1)) {
        let Example { sql, shown, .. } = example;
        let comparable = if example.is_exact { literal } else { pattern };
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
    let mut found = vec![
        repository.join("README.md"),
        repository.join("examples/decode/README.md"),
    ];
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
        let page = read(&file);
        // Readers come to a section of these pages from elsewhere, so each must work by itself.
        let is_of_sections = file
            .parent()
            .is_some_and(|folder| folder.ends_with("docs/from"));
        let end = if is_of_sections { "\n## " } else { "\0" };
        for section in page.split(end) {
            let title = section.lines().next().unwrap_or_default();
            let name = format!("{}, {title}", file.display());
            check(&server, &name, &examples(section));
        }
    }
}

/// Returns a page of the reference.
fn reference(page: &str) -> String {
    read(format!("{REPOSITORY}/docs/reference/{page}").as_ref())
}

/// Fails if the catalogs have what the page lacks, or the other way around.
fn assert_same(page: &str, catalog: Vec<String>, documented: Vec<String>) {
    assert!(catalog.len() > 5, "{catalog:?}");
    let unique: BTreeSet<&String> = documented.iter().collect();
    assert_eq!(unique.len(), documented.len(), "{page} has something twice");
    let (catalog, documented) = (
        BTreeSet::from_iter(catalog),
        BTreeSet::from_iter(documented),
    );
    let missing: Vec<&String> = catalog.difference(&documented).collect();
    let gone: Vec<&String> = documented.difference(&catalog).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "{page} lacks {missing:#?}\nand the catalogs lack {gone:#?}"
    );
}

/// Every function that applications or administrators call, as its page has it: without the properties that most have,
/// which "How to read an entry" in functions/snowflake.md names. The comment of any other says so: `Internal: ...`, or
/// what type, operator or cast it implements.
const FUNCTIONS: &str = r#"
    SELECT format(CASE prokind WHEN 'p' THEN '- `%s%s(%s)` → *procedure*' ELSE '- `%s%s(%s)` → %s' END,
        CASE nspname WHEN 'mint' THEN 'mint.' END, proname, arguments,
        CASE WHEN proretset AND v.viewname IS NOT NULL THEN format('rows of [`mint.%s`](../views.md#mint%1$s)', proname)
             WHEN result LIKE 'TABLE(%' AND result = lag(result) OVER (PARTITION BY nspname, proname ORDER BY arguments COLLATE "C")
             THEN '`TABLE(...)`' ELSE format('`%s`', result) END)
        || CASE WHEN properties <> '' AND prokind = 'f' THEN format(' · *%s*', properties) ELSE '' END
    FROM pg_depend d
    JOIN pg_proc p ON p.oid = objid
    JOIN pg_namespace n ON n.oid = pronamespace
    LEFT JOIN pg_views v ON v.schemaname = 'mint' AND v.viewname = proname AND nspname = 'mint',
    LATERAL (SELECT replace(pg_get_function_arguments(p.oid), 'timestamp with time zone', 'timestamptz') AS text) t,
    LATERAL (SELECT regexp_replace(regexp_replace(text, '(^|, )IN ', '\1', 'g'),
                 '::(snowflake_layout|text|bytea|interval|bigint|integer\[\]|timestamptz|numeric)', '', 'g') AS text) u,
    LATERAL (SELECT replace(regexp_replace(u.text, '(, )?layout snowflake_layout DEFAULT ''instagram''', '[\1layout]'),
                 '[, ', ' [, ') AS arguments) a,
    LATERAL (SELECT replace(pg_get_function_result(p.oid), 'timestamp with time zone', 'timestamptz') AS result) r,
    LATERAL (SELECT concat_ws(', ', CASE provolatile WHEN 'v' THEN 'volatile' WHEN 's' THEN 'stable' END,
                 CASE WHEN NOT proisstrict AND pronargs > 0 THEN 'not strict' END,
                 CASE proparallel WHEN 'r' THEN 'parallel restricted' WHEN 'u' THEN 'parallel unsafe' END,
                 CASE WHEN NOT has_function_privilege('public', p.oid, 'EXECUTE') THEN 'not for PUBLIC' END) AS properties) s
    WHERE d.deptype = 'e' AND d.classid = 'pg_proc'::regclass AND prokind IN ('f', 'p')
        AND obj_description(p.oid) !~ '^(Internal: .*|I/O|hash|less-equal-greater|sort support|implementation of .*|(smaller|larger) of two)$'
        AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_mint')"#;

#[test]
fn the_reference_has_every_function_with_an_example() {
    let server = Server::start("reference_functions");
    let mut session = server.connect("postgres");
    session.run("SET IntervalStyle = 'postgres'");
    let functions: Vec<String> = session.column(FUNCTIONS);
    let folder = format!("{REPOSITORY}/docs/reference/functions");
    let mut documented = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the pages of functions") {
        let path = entry.expect("a page of functions").path();
        let page = read(&path);
        let sql: String = examples(&page).iter().map(|example| example.sql).collect();
        for line in page
            .lines()
            .filter(|line| line.starts_with("- `") && line.contains("` → "))
        {
            let name = line[3..].split('(').next().unwrap_or_default();
            let has_example = sql.contains(&format!("{name}("));
            assert!(has_example, "{}: no example of {name}", path.display());
            documented.push(line.to_owned());
        }
    }
    assert_same("docs/reference/functions", functions, documented);
}

#[test]
fn the_reference_has_every_column_of_every_view() {
    let server = Server::start("reference_views");
    let mut session = server.connect("postgres");
    let columns = session.column(
        r"SELECT format('%s.%s %s %s', nspname, relname, attname, replace(format_type(atttypid, atttypmod), 'timestamp with time zone', 'timestamptz'))
          FROM pg_attribute JOIN pg_class c ON c.oid = attrelid JOIN pg_namespace n ON n.oid = relnamespace
          WHERE nspname = 'mint' AND relkind = 'v' AND attnum > 0",
    );
    let page = reference("views.md");
    let mut documented = Vec::new();
    for section in page.split("\n## ").skip(1) {
        let view = section.lines().next().unwrap_or_default();
        // An entry can be longer than a line; its columns are before the first colon.
        for entry in section.split("\n- `").skip(1) {
            let (columns, _) = entry.split_once("`: ").unwrap_or((entry, ""));
            for column in columns.split('`').step_by(2) {
                // Most columns are of this type, which the page says once.
                let (name, kind) = column.split_once(' ').unwrap_or((column, "bigint"));
                documented.push(format!("{view} {name} {kind}"));
            }
        }
    }
    assert_same("docs/reference/views.md", columns, documented);
}

#[test]
fn the_reference_has_every_setting() {
    let server = Server::start("reference_settings");
    let mut session = server.connect("postgres");
    session.run("LOAD 'pg_mint'");
    let settings = session.column(
        r"SELECT format('| [`%s`](#%s) | `%s`; %s | %s |', name, replace(name, '.', ''),
              COALESCE(NULLIF(current_setting(name), ''), $$''$$),
              CASE vartype WHEN 'integer' THEN concat_ws(' ', min_val, 'to', max_val, unit) WHEN 'bool' THEN 'boolean' ELSE 'text' END,
              context)
          FROM pg_settings WHERE name LIKE 'pg\_mint.%'",
    );
    let page = reference("settings.md");
    let rows = page.lines().filter(|line| line.starts_with("| [`pg_mint."));
    assert_same(
        "docs/reference/settings.md",
        settings,
        rows.map(str::to_owned).collect(),
    );
}

/// SQLSTATEs that the code compares with, or gives to messages that are no errors.
const NOT_RAISED: [&str; 9] = [
    "00000", "01000", "08000", "2F003", "42725", "42803", "42846", "42883", "57000",
];

#[test]
fn the_reference_has_every_sqlstate() {
    let server = Server::start("reference_errors");
    let folder: String = server.one("SELECT setting FROM pg_config WHERE name = 'SHAREDIR'");
    let codes = read(&Path::new(&folder).join("errcodes.txt"));
    let mut source = String::new();
    let mut folders = vec![
        Path::new(REPOSITORY).join("src"),
        Path::new(REPOSITORY).join("sql"),
    ];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the code") {
            let path = entry.expect("a file of the code").path();
            match path.is_dir() {
                true => folders.push(path),
                false => source += &read(&path),
            }
        }
    }
    let script = read(&Path::new(REPOSITORY).join("sql/pg_mint--0.1.0.sql"));
    let names: BTreeSet<&str> = source
        .split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_')
        .collect();
    let in_sql = source.split("ERRCODE = '").skip(1);
    let in_sql: BTreeSet<&str> = in_sql.filter_map(|rest| rest.split('\'').next()).collect();
    let mut raised = Vec::new();
    for line in codes.lines().filter(|line| line.contains(" ERRCODE_")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [code, _, macro_name, condition @ ..] = words.as_slice() {
            let in_sql = condition.iter().any(|name| in_sql.contains(name));
            // The first argument of mint.refuse(), or a column that becomes it.
            let in_sql = in_sql || script.contains(&format!("'{code}'"));
            if (names.contains(macro_name) || in_sql) && !NOT_RAISED.contains(code) {
                raised.push((*code).to_owned());
            }
        }
    }
    // Frequent ones have a section with their messages, the others a row of the last table.
    let page = reference("errors.md");
    let (sections, others) = page
        .split_once("\n## Other SQLSTATEs\n")
        .expect("a section of the others");
    let is_code = |word: &&str| word.len() == 5 && word.chars().all(|sign| !sign.is_lowercase());
    let headings = sections.lines().filter_map(|line| line.strip_prefix("## "));
    let rows = others.lines().filter_map(|line| line.strip_prefix("| "));
    let rows = rows.filter_map(|row| row.split(" | ").next());
    let listed = rows.flat_map(|cell| cell.split(", "));
    let documented = headings.chain(listed).filter(is_code).map(str::to_owned);
    assert_same("docs/reference/errors.md", raised, documented.collect());
}
