//! Traps of every name and type in every schema of the search path, with calls of the whole extension beside them: schemas and
//! types are exact, so that any trap that runs was picked by the extension's own SQL.

use super::functions::table::{assert_expected, functions, relations};
use super::planted_objects::{self, Kind, assert_untouched};
use super::statements::{HOME, of_everybody, of_maintenance, of_the_owner, of_the_superuser};
use mint_cluster::{Server, Session};

/// The schemas with traps.
const PLACES: [&str; 3] = [HOME, "public", "pg_temp"];

/// Starts a server with a role that owns databases, one that owns nothing, and a database in which the extension was
/// created without traps.
fn server() -> (Server, Vec<String>) {
    let server = Server::build("a hostile database")
        .conf("pg_mint.node = 3")
        .start();
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE dana LOGIN; CREATE ROLE bob LOGIN");
    let functions = planted_objects::functions(&mut session);
    assert!(functions.len() > 300, "{} functions", functions.len());
    (server, functions)
}

/// Creates the extension beside these traps and calls everything, as its creator, as another role and as a superuser, in
/// one session, as `pg_temp` belongs to the session.
fn call_beside(server: &Server, database: &str, sets: &[(Kind, &str)], planted: &[String]) {
    server
        .connect("postgres")
        .run(&format!("CREATE DATABASE {database} OWNER dana"));
    let mut session = server.connect(database);
    session.run(
        "CREATE FOREIGN DATA WRAPPER dummy; CREATE SERVER srv FOREIGN DATA WRAPPER dummy;
         GRANT USAGE ON FOREIGN SERVER srv TO dana, bob;
         CREATE SCHEMA evil AUTHORIZATION dana; GRANT USAGE ON SCHEMA evil TO bob;
         CREATE SCHEMA of_dana AUTHORIZATION dana; CREATE SCHEMA of_bob AUTHORIZATION bob; CREATE SCHEMA of_postgres",
    );
    for &(kind, place) in sets {
        planted_objects::set(&mut session, kind, place, "dana", planted);
    }
    session.run(&format!(
        "SET SESSION AUTHORIZATION dana; CREATE EXTENSION pg_mint SCHEMA {HOME}"
    ));
    assert_untouched(server, &format!("{sets:?}: installing"));
    let callable = ["dana", "bob", "postgres"].map(|role| {
        let mut reader = server.connect(database);
        reader.run("SET search_path = pg_catalog, pg_temp");
        let which =
            format!("prokind <> 'a' AND has_function_privilege('{role}', p.oid, 'EXECUTE')");
        (role, functions(&mut reader, &which))
    });
    // With pg_catalog first and last.
    for (round, path) in ["evil, public", "pg_temp, evil, public, pg_catalog"]
        .iter()
        .enumerate()
    {
        session.run("RESET SESSION AUTHORIZATION");
        session.run(&format!("SET search_path = {path}"));
        for (role, callable) in &callable {
            let place = format!("of_{role}");
            let mut all = relations(HOME, &place);
            all.extend(of_everybody(&place));
            if *role != "bob" {
                all.extend(of_the_owner(2 * round + usize::from(*role == "dana")));
            }
            if *role == "postgres" {
                all.extend(of_the_superuser());
            }
            session.run(&format!("SET SESSION AUTHORIZATION {role}"));
            for statement in all {
                session.run(&statement);
                assert_untouched(server, &format!("{sets:?}: {role}: {statement}"));
            }
            assert_expected(&mut session, callable, &place, |statement| {
                assert_untouched(server, &format!("{sets:?}: {role}: {statement}"));
            });
            session.run("RESET SESSION AUTHORIZATION");
            session.run(&format!(
                "DROP SCHEMA {place} CASCADE; CREATE SCHEMA {place} AUTHORIZATION {role}"
            ));
        }
    }
    session.run("SET search_path = evil, public");
    maintain(server, &mut session, sets);
    assert_unbound(&mut session);
}

fn maintain(server: &Server, session: &mut Session, sets: &[(Kind, &str)]) {
    session.run("SET SESSION AUTHORIZATION dana");
    for statement in of_maintenance("of_dana") {
        session.run(&statement);
        assert_untouched(server, &format!("{sets:?}: {statement}"));
    }
    session.run("RESET SESSION AUTHORIZATION");
    for statement in [
        "REFRESH MATERIALIZED VIEW of_dana.seen".to_owned(),
        "ANALYZE mint.registry_leases, mint.registry, of_dana.item".to_owned(),
        "REINDEX SCHEMA mint".to_owned(),
        "REINDEX SCHEMA of_dana".to_owned(),
        "CLUSTER mint.registry_leases USING registry_leases_pkey".to_owned(),
        "VACUUM FULL mint.registry".to_owned(),
    ] {
        session.run(&statement);
        assert_untouched(server, &format!("{sets:?}: {statement}"));
    }
}

