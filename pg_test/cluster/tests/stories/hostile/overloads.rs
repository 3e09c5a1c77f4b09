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
         CREATE DOMAIN small_number AS number;
         CREATE SCHEMA closed;
         CREATE FUNCTION closed.ok(i bigint) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN i > 0;
         CREATE FUNCTION public.said(t text) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN t <> '';
         CREATE FUNCTION public.any_ok(i anyelement) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT i IS NOT NULL';
         CREATE TABLE any_checked (id serial PRIMARY KEY, v text, CHECK (public.any_ok(id)));
         CREATE TABLE defaulted (id integer PRIMARY KEY DEFAULT CASE WHEN public.any_ok(1) THEN 1 END, v text);
         CREATE TABLE compared (id serial PRIMARY KEY, v text);
         CREATE FUNCTION public.above(a integer, b integer) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN a > b;
         CREATE OPERATOR public.>>>> (LEFTARG = integer, RIGHTARG = integer, FUNCTION = public.above);
         CREATE VIEW above AS SELECT v FROM compared WHERE id OPERATOR(public.>>>>) 7;
         CREATE VIEW above_that AS SELECT v FROM above;
         CREATE TABLE apart (id serial PRIMARY KEY, v text, CHECK (closed.ok(id) AND public.said(v) AND public.said(id::text)));
         CREATE VIEW of_apart AS SELECT id FROM apart WHERE closed.ok(id) AND public.said(id::text);
         CREATE SEQUENCE numbers; CREATE SEQUENCE more_numbers;
         CREATE TABLE of_domain (id number PRIMARY KEY DEFAULT nextval('numbers'), CHECK (public.ok(id)));
         CREATE TABLE of_domains (id small_number PRIMARY KEY DEFAULT nextval('more_numbers'));
         ALTER DOMAIN number ADD CHECK (public.any_ok(value));
         CREATE TABLE indexed (id serial PRIMARY KEY, v text); CREATE INDEX ON indexed (v) WHERE public.ok(id);
         CREATE TABLE shown (id serial PRIMARY KEY, v text); CREATE VIEW those AS SELECT * FROM shown WHERE public.ok(id);
         CREATE TABLE watched (id serial PRIMARY KEY, v text);
         CREATE TRIGGER watch BEFORE UPDATE ON watched FOR EACH ROW WHEN (public.ok(new.id)) EXECUTE FUNCTION suppress_redundant_updates_trigger();
         CREATE TABLE counted (id serial PRIMARY KEY, v text); CREATE STATISTICS counts ON (public.ok(id)), v FROM counted;
         CREATE TABLE own (id serial PRIMARY KEY); GRANT REFERENCES, SELECT ON own TO mallory",
    );
    let tables = [
        "checked", "any_checked", "defaulted", "compared", "of_domain", "of_domains", "indexed",
        "shown", "watched", "counted",
    ];
    for table in tables {
        if !table.starts_with("of_domain") && table != "defaulted" {
            session.run(&format!(
                "INSERT INTO {table} (v) SELECT 'x' FROM generate_series(1, 20000)"
            ));
        }
    }
    server.connect_as("mallory", "postgres").run(
        "CREATE FUNCTION public.grab() RETURNS void LANGUAGE plpgsql AS $$ BEGIN ALTER ROLE mallory SUPERUSER; END $$;
         CREATE FUNCTION public.ok(i bigint) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM public.grab(); RETURN true; END $$;
         CREATE FUNCTION public.any_ok(i bigint) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM public.grab(); RETURN true; END $$;
         CREATE TABLE hers (id bigint REFERENCES own)",
    );
    for table in tables {
        let found = blockers(&mut session, table);
        assert!(found.contains("could call another one"), "{table}: {found}");
    }
    // What nobody else can put another one beside, and what is called with an exact type, is no obstacle.
    assert_eq!(blockers(&mut session, "apart"), "");
    session.run("GRANT CREATE ON SCHEMA closed TO mallory");
    assert!(blockers(&mut session, "apart").contains("Roles without the privileges of the owner"));
    let found = blockers(&mut session, "own");
    assert!(found.contains("has another owner"), "{found}");
    let refusal = session.refusal("SELECT mint.convert('of_domain', 'id', 'snowflake_next_id(5)')");
    assert_eq!(refusal.code, "0A000", "{refusal}");
    let gained: bool = session.one("SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory'");
    assert!(!gained, "mallory is a superuser");
}

/// Arrays of a column become arrays of bigint, for which another role has functions beside those of the owner.
#[test]
fn a_namesake_for_arrays_is_not_called() {
    let server = Server::start("overloads of arrays");
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE app LOGIN; CREATE ROLE evil LOGIN; CREATE SCHEMA s AUTHORIZATION app; CREATE SCHEMA s2; GRANT USAGE, CREATE ON SCHEMA s2 TO app");
    let mut app = server.connect_as("app", "postgres");
    app.run(
        "CREATE FUNCTION s2.g(a int[]) RETURNS text LANGUAGE sql IMMUTABLE AS 'select a::text';
         CREATE FUNCTION s2.k(VARIADIC a int[]) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'select true';
         CREATE TABLE s.viewed (id serial PRIMARY KEY, name text); CREATE VIEW s.v AS SELECT name, s2.g(array_agg(id)) FROM s.viewed GROUP BY name;
         CREATE TABLE s.checked (id serial PRIMARY KEY, name text, CHECK (s2.k(id, 5)));
         CREATE TABLE s.indexed (id serial PRIMARY KEY, name text); CREATE INDEX ON s.indexed (s2.g(ARRAY[id]))",
    );
    session.run("GRANT CREATE, USAGE ON SCHEMA s2 TO evil");
    let tables = ["s.viewed", "s.checked", "s.indexed"];
    for table in tables {
        let found = blockers(&mut app, table);
        assert!(found.contains("could call another one"), "{table}: {found}");
    }
    // A member that neither inherits nor sets the role is another role.
    if server.major() >= 16 {
        session.run("GRANT app TO evil WITH INHERIT FALSE, SET FALSE");
        let found = blockers(&mut app, "s.indexed");
        assert!(found.contains("could call another one"), "{found}");
        session.run("GRANT app TO evil WITH INHERIT TRUE");
    } else {
        session.run("GRANT app TO evil");
    }
    let found = blockers(&mut app, "s.indexed");
    assert!(!found.contains("could call another one"), "{found}");
    session.run("REVOKE app FROM evil");
    server.connect_as("evil", "postgres").run(
        "CREATE FUNCTION s2.g(a bigint[]) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN 'evil'; END $$;
         CREATE FUNCTION s2.k(VARIADIC a bigint[]) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN true; END $$",
    );
    for table in tables {
        let found = blockers(&mut app, table);
        assert!(found.contains("could call another one"), "{table}: {found}");
    }
}
