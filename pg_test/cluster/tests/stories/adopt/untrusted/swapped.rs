//! What another role puts in the place of what a text names, or adds to it: a cast of an enum, an overload, another schema of
//! the name. Nothing of that role runs as the owner of the table.

use super::domains::{assert_not_sprung, bob, each, set, start};
use mint_cluster::Server;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Returns what the plan says to the owner, and to a superuser.
fn plan(server: &Server, table: &str, new_default: &str) -> [String; 2] {
    let new_default = new_default.replace('\'', "''");
    each(
        server,
        &format!(
            "SELECT string_agg(note, E'\\n') FROM mint.convert_plan('{table}', 'id', '{new_default}')"
        ),
    )
}

/// The owner of an enum can add a cast, which its text would mean when it is parsed again.
#[test]
fn casts_that_the_owner_of_an_enum_adds() {
    let server = start("casts of an enum");
    bob(&server).run("CREATE TYPE e.en AS ENUM ('x', 'y')");
    let mut tables = Vec::new();
    for role in ["alice", "postgres"] {
        for kind in ["serial", "bigserial"] {
            let table = format!("{role}_{kind}");
            server.connect_as(role, "postgres").run(&format!(
                "CREATE TABLE {table} (id {kind} PRIMARY KEY, c e.en, CHECK (id > 0 OR 'x'::e.en::text <> 'x'), CHECK (id > 0 OR '{{x}}'::e.en[]::text[] IS NULL));
                 CREATE VIEW {table}_view AS SELECT id, 'x'::e.en::text AS kind FROM {table}"
            ));
            tables.push(table);
        }
        let table = format!("{role}_uuid");
        server.connect_as(role, "postgres").run(&format!(
            "CREATE TABLE {table} (id uuid PRIMARY KEY DEFAULT md5('x'::e.en::text)::uuid)"
        ));
    }
    bob(&server).run(
        "CREATE FUNCTION e.said(e.en) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM e.now(); RETURN 'x'; END $$;
         CREATE CAST (e.en AS text) WITH FUNCTION e.said(e.en)",
    );
    for table in tables {
        let said = plan(&server, &table, "snowflake_next_id(5)");
        assert_not_sprung(&server, &format!("plan of {table}: {said:?}"));
        each(
            &server,
            &format!("SELECT mint.convert('{table}', 'id', 'snowflake_next_id(5)')"),
        );
        assert_not_sprung(&server, &format!("conversion of {table}"));
    }
    for role in ["alice", "postgres"] {
        let back = each(
            &server,
            &format!("SELECT mint.convert('{role}_uuid', 'id', 'uuid_v7()')"),
        );
        assert!(back[1].contains("values of type e.en"), "{back:?}");
        assert_not_sprung(&server, "conversion of a uuid");
    }
}

/// A function or a domain of the owner has a cast to a domain of another role.
#[test]
fn casts_in_what_the_owner_has_made() {
    let server = start("casts below");
    for role in ["alice", "postgres"] {
        server.connect_as(role, "postgres").run(&format!(
            "CREATE FUNCTION {role}_atomic(int) RETURNS int IMMUTABLE LANGUAGE sql RETURN $1::e.d;
             CREATE DOMAIN {role}_domain AS int CHECK (VALUE::e.d IS NOT NULL OR VALUE IS NULL);
             CREATE TABLE {role}_calls (id bigserial PRIMARY KEY, n int); CREATE INDEX ON {role}_calls ({role}_atomic(n));
             CREATE TABLE {role}_casts (id bigserial PRIMARY KEY, n int); CREATE INDEX ON {role}_casts ((n::{role}_domain));
             CREATE TABLE {role}_counts (id bigserial PRIMARY KEY, n int); CREATE STATISTICS {role}_some ON (n::{role}_domain), n FROM {role}_counts;
             CREATE TABLE {role}_parts (id bigint DEFAULT snowflake_next_id(5), n int) PARTITION BY RANGE (id); CREATE INDEX ON {role}_parts ({role}_atomic(n))"
        ));
    }
    set(&server);
    for role in ["alice", "postgres"] {
        for of in ["calls", "casts", "counts"] {
            let table = format!("{role}_{of}");
            let said = plan(&server, &table, "snowflake_next_id(5)");
            assert_not_sprung(&server, &format!("plan of {table}: {said:?}"));
            each(
                &server,
                &format!("SELECT mint.convert('{table}', 'id', 'snowflake_next_id(5)')"),
            );
            assert_not_sprung(&server, &format!("conversion of {table}"));
        }
        each(
            &server,
            &format!("CALL mint.partition_maintain('{role}_parts', '1 day')"),
        );
        assert_not_sprung(&server, &format!("partitions of {role}"));
    }
}

