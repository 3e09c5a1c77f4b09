//! Every function of the extension, on relations whose every object is a trap: none springs as another role than the owner.
//! Functions and relations are those of the catalogs, so a new one is covered, and one that cannot be called fails.

use super::functions::table::{Argument, Function, functions};
use super::planted_objects::{self, Kind, MARK};
use super::trapped_relations::{self, HOME};
use mint_cluster::{Refusal, Server, Session};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A relation, by its quoted name, and the names of its columns.
struct Relation {
    name: String,
    columns: Vec<String>,
}

fn relations(session: &mut Session) -> Vec<Relation> {
    let rows: Vec<String> = session.column(
        "SELECT format('%I.%I', n.nspname, c.relname) || coalesce((SELECT string_agg('|' || a.attname, '') FROM pg_attribute a
             WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind <> 'S'), '')
         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname = 'prey' AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
             AND NOT (c.relkind = 'S' AND c.relname LIKE '%\\_id\\_seq')
         ORDER BY 1",
    );
    rows.iter()
        .map(|row| {
            let mut names = row.split('|').map(str::to_owned);
            Relation {
                name: names.next().expect("a name"),
                columns: names.collect(),
            }
        })
        .collect()
}

/// Returns whether an argument says a relation, by its oid or its name.
fn is_relation(argument: &Argument) -> bool {
    argument.of == "pg_catalog.regclass"
        || argument.of == "pg_catalog.oid" && argument.name != "kind"
        || ["table_name", "relation", "parent"].contains(&argument.name.as_str())
}

/// All calls of a function: with each relation, and with each column of that, or with and without what has a default.
fn calls(function: &Function, relations: &[Relation]) -> Vec<String> {
    if !function.arguments.iter().any(is_relation) {
        let given = |argument: &Argument| match argument.name.as_str() {
            "source" => Some(["NULL", "'far'"].map(str::to_owned).to_vec()),
            "start" => Some(["1", "NULL"].map(str::to_owned).to_vec()),
            _ => None,
        };
        return [function.shorter(HOME), function.with(HOME, given)].concat();
    }
    let of = |of: &Relation| {
        let name = format!("'{}'::pg_catalog.regclass", of.name.replace('\'', "''"));
        // One relation of each kind is asked for more of its columns.
        let most = if of.name.ends_with("_1000") { 20 } else { 2 };
        let columns = of.columns.iter().take(most);
        let columns: Vec<String> = columns.map(|column| format!("'{column}'")).collect();
        let defaults = ["'public.snowflake_next_id(5)'", "'prey.next()'"];
        function.with(HOME, |argument| match argument.name.as_str() {
            _ if is_relation(argument) => Some(vec![name.clone()]),
            "column_name" => Some(columns.clone()),
            "new_default" => Some(defaults.map(str::to_owned).to_vec()),
            _ => None,
        })
    };
    relations.iter().flat_map(of).collect()
}

/// Adds the traps that have sprung since the last look into the log.
fn note_sprung(server: &Server, seen: &mut usize, what: &str, all: &mut Vec<String>) {
    let log = server.log();
    let sprung: BTreeSet<&str> = log[*seen..]
        .lines()
        .filter_map(|line| line.split_once(MARK).map(|(_, what)| what))
        .collect();
    if !sprung.is_empty() {
        all.push(format!("{what}: {sprung:?}"));
    }
    *seen = log.len();
}

/// Calls everything as a role, under a search path.
fn call_all(
    server: &Server,
    role: &str,
    path: &str,
    functions: &[Function],
    relations: &[Relation],
) {
    let mut session = server.connect_as(role, "hunt");
    session.run(&format!(
        "SET search_path = {path}; SET statement_timeout = '60 s'"
    ));
    // The last number of a session can be asked for.
    for draw in ["segment_next('prey.seq')", "ticket_next('prey.ticket')"] {
        let _ = session.try_run(&format!("SELECT public.{draw}"));
    }
    let mut seen = server.log().len();
    let (mut worked, mut refusals, mut sprung) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
    for function in functions {
        for call in calls(function, relations) {
            if function.is_procedure {
                // It commits, and demands the owner before all else. The registry's tables have no partitions.
                let is_own = call.contains("'mint.registry");
                let is_right = |code: &str| code == "42501" || is_own && code == "42809";
                let called = session.try_run(&function.statement(&call));
                let is_right = called.is_err_and(|it| is_right(&it.code));
                assert!(is_right || role == trapped_relations::OWNER, "{call}");
                continue;
            }
            // Nothing is left for the next call.
            match session.try_run(&format!("BEGIN; {}; ROLLBACK", function.statement(&call))) {
                Ok(()) => {
                    worked.insert(function.name.clone());
                }
                Err(refusal) => {
                    assert!(
                        !refusal.is_loss() && !refusal.code.starts_with("XX"),
                        "{call}: {refusal}"
                    );
                    session.run("ROLLBACK");
                    refusals.insert(function.name.clone(), refusal);
                }
            }
        }
        note_sprung(server, &mut seen, &function.name, &mut sprung);
    }
    let views: Vec<String> = session.column(
        "SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
         WHERE n.nspname OPERATOR(pg_catalog.=) 'mint'::pg_catalog.name AND c.relkind OPERATOR(pg_catalog.=) 'v'::pg_catalog.\"char\"",
    );
    assert!(views.len() > 5, "{views:?}");
    for view in views {
        let _ = session.try_run(&format!("TABLE {view}"));
        note_sprung(server, &mut seen, &view, &mut sprung);
    }
    assert!(sprung.is_empty(), "called by {role}: {sprung:#?}");
    if role == "postgres" {
        assert_callable(functions, &worked, &refusals);
    }
}