/// Asserts that objects of the extension depend on nothing but the server's objects, each other and their schema.
fn assert_unbound(session: &mut Session) {
    session.run("SET search_path = pg_catalog, pg_temp");
    let strangers: Vec<String> = session.column(
        "WITH RECURSIVE part AS (
             SELECT d.classid, d.objid FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
             WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = 'pg_mint'
             UNION
             SELECT d.classid, d.objid FROM pg_catalog.pg_depend d JOIN part p ON d.refclassid = p.classid AND d.refobjid = p.objid
             WHERE d.deptype IN ('i', 'a', 'P', 'S') AND d.classid <> 'pg_class'::regclass
                OR d.deptype IN ('i', 'a') AND d.classid = 'pg_class'::regclass
                   AND (SELECT relkind FROM pg_catalog.pg_class WHERE oid = d.objid) IN ('i', 't')
         )
         SELECT DISTINCT pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid) || ' on '
             || pg_catalog.pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid)
         FROM pg_catalog.pg_depend d JOIN part p ON d.classid = p.classid AND d.objid = p.objid
         WHERE d.refclassid NOT IN ('pg_extension'::regclass, 'pg_namespace'::regclass) AND d.refobjid >= 16384
             AND (d.refclassid, d.refobjid) NOT IN (SELECT classid, objid FROM part)",
    );
    assert!(strangers.is_empty(), "{strangers:#?}");
    let parts: i64 = session.one(
        "SELECT count(*) FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid
         WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = 'pg_mint'",
    );
    assert!(parts > 150, "{parts} members");
}

/// Shows that the traps of the other tests do work.
#[test]
fn traps_go_off() {
    let (server, functions) = server();
    let mut session = server.connect("postgres");
    let seen = |words: &str| {
        let marked = |line: &str| line.contains(planted_objects::MARK) && line.contains(words);
        server.log().lines().any(marked)
    };
    session.run("CREATE SCHEMA evil");
    for place in ["evil", "public"] {
        planted_objects::set(&mut session, Kind::Operators, place, "dana", &functions);
        planted_objects::set(&mut session, Kind::Functions, place, "dana", &functions);
        session.run(&format!("SET search_path = {place}"));
        for (statement, words) in [
            ("SELECT 1::int4 * 1.5::numeric", "on integer and numeric"),
            (
                "SELECT 1::oid = 'pg_class'::regclass",
                "on oid and regclass",
            ),
            ("SELECT 'x'::text || 'y'::name", "on text and name"),
            ("SELECT quote_ident('x'::name)", "function quote_ident"),
        ] {
            let words = if words.starts_with("on") {
                format!("operator of {place} {words}")
            } else {
                format!("{words} of {place}")
            };
            assert!(!seen(&words), "{words}");
            session.run(statement);
            assert!(
                seen(&words),
                "{statement} ran no {words}:\n{}",
                server.log()
            );
        }
    }
    planted_objects::set(&mut session, Kind::Relations, "pg_temp", "dana", &functions);
    session.run("RESET search_path; SELECT 1 FROM pg_extension");
    assert!(seen("relation or type of pg_temp"), "{}", server.log());
}

#[test]
fn operators_alone_are_not_picked() {
    let (server, functions) = server();
    for (number, place) in PLACES.iter().enumerate() {
        let set = [(Kind::Operators, *place)];
        call_beside(&server, &format!("operators{number}"), &set, &functions);
    }
}

#[test]
fn functions_and_relations_alone_are_not_picked() {
    let (server, functions) = server();
    for (number, place) in PLACES.iter().enumerate() {
        let set = [(Kind::Functions, *place)];
        call_beside(&server, &format!("functions{number}"), &set, &functions);
    }
    call_beside(
        &server,
        "relations",
        &[(Kind::Relations, "pg_temp")],
        &functions,
    );
}

#[test]
fn all_together_are_not_picked() {
    let (server, functions) = server();
    let mut sets: Vec<(Kind, &str)> = Vec::new();
    for place in PLACES {
        sets.extend([(Kind::Operators, place), (Kind::Functions, place)]);
    }
    sets.push((Kind::Relations, "pg_temp"));
    call_beside(&server, "all_of_them", &sets, &functions);
}

/// Dumped beside traps by a superuser and restored.
#[test]
fn a_dump_and_its_restoration_run_no_trap() {
    let (server, functions) = server();
    let sets = [(Kind::Functions, HOME), (Kind::Functions, "public")];
    call_beside(&server, "source", &sets, &functions);
    let mut session = server.connect("source");
    session.run("DROP SCHEMA of_dana CASCADE");
    let dump = server.dump("postgres", "source");
    session.run("CREATE DATABASE target OWNER dana");
    server.restore("postgres", "target", &dump);
    let mut session = server.connect("target");
    session.run("ANALYZE");
    for call in [
        "evil.snowflake_next_id(5::pg_catalog.int4, 'twitter'::evil.snowflake_layout)",
        "mint.registry_create()",
        "* FROM mint.registry_leases",
    ] {
        session.run(&format!("SELECT {call}"));
    }
    assert_untouched(&server, "dumping and restoring");
    assert_unbound(&mut session);
}

/// CREATE EXTENSION fails where an object has the name of one of the extension's.
#[test]
fn the_extension_is_not_created_over_objects_of_its_names() {
    let (server, _) = server();
    let mut session = server.connect("postgres");
    session.run("CREATE DATABASE names OWNER dana");
    let mut dana = server.connect_as("dana", "names");
    for (kind, taken, code) in [
        ("TYPE", "objectid AS (one int)", "42710"),
        ("DOMAIN", "snowflake_layout AS text", "42710"),
        (
            "FUNCTION",
            "uuid_v7() RETURNS uuid LANGUAGE sql RETURN NULL::uuid",
            "42723",
        ),
    ] {
        dana.run(&format!("CREATE SCHEMA evil; CREATE {kind} evil.{taken}"));
        let refusal = dana.refusal("CREATE EXTENSION pg_mint SCHEMA evil");
        assert_eq!(refusal.code, code, "{kind} {taken}: {refusal}");
        dana.run("DROP SCHEMA evil CASCADE");
    }
    dana.run("CREATE SCHEMA evil; CREATE EXTENSION pg_mint SCHEMA evil");
}