/// What has the name of a generator, and fits the arguments better, is not run to see what it is.
#[test]
fn overloads_of_a_generator() {
    let server = start("overloads of a generator");
    bob(&server).run(
        "CREATE FUNCTION public.snowflake_next_id(int, text) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM e.now(); RETURN 1; END $$;
         CREATE FUNCTION public.segment_next(text) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM e.now(); RETURN 1; END $$",
    );
    server
        .connect("postgres")
        .run("CREATE TABLE t (id bigserial PRIMARY KEY); CREATE SEQUENCE sq");
    for default in ["snowflake_next_id(5, 'twitter')", "segment_next('sq')"] {
        let said = plan(&server, "t", default);
        assert!(said[1].contains("is not a call of a generator"), "{said:?}");
        assert_not_sprung(&server, default);
    }
}

/// A conversion waits for its lock while the owner of the schema of the extension puts another schema in its place.
#[test]
fn a_schema_that_is_swapped_while_a_conversion_waits() {
    let server = Server::start("a swapped schema");
    let mut root = server.connect("postgres");
    root.run("CREATE ROLE bob LOGIN");
    root.run("CREATE DATABASE of_bob OWNER bob");
    let mut root = server.connect("of_bob");
    root.run(
        "CREATE EXTENSION pg_mint; CREATE SCHEMA adm; CREATE TABLE adm.orders (id bigserial PRIMARY KEY, n int);
         GRANT USAGE ON SCHEMA adm TO bob; GRANT SELECT ON adm.orders TO bob",
    );
    let mut reader = server.connect_as("bob", "of_bob");
    reader.run("BEGIN; SELECT count(*) FROM adm.orders");
    let refusal = thread::scope(|scope| {
        let convert = scope.spawn(|| {
            let mut root = server.connect("of_bob");
            root.try_one::<String>("SELECT mint.convert('adm.orders', 'id', 'snowflake_next_id(5)', lock_timeout => '5s')")
        });
        server.until("the conversion waits", || {
            root.one::<bool>("SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'adm.orders'::regclass AND NOT granted)")
        });
        server.connect_as("bob", "of_bob").run(
            "BEGIN; ALTER SCHEMA public RENAME TO old_public; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC;
             CREATE FUNCTION public.snowflake_next_id(int) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'TRAP'; RETURN old_public.snowflake_next_id($1); END $$; COMMIT",
        );
        reader.run("COMMIT");
        convert.join().expect("a thread that returns")
    });
    let error = refusal.expect_err("names that mean others are refused");
    assert_eq!(error.code, "55000", "{error}");
    root.run("INSERT INTO adm.orders (n) VALUES (1)");
    assert_not_sprung(&server, "the default");
}