/// Asserts that each function that takes a relation does its work for one of them, and that the server finds every other.
fn assert_callable(
    functions: &[Function],
    worked: &BTreeSet<String>,
    refusals: &BTreeMap<String, Refusal>,
) {
    for function in functions {
        let takes_relation = function.arguments.iter().any(is_relation) && !function.is_procedure;
        let is_new = |of: &&Refusal| !of.message.starts_with("must be the owner");
        let refusal = refusals.get(&function.name).filter(is_new);
        let Some(refusal) = refusal.filter(|_| !worked.contains(&function.name)) else {
            continue;
        };
        let is_found = !["42601", "42883"].contains(&refusal.code.as_str());
        assert!(
            is_found && !takes_relation,
            "no call of {} succeeds, so it is not tested: add values, or a relation. The last: {refusal}",
            function.name
        );
    }
}

#[test]
fn nothing_of_an_owner_runs_as_another_role() {
    let server = Server::build("relations of a hostile owner").start();
    server.create_database("hunt");
    trapped_relations::lay_all(&server, "hunt");
    let mut root = server.connect("hunt");
    trapped_relations::assert_set(&server, &mut root);
    root.run(
        "ALTER ROLE mal NOSUPERUSER;
         CREATE ROLE keeper LOGIN IN ROLE mal, pg_monitor, pg_read_all_data, pg_write_all_data;
         CREATE ROLE reader LOGIN IN ROLE pg_monitor, pg_read_all_data, pg_write_all_data;
         CREATE SCHEMA lure AUTHORIZATION mal; GRANT USAGE ON SCHEMA lure TO PUBLIC",
    );
    if root.one("SELECT count(*) > 0 FROM pg_roles WHERE rolname = 'pg_maintain'") {
        root.run("GRANT pg_maintain TO keeper, reader");
    }
    let made = planted_objects::functions(&mut root);
    for kind in [Kind::Operators, Kind::Functions] {
        planted_objects::set(&mut root, kind, "lure", trapped_relations::OWNER, &made);
    }
    let (functions, relations) = (functions(&mut root, "true"), relations(&mut root));
    assert!(functions.len() > 150, "{} functions", functions.len());
    assert!(relations.len() > 40, "{} relations", relations.len());
    let paths = [
        "lure, prey, public",
        "pg_temp, prey, lure, public, pg_catalog",
    ];
    for (role, path) in [
        ("postgres", paths[0]),
        ("keeper", paths[1]),
        ("reader", paths[0]),
        (trapped_relations::OWNER, paths[0]),
        (trapped_relations::OWNER, paths[1]),
    ] {
        call_all(&server, role, path, &functions, &relations);
    }
    let power: bool = root.one("SELECT rolsuper FROM pg_roles WHERE rolname = 'mal'");
    assert!(!power, "mal is a superuser");
}

/// A table is dropped and made again while others look at it: they see it, or hear that it is not there.
#[test]
fn a_table_that_is_dropped_meanwhile_does_not_exist() {
    let server = Server::start("a table that comes and goes");
    let mut session = server.connect("postgres");
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut session = server.connect("postgres");
                while !ends.load(Ordering::Relaxed) {
                    let _ = session.try_run("CREATE TABLE x (id bigserial PRIMARY KEY)");
                    // So that a call can meet it.
                    thread::sleep(Duration::from_millis(2));
                    let _ = session.try_run("DROP TABLE x");
                }
            });
        }
        let begun = Instant::now();
        let (mut bad, mut seen) = (BTreeSet::new(), 0);
        while begun.elapsed().as_secs() < if seen == 0 { 60 } else { 8 } {
            for call in [
                "convert_plan('x', 'id', 'snowflake_next_id(5)')",
                "partition_plan('x', '1 month')",
                "id_columns",
            ] {
                match session.try_run(&format!("SELECT count(*) FROM mint.{call}")) {
                    Ok(()) => seen += usize::from(call != "id_columns"),
                    Err(refusal) if ["42P01", "42809"].contains(&refusal.code.as_str()) => {}
                    Err(refusal) => {
                        bad.insert(format!("{call}: {refusal}"));
                    }
                }
            }
        }
        ends.store(true, Ordering::Relaxed);
        assert!(bad.is_empty(), "{bad:#?}");
        assert!(seen > 0, "no call has met the table");
    });
}
