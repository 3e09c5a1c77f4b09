//! Namesakes of functions for bigint, which a conversion could call in their places.

use mint_cluster::{Server, Session};

/// Returns the details of what prevents a conversion.
fn blockers(session: &mut Session, table: &str) -> String {
    session.one(&format!(
        "SELECT coalesce(string_agg(note, E'\\n'), '') FROM mint.convert_plan('{table}', 'id', 'snowflake_next_id(5)') WHERE note LIKE 'blocker%'"
    ))
}

#[test]
fn a_namesake_for_bigint_is_not_called() {
    let server = Server::start("overloads");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE ROLE mallory LOGIN; GRANT CREATE ON SCHEMA public TO mallory;
         CREATE DOMAIN number AS bigint;
         CREATE FUNCTION public.ok(i integer) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN i > 0;
         CREATE FUNCTION public.ok(i number) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN i > 0;
         CREATE TABLE checked (id serial PRIMARY KEY, v text, CHECK (public.ok(id)));
         CREATE SEQUENCE numbers;
         CREATE TABLE of_domain (id number PRIMARY KEY DEFAULT nextval('numbers'), CHECK (public.ok(id)));
         CREATE TABLE indexed (id serial PRIMARY KEY, v text); CREATE INDEX ON indexed (v) WHERE public.ok(id);
         CREATE TABLE shown (id serial PRIMARY KEY, v text); CREATE VIEW those AS SELECT * FROM shown WHERE public.ok(id);
         CREATE TABLE watched (id serial PRIMARY KEY, v text);
         CREATE TRIGGER watch BEFORE UPDATE ON watched FOR EACH ROW WHEN (public.ok(new.id)) EXECUTE FUNCTION suppress_redundant_updates_trigger();
         CREATE TABLE counted (id serial PRIMARY KEY, v text); CREATE STATISTICS counts ON (public.ok(id)), v FROM counted;
         CREATE TABLE own (id serial PRIMARY KEY); GRANT REFERENCES, SELECT ON own TO mallory",
    );
    let tables = [
        "checked", "of_domain", "indexed", "shown", "watched", "counted",
    ];
    for table in tables {
        if table != "of_domain" {
            session.run(&format!(
                "INSERT INTO {table} (v) SELECT 'x' FROM generate_series(1, 20000)"
            ));
        }
    }
    server.connect_as("mallory", "postgres").run(
        "CREATE FUNCTION public.grab() RETURNS void LANGUAGE plpgsql AS $$ BEGIN ALTER ROLE mallory SUPERUSER; END $$;
         CREATE FUNCTION public.ok(i bigint) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM public.grab(); RETURN true; END $$;
         CREATE TABLE hers (id bigint REFERENCES own)",
    );
    for table in tables {
        let found = blockers(&mut session, table);
        assert!(found.contains("pg_catalog"), "{table}: {found}");
    }
    let found = blockers(&mut session, "own");
    assert!(found.contains("has another owner"), "{found}");
    let refusal = session.refusal("SELECT mint.convert('of_domain', 'id', 'snowflake_next_id(5)')");
    assert_eq!(refusal.code, "0A000", "{refusal}");
    let gained: bool = session.one("SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory'");
    assert!(!gained, "mallory is a superuser");
}