/// The owner of a schema swaps it with another again and again while a superuser plans a table with names in it.
#[test]
fn a_schema_that_is_swapped_again_and_again() {
    let server = start("schemas that are swapped");
    server
        .connect("postgres")
        .run("GRANT CREATE ON DATABASE postgres TO bob");
    bob(&server).run("CREATE SCHEMA swap; GRANT USAGE, CREATE ON SCHEMA swap TO PUBLIC");
    let mut root = server.connect("postgres");
    root.run(
        "CREATE DOMAIN swap.at AS int; CREATE FUNCTION swap.f(text) RETURNS text IMMUTABLE LANGUAGE sql RETURN $1;
         CREATE TABLE t (id bigserial PRIMARY KEY, n text, CHECK (id > 0 OR '{1}'::swap.at[] IS NOT NULL), CHECK (id > 0 OR swap.f('x') IS NOT NULL))",
    );
    bob(&server).run(
        "CREATE SCHEMA other; GRANT USAGE ON SCHEMA other TO PUBLIC; CREATE DOMAIN other.at AS int CHECK (e.now());
         CREATE FUNCTION other.f(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM e.now(); RETURN $1; END $$",
    );
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut bob = bob(&server);
            while !ends.load(Ordering::Relaxed) {
                bob.run("BEGIN; ALTER SCHEMA swap RENAME TO third; ALTER SCHEMA other RENAME TO swap; ALTER SCHEMA third RENAME TO other; COMMIT");
            }
        });
        for _ in 0..150 {
            let _ = root.try_one::<i64>(
                "SELECT count(*) FROM mint.convert_plan('t', 'id', 'snowflake_next_id(5)')",
            );
        }
        ends.store(true, Ordering::Relaxed);
    });
    assert_not_sprung(&server, "plans");
}

/// The owner of a schema can put a table of its own in the place of one of another role at any time.
#[test]
fn tables_in_a_schema_of_another() {
    let server = start("schemas of others");
    server
        .connect("postgres")
        .run("GRANT CREATE ON SCHEMA e TO alice; CREATE SCHEMA own AUTHORIZATION alice");
    for role in ["alice", "postgres"] {
        server.connect_as(role, "postgres").run(&format!(
            "CREATE TABLE e.{role}_narrow (id serial PRIMARY KEY); CREATE TABLE e.{role}_wide (id bigserial PRIMARY KEY);
             CREATE TABLE e.{role}_parts (id bigint DEFAULT snowflake_next_id(5)) PARTITION BY RANGE (id);
             CREATE TABLE own.{role}_parts (id bigint DEFAULT snowflake_next_id(5)) PARTITION BY RANGE (id);
             CREATE TABLE e.{role}_rest PARTITION OF own.{role}_parts DEFAULT"
        ));
    }
    let calls = |role: &str| {
        [
            format!("SELECT mint.convert('e.{role}_wide', 'id', 'snowflake_next_id(5)')"),
            format!("CALL mint.partition_maintain('e.{role}_parts', '1 day')"),
            format!("CALL mint.partition_maintain('own.{role}_parts', '1 day', move_rows => true)"),
        ]
    };
    let mut root = server.connect("postgres");
    for role in ["alice", "postgres"] {
        for call in calls(role) {
            let refusal = root.refusal(&call);
            assert!(
                refusal.message.contains("is in a schema of another role"),
                "{call}: {refusal}"
            );
            assert!(
                refusal.hint.contains(&format!("OWNER TO {role}"))
                    && refusal.hint.contains("GRANT") == (role == "alice"),
                "{refusal}"
            );
        }
        let said = plan(&server, &format!("e.{role}_narrow"), "snowflake_next_id(5)");
        assert!(
            said[1].contains("blocker: table e.")
                && said[1].contains("is in a schema of another role"),
            "{said:?}"
        );
    }
    root.run("GRANT alice TO bob");
    for call in calls("alice") {
        server.connect_as("alice", "postgres").run(&call);
    }
    assert_eq!(
        root.one::<i64>(
            "SELECT count(*) FROM mint.convert_plan('e.alice_narrow', 'id', 'snowflake_next_id(5)') WHERE note LIKE 'blocker%'"
        ),
        0
    );
}

