//! The files of docs/monitoring: every query runs as a member of pg_monitor in a read-only transaction, on a standby too, and
//! every metric of an alert or a panel is one that the collector has.

use mint_cluster::{Server, Session};
use std::collections::BTreeSet;
use std::path::Path;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/monitoring");

fn read(file: &str) -> String {
    let path = Path::new(FOLDER).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the texts of a YAML file below `query: |`.
fn queries(file: &str) -> Vec<String> {
    let text = read(file);
    let mut found: Vec<String> = Vec::new();
    let mut inside: Option<usize> = None;
    for line in text.lines() {
        let depth = line.len() - line.trim_start().len();
        if inside.is_some_and(|outer| depth <= outer && !line.trim().is_empty()) {
            inside = None;
        }
        if inside.is_some() {
            let query = found.last_mut().expect("a query");
            query.push_str(line.trim());
            query.push('\n');
        } else if line.trim() == "query: |" {
            inside = Some(depth);
            found.push(String::new());
        }
    }
    let marks = text.matches("query: |").count();
    assert_eq!(found.len(), marks, "{file}");
    assert!(
        found.len() >= 5 && found.iter().all(|query| query.contains("FROM")),
        "{file}: {found:?}"
    );
    found
}

/// Returns the names in a text that begin as metrics do.
fn metrics(text: &str) -> BTreeSet<String> {
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
    run_all(&mut server.connect_as("exporter", "postgres"));
    let standby = server.standby("standby");
    server.wait_for(&standby);
    let mut there = standby.connect_as("exporter", "postgres");
    there.run("SELECT uuid_v7()");
    run_all(&mut there);
}

#[test]
fn every_metric_is_one_of_the_collector() {
    let collector = read("sql_exporter.collector.yml");
    let known: BTreeSet<String> = collector
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- metric_name: "))
        .map(str::to_owned)
        .collect();
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
        let used = metrics(&text);
        assert!(used.len() >= 3, "{file}: {used:?}");
        let unknown: Vec<_> = used.difference(&known).collect();
        assert!(unknown.is_empty(), "{file}: {unknown:?}");
    }
    // The labels that they choose by are values that the queries return.
    let text = collector + &read("cloudnative_pg.yml");
    for label in [
        "clock_step_back", "lease_failure", "segment_eviction", "ceiling_write", "user_lock",
    ] {
        assert!(text.contains(&format!("'{label}'")), "{label}");
    }
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
