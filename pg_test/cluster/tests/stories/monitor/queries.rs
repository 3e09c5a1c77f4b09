//! The files of docs/monitoring: every query runs as a member of pg_monitor in a read-only transaction, on a standby too, and
//! every metric of an alert or a panel is one that the collector has.

use mint_cluster::{Server, Session};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/monitoring");

/// Reads a file, with the table of the tests where it has a list of the user's.
fn read(file: &str) -> String {
    let path = Path::new(FOLDER).join(file);
    let text = std::fs::read_to_string(&path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.replace("'{}'", "'{reading}'")
}

/// Returns the texts of a YAML file below `query: |`.
fn queries(file: &str) -> Vec<String> {
    let text = read(file);
    let found: Vec<String> = text.split("query: |\n").skip(1).map(indented).collect();
    assert!(
        found.len() >= 5 && found.iter().all(|query| query.contains("FROM")),
        "{file}: {found:?}"
    );
    found
}

/// Returns the lines of a text that are indented as its first one, or more.
fn indented(text: &str) -> String {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let first = text.lines().next().map_or(0, depth);
    let lines = text.lines().take_while(|line| depth(line) >= first);
    lines.collect::<Vec<_>>().join("\n")
}

/// A table whose partitions are missing.
const PARTITIONED: &str = "CREATE TABLE reading (id bigint DEFAULT snowflake_next_id(3, 'twitter')) PARTITION BY RANGE (id)";

/// Returns the names in a text that begin as metrics do.
fn metrics_in(text: &str) -> BTreeSet<String> {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    let words = text.split(|sign| !is_part(sign));
    let names = words.filter(|word| word.starts_with("pg_mint_"));
    names.map(str::to_owned).collect()
}

fn run_all(session: &mut Session) {
    for file in ["sql_exporter.collector.yml", "cloudnative_pg.yml"] {
        for query in queries(file) {
            session.run("BEGIN READ ONLY");
            let rows: i64 = session.one(&format!("SELECT count(*) FROM ({query}) AS q"));
            session.run("COMMIT");
            assert!(rows > 0, "{query}");
        }
    }
}

#[test]
fn every_query_runs_as_a_monitor() {
    let server = Server::start("queries");
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE exporter LOGIN; GRANT pg_monitor TO exporter; SELECT snowflake_next_id(5), objectid(), uuid_v7()");
    session.run(PARTITIONED);
    run_all(&mut server.connect_as("exporter", "postgres"));
    let standby = server.standby("standby");
    server.wait_for(&standby);
    let mut there = standby.connect_as("exporter", "postgres");
    there.run("SELECT uuid_v7()");
    run_all(&mut there);
}

/// A metric of the collector.
struct Metric {
    name: String,
    is_counter: bool,
    labels: Vec<String>,
    value: String,
    query: String,
}

/// Returns the metrics of the collector.
fn collector() -> Vec<Metric> {
    let text = read("sql_exporter.collector.yml");
    let named = |name: &str| {
        let (_, rest) = text
            .split_once(&format!("query_name: {name}\n"))
            .unwrap_or_else(|| panic!("no query {name}"));
        rest.split("- query_name: ").next().map(first_query)
    };
    let (metrics, _) = text.split_once("\nqueries:").expect("named queries");
    metrics
        .split("- metric_name: ")
        .skip(1)
        .map(|block| {
            let field = |key: &str| {
                let line = block.lines().find_map(|line| line.trim().strip_prefix(key));
                line.map(|value| value.trim_matches(['[', ']', ' ']).to_owned())
            };
            Metric {
                name: block.lines().next().expect("a name").to_owned(),
                is_counter: field("type:").as_deref() == Some("counter"),
                labels: field("key_labels:")
                    .map(|labels| labels.split(", ").map(str::to_owned).collect())
                    .unwrap_or_default(),
                value: field("values:").expect("a value"),
                query: match field("query_ref:") {
                    Some(name) => named(&name).expect("a query"),
                    None => first_query(block),
                },
            }
        })
        .collect()
}

/// Returns the text below the first `query: |`.
fn first_query(block: &str) -> String {
    let (_, below) = block.split_once("query: |\n").expect("a query");
    indented(below)
}

/// Names are valid for Prometheus, labels and values are columns of the query, and no labels come twice, which an exporter
/// refuses. Returns the values of each label.
fn labels(session: &mut Session, metrics: &[Metric]) -> BTreeMap<String, BTreeSet<String>> {
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for Metric {
        name,
        is_counter,
        labels,
        value,
        query,
    } in metrics
    {
        let is_valid = |sign: char| sign.is_ascii_lowercase() || sign == '_';
        assert!(name.chars().all(is_valid), "{name}");
        assert_eq!(name.ends_with("_total"), *is_counter, "{name}");
        let number: bool = session.one(&format!(
            "SELECT count(*) > 0 AND bool_and({value}::float8 IS NOT NULL) FROM ({query}) AS q"
        ));
        assert!(number, "{name}");
        if !labels.is_empty() {
            let labels = labels.join(", ");
            let twice: i64 = session.one(&format!(
                "SELECT count(*) FROM (SELECT FROM ({query}) AS q GROUP BY {labels} HAVING count(*) > 1) AS t"
            ));
            assert_eq!(twice, 0, "{name}");
        }
        for label in labels {
            let found = session.column::<String>(&format!("SELECT {label} FROM ({query}) AS q"));
            values.entry(label.clone()).or_default().extend(found);
        }
    }
    values
}

/// Returns the labels that expressions choose by, each with the pattern: `event`, `clock_.*|lease_failure`.
fn choices(text: &str) -> Vec<(String, String)> {
    let matchers = text
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split('}').next());
    let matchers = matchers
        .filter(|inside| inside.contains('='))
        .flat_map(|inside| inside.split(','));
    let parts = matchers.filter_map(|matcher| matcher.split_once(['!', '=']));
    let clean = |text: &str| text.trim_matches(['=', '~', '"', '\\', ' ']).to_owned();
    parts
        .map(|(label, pattern)| (clean(label), clean(pattern)))
        .filter(|(label, _)| label != "instance")
        .collect()
}