/// What the swap creates again has names of objects in a schema of another role, though the table has a schema of its owner.
#[test]
fn names_in_a_schema_of_another_in_the_swap() {
    let server = start("names in schemas of others");
    let mut root = server.connect("postgres");
    root.run(
        "CREATE SCHEMA ss; CREATE TABLE e.lookup (id int); CREATE FUNCTION e.tf() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
         CREATE TABLE ss.shown (id serial PRIMARY KEY); CREATE VIEW e.w AS SELECT id FROM ss.shown;
         CREATE TABLE ss.joined (id serial PRIMARY KEY); CREATE VIEW ss.v AS SELECT j.id FROM ss.joined AS j JOIN e.lookup AS l USING (id);
         CREATE TABLE ss.counted (id serial PRIMARY KEY); CREATE VIEW ss.c AS SELECT id, (SELECT count(*) FROM e.lookup) FROM ss.counted;
         CREATE TABLE ss.watched (id serial PRIMARY KEY); CREATE TRIGGER watch BEFORE UPDATE ON ss.watched FOR EACH ROW WHEN (new.id > 5) EXECUTE FUNCTION e.tf();
         CREATE TABLE ss.drawn (id bigserial PRIMARY KEY); CREATE SEQUENCE e.seg",
    );
    for (table, named) in [
        ("shown", "relation e.w"),
        ("joined", "relation e.lookup"),
        ("counted", "relation e.lookup"),
        ("watched", "e.tf()"),
    ] {
        let said = plan(&server, &format!("ss.{table}"), "snowflake_next_id(5)");
        assert!(
            said[1].contains("blocker")
                && said[1].contains(&format!("names {named}, which another role can replace")),
            "{table}: {said:?}"
        );
    }
    let refusal = root.refusal("SELECT mint.convert('ss.drawn', 'id', 'segment_next(''e.seg'')')");
    assert!(
        refusal
            .message
            .contains("sequence e.seg is in a schema of another role"),
        "{refusal}"
    );
}

/// A table in a schema of another role is named first and once, and what it is made of there is not. What the hint says helps.
#[test]
fn a_table_in_a_schema_of_another_is_named_once() {
    let server = start("named once");
    let mut root = server.connect("postgres");
    root.run(
        "GRANT CREATE ON SCHEMA e TO alice; CREATE SCHEMA own AUTHORIZATION alice; CREATE ROLE grp; CREATE ROLE mig; GRANT grp TO mig; CREATE SCHEMA sg AUTHORIZATION grp;
         SET ROLE alice; CREATE TABLE e.t (id serial PRIMARY KEY, n int, UNIQUE (n, id)); CREATE TABLE e.child (id serial PRIMARY KEY, t int REFERENCES e.t);
         CREATE VIEW e.v AS SELECT t.id, c.id AS child FROM e.t JOIN e.child AS c ON c.t = t.id;
         CREATE TABLE own.t (id serial PRIMARY KEY); CREATE VIEW e.w AS SELECT id FROM own.t;
         SET ROLE mig; CREATE TABLE sg.t (id serial PRIMARY KEY); RESET ROLE",
    );
    let mut blockers = |table: &str| -> Vec<String> {
        root.column(&format!(
            "SELECT note FROM mint.convert_plan('{table}', 'id', 'snowflake_next_id(5)') WHERE note LIKE 'blocker%' ORDER BY step"
        ))
    };
    let said = blockers("e.t");
    let is_moved = |note: &&String| note.contains(" is in a schema of another role. ");
    assert!(
        said[0].starts_with("blocker: table e.") && said[0].contains("Use GRANT alice TO bob"),
        "{said:#?}"
    );
    assert_eq!(said.iter().filter(is_moved).count(), 2, "{said:#?}");
    assert_eq!(said.len(), 2, "{said:#?}");
    let said = blockers("own.t");
    assert!(
        said[0].contains("names relation e.w") && said[0].contains("Use GRANT alice TO bob"),
        "{said:#?}"
    );
    // The role is a member of the one that owns the schema: the grant would be circular.
    let said = blockers("sg.t");
    assert!(
        said[0].contains("Use ALTER TABLE ... OWNER TO grp,") && !said[0].contains("GRANT"),
        "{said:#?}"
    );
    server
        .connect("postgres")
        .run("GRANT alice TO bob; ALTER TABLE sg.t OWNER TO grp");
    for table in ["e.t", "own.t", "sg.t"] {
        assert_eq!(blockers(table), [""; 0]);
    }
}
