//! Statements of programs that use sequences, as pg_stat_statements has counted them.

use mint_cluster::{Server, Session};

const PLAN: &str = "mint.convert_plan('customer', 'id', 'snowflake_next_id(5)')";

fn note(session: &mut Session) -> Option<String> {
    let notes: Vec<String> = session.column(&format!(
        "SELECT note FROM {PLAN} WHERE note LIKE '%pg_stat_statements%'"
    ));
    assert!(notes.len() < 2, "{notes:?}");
    notes.into_iter().next()
}

fn finding(session: &mut Session) -> Option<String> {
    let found: Vec<String> = session.column(
        "SELECT evidence FROM mint.audit('customer', 'id') WHERE finding = 'statements use sequences'",
    );
    found.into_iter().next()
}

/// The plan and the audit name them, for a user who may read them, and in a database that has them.
#[test]
fn statements_that_use_sequences_are_found() {
    let server = Server::build("counted statements")
        .conf("shared_preload_libraries = 'pg_stat_statements'")
        .start();
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE app LOGIN");
    session.run("CREATE DATABASE shop OWNER app");
    let mut session = server.connect_as("app", "shop");
    session.run(
        "CREATE EXTENSION pg_mint; CREATE TABLE customer (id bigserial PRIMARY KEY, name text)",
    );
    // Without the extension there is nothing to read.
    assert_eq!((note(&mut session), finding(&mut session)), (None, None));

    let mut boss = server.connect("shop");
    boss.run("CREATE SCHEMA \"its own\"; CREATE EXTENSION pg_stat_statements SCHEMA \"its own\"");
    // Nor in a schema that the user may not use.
    assert_eq!((note(&mut session), finding(&mut session)), (None, None));
    boss.run(
        "GRANT USAGE ON SCHEMA \"its own\" TO app; SELECT \"its own\".pg_stat_statements_reset()",
    );
    assert_eq!((note(&mut session), finding(&mut session)), (None, None));

    for _ in 0..3 {
        session.run("SELECT nextval('customer_id_seq')");
    }
    session.run("INSERT INTO customer (name)   VALUES ('Ada')");
    session.run("INSERT INTO customer (name)\n SELECT 'no ' || lastval ()");
    session.run("SELECT last_value FROM Customer_Id_Seq");
    session.run("SELECT name AS my_lastval FROM customer");
    // What others sent is hidden from this user.
    boss.run("SELECT setval('customer_id_seq', 7)");
    let expected = "3 calls of SELECT nextval($1); 1 call of INSERT INTO customer (name) SELECT $1 || lastval (); 1 call of SELECT last_value FROM Customer_Id_Seq.";
    assert_eq!(finding(&mut session).as_deref(), Some(expected));
    let note_of_plan = note(&mut session).expect("a note");
    assert!(note_of_plan.ends_with(expected), "{note_of_plan}");
    let all = finding(&mut boss).expect("a finding");
    assert!(all.contains("1 call of SELECT setval($1, $2)"), "{all}");

    // Another database has its own statements.
    let mut other = server.connect("postgres");
    other.run("CREATE EXTENSION pg_stat_statements; CREATE TABLE customer (id serial PRIMARY KEY)");
    assert_eq!((note(&mut other), finding(&mut other)), (None, None));
    // An integer column has them too.
    other.run("SELECT nextval('customer_id_seq')");
    let of_script = note(&mut other).expect("a note of the script");
    assert!(
        of_script.contains("1 call of SELECT nextval($1)"),
        "{of_script}"
    );
}

/// A library that is not loaded has counted nothing, and reading its view would be an error.
#[test]
fn an_extension_without_its_library_is_left_alone() {
    let server = Server::start("no counted statements");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE EXTENSION pg_stat_statements; CREATE TABLE customer (id bigserial PRIMARY KEY);
        SELECT nextval('customer_id_seq')",
    );
    for setting in ["", "SET pg_stat_statements.max = 'a placeholder'"] {
        session.run(setting);
        assert_eq!((note(&mut session), finding(&mut session)), (None, None));
    }
    let refusal = session.refusal("SELECT * FROM pg_stat_statements");
    assert_eq!(refusal.code, "55000", "{refusal}");
}