/// Alerts and panels are of metrics that there are, and choose by labels that these have. The other exporter has the same
/// metrics.
#[test]
fn every_metric_is_one_of_the_collector() {
    let server = Server::start("metrics");
    let mut session = server.connect("postgres");
    session.run("SELECT snowflake_next_id(5)");
    session.run(PARTITIONED);
    let metrics = collector();
    let values = labels(&mut session, &metrics);
    let known: BTreeSet<String> = metrics.into_iter().map(|metric| metric.name).collect();
    assert!(known.len() >= 8, "{known:?}");
    let alerts = read("alerts.yml");
    let expressions: String = alerts
        .lines()
        .filter(|line| line.trim().starts_with("expr: "))
        .collect();
    for (file, text) in [
        ("alerts.yml", expressions),
        ("grafana.json", read("grafana.json")),
    ] {
        let used = metrics_in(&text);
        assert!(used.len() >= 3, "{file}: {used:?}");
        let unknown: Vec<_> = used.difference(&known).collect();
        assert!(unknown.is_empty(), "{file}: {unknown:?}");
        let choices = choices(&text);
        assert!(choices.len() >= 2, "{file}: {choices:?}");
        for (label, pattern) in choices {
            let values = values
                .get(&label)
                .unwrap_or_else(|| panic!("{file}: {label}"));
            for alternative in pattern.split('|') {
                let is_found = |value: &String| match alternative.split_once(".*") {
                    Some((begin, end)) => value.starts_with(begin) && value.ends_with(end),
                    None => value == alternative,
                };
                assert!(values.iter().any(is_found), "{file}: {label} {alternative}");
            }
        }
    }
    assert_eq!(cloudnative_pg(), known);
}

/// Returns the names of the metrics of CloudNativePG, `<query>_<column>`, without what it puts before them.
fn cloudnative_pg() -> BTreeSet<String> {
    let (mut query, mut column, mut names) = ("", "", BTreeSet::new());
    for line in read("cloudnative_pg.yml").leak().lines() {
        let depth = line.len() - line.trim_start().len();
        let word = line.trim().trim_start_matches("- ").trim_end_matches(':');
        match (depth, line.trim()) {
            (4, _) => query = word,
            (8, item) if item.starts_with("- ") => column = word,
            (_, "usage: GAUGE" | "usage: COUNTER") => {
                names.insert(format!("{query}_{column}"));
            }
            _ => {}
        }
    }
    names
}

/// The dashboard is JSON as PostgreSQL reads it, and each panel has a query.
#[test]
fn the_dashboard_can_be_read() {
    let server = Server::start("dashboard");
    let mut session = server.connect("postgres");
    let json = read("grafana.json").replace('\'', "''");
    let panels: i64 = session.one(&format!(
        "SELECT count(*) FROM jsonb_array_elements('{json}'::jsonb -> 'panels') AS p WHERE p #>> '{{targets,0,expr}}' <> ''"
    ));
    let all: i64 = session.one(&format!(
        "SELECT jsonb_array_length('{json}'::jsonb -> 'panels')::bigint"
    ));
    assert!(all >= 5 && panels == all, "{panels} of {all}");
}
