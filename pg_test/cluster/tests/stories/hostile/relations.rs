//! Every function of the extension, on relations whose every object is a trap: none springs as another role than the owner.
//! Functions and relations are those of the catalogs, so a new one is covered, and one that cannot be called fails.

use super::planted_objects::{self, Kind, MARK};
use super::trapped_relations;
use mint_cluster::{Refusal, Server, Session};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A function of the extension.
struct Function {
    /// With its schema and the types of its arguments.
    name: String,
    /// What is called: its schema and name, quoted.
    call: String,
    is_procedure: bool,
    arguments: Vec<Argument>,
    /// How many of the last arguments can be left out.
    defaults: usize,
}

struct Argument {
    name: String,
    /// With its schema.
    kind: String,
}

/// A relation, by its quoted name, and the names of its columns.
struct Relation {
    name: String,
    columns: Vec<String>,
}

/// Functions that only the server calls, by the types of what they take or return.
const OF_THE_SERVER: &str = "'{internal,cstring,trigger,event_trigger}'::regtype[]";

fn functions(session: &mut Session) -> Vec<Function> {
    let rows: Vec<String> = session.column(&format!(
        "SELECT p.oid::regprocedure || '|' || quote_ident(n.nspname) || '.' || quote_ident(p.proname) || '|' || p.prokind::text || '|' || p.pronargdefaults
            || '|' || coalesce((SELECT string_agg(coalesce(p.proargnames[a.at], '') || ' ' || quote_ident(s.nspname) || '.' || quote_ident(t.typname), ',' ORDER BY a.at)
                FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a (type, at) JOIN pg_type t ON t.oid = a.type JOIN pg_namespace s ON s.oid = t.typnamespace), '')
         FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
         JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
         JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'pg_mint'
         WHERE NOT p.prorettype = ANY ({OF_THE_SERVER}) AND NOT p.proargtypes::oid[] && {OF_THE_SERVER}::oid[]
         ORDER BY 1"
    ));
    rows.iter()
        .map(|row| {
            let fields: Vec<&str> = row.split('|').collect();
            let [name, call, kind, defaults, arguments] = fields[..] else {
                panic!("{row}");
            };
            let argument = |text: &str| {
                let (name, kind) = text.rsplit_once(' ').expect("a name and a type");
                Argument {
                    name: name.to_owned(),
                    kind: kind.to_owned(),
                }
            };
            Function {
                name: name.to_owned(),
                call: call.to_owned(),
                is_procedure: kind == "p",
                arguments: arguments
                    .split(',')
                    .filter(|text| !text.is_empty())
                    .map(argument)
                    .collect(),
                defaults: defaults.parse().expect("a number"),
            }
        })
        .collect()
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

/// The values of an argument that is no relation and no column of one, by its name and its type. The first one is a good one
/// wherever there is one.
fn values(name: &str, kind: &str) -> Vec<String> {
    let of_name: &[&str] = match name {
        "new_default" => &["'public.snowflake_next_id(5)'", "'prey.next()'"],
        "name" | "to" => &["'prey.created'", "'seq_1_to_5'"],
        "zone" => &["'UTC'"],
        "prefix" => &["'user'"],
        "source" => &["NULL", "'far'"],
        "source_sequence" | "key" => &["NULL"],
        "every" | "keep" | "lease" => &["'1 month'", "'10 s'"],
        "lock_timeout" => &["'100 ms'"],
        "bits" => &["64"],
        "layout" => &["'instagram'"],
        "node_bits" => &["10"],
        "above" => &["10000"],
        _ => &[],
    };
    let of_type: &[&str] = match kind.replace('"', "").as_str() {
        "pg_catalog.int2" | "pg_catalog.int4" | "pg_catalog.int8" | "pg_catalog.numeric" => {
            &["2", "1"]
        }
        "pg_catalog.float8" => &["0.5"],
        "pg_catalog.bool" => &["false"],
        "pg_catalog.text" | "pg_catalog.varchar" => &[
            "'x'",
            "'twitter'",
            "'8c8f0e5c-7c6f-11ee-b962-0242ac120002'",
            "'user_01h455vb4pex5vsknk084sn02q'",
        ],
        "pg_catalog.bytea" => &[
            "'\\x00112233445566778899aabbccddeeff'",
            "'\\x00112233445566778899aabb'",
        ],
        "pg_catalog.uuid" => &["'8c8f0e5c-7c6f-11ee-b962-0242ac120002'"],
        "pg_catalog.timestamptz" | "pg_catalog.timestamp" | "pg_catalog.date" => &["'2025-01-01'"],
        "pg_catalog.interval" => &["'1 month'"],
        "pg_catalog.jsonb" => &["'{\"protocol\": 1}'"],
        "pg_catalog._int8" | "pg_catalog._int4" => &["'{1,2}'"],
        "pg_catalog._text" => &["'{x}'"],
        "pg_catalog.pg_node_tree" => &["NULL"],
        "public.objectid" => &["'507f1f77bcf86cd799439011'"],
        "public.snowflake_layout" => &["'instagram'"],
        other => panic!(
            "values of type {other} are not known here: add some, so that {name} can be called"
        ),
    };
    let of_name = of_name.iter().copied();
    let known: Vec<&str> = of_name.chain(of_type.iter().copied()).collect();
    let literal = |value: &&str| format!("{value}::{kind}");
    known.iter().map(literal).collect()
}

/// Whether an argument says a relation, by its oid or its name.
fn is_relation(argument: &Argument) -> bool {
    ["pg_catalog.regclass", "pg_catalog.oid"].contains(&argument.kind.as_str())
        || ["table_name", "relation", "parent"].contains(&argument.name.as_str())
}

/// All calls of a function: with each relation, and with each column of that; else with few values.
fn calls(function: &Function, relations: &[Relation]) -> Vec<String> {
    let takes_relation = function.arguments.iter().any(is_relation);
    let none = [Relation {
        name: String::new(),
        columns: Vec::new(),
    }];
    let all = if takes_relation { relations } else { &none };
    let mut calls = Vec::new();
    for of in all {
        let mut lists: Vec<Vec<String>> = vec![Vec::new()];
        let least = function.arguments.len() - function.defaults;
        for (place, argument) in function.arguments.iter().enumerate() {
            if place >= least && !takes_relation {
                calls.extend(lists.iter().map(|list| written(function, list)));
            }
            let choices: Vec<String> = if is_relation(argument) {
                let name = of.name.replace('\'', "''");
                match argument.kind.as_str() {
                    "pg_catalog.oid" => {
                        vec![format!("'{name}'::pg_catalog.regclass::pg_catalog.oid")]
                    }
                    kind => vec![format!("'{name}'::{kind}")],
                }
            } else if argument.name == "column_name" {
                // Of one relation of each kind all.
                let most = if of.name.ends_with("_1000") { 20 } else { 2 };
                let literal = |name: &String| format!("'{name}'::{}", argument.kind);
                of.columns.iter().take(most).map(literal).collect()
            } else {
                let mut values = values(&argument.name, &argument.kind);
                // Defaults, and what goes with many relations, once.
                let most = match argument.name.as_str() {
                    "new_default" => 2,
                    _ if place >= least || takes_relation => 1,
                    _ => 4,
                };
                values.truncate(most);
                values
            };
            lists = lists
                .iter()
                .flat_map(|list| {
                    choices.iter().map(move |choice| {
                        let mut longer = list.clone();
                        longer.push(choice.clone());
                        longer
                    })
                })
                .collect();
        }
        calls.extend(lists.iter().map(|list| written(function, list)));
    }
    calls
}

fn written(function: &Function, arguments: &[String]) -> String {
    let call = format!("{}({})", function.call, arguments.join(", "));
    if function.is_procedure {
        format!("CALL {call}")
    } else {
        format!("SELECT * FROM (SELECT {call}) AS called")
    }
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
    // What a session has drawn last can be asked for.
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
                let is_right = session.try_run(&call).is_err_and(|it| is_right(&it.code));
                assert!(is_right || role == trapped_relations::OWNER, "{call}");
                continue;
            }
            // Nothing is left for the next call.
            match session.try_run(&format!("BEGIN; {call}; ROLLBACK")) {
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
    let (functions, relations) = (functions(&mut root), relations(&mut root));
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
