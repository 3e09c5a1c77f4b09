//! What the maintenance of partitions reads and runs besides the partitions themselves: keys of tables above, names of schemas,
//! triggers on partitions that are being filled, and casts of types to JSON.

use super::domains::{assert_not_sprung, bob, set, start};
use mint_cluster::{Server, Session};
use std::thread;

const KEEP: &str = "CALL mint.partition_maintain('a.ev', '1 month', 1, keep => '1 month', since => now() - interval '2 months', lock_timeout => '200 ms', retries => 0)";

/// A server with a schema of alice beside that of bob.
fn with_schema(story: &str) -> (Server, Session, Session) {
    let server = start(story);
    let mut root = server.connect("postgres");
    root.run("CREATE SCHEMA a AUTHORIZATION alice; GRANT USAGE ON SCHEMA a TO bob");
    let alice = server.connect_as("alice", "postgres");
    (server, root, alice)
}

/// Makes a table with an old partition, which is a partition itself, and to which a foreign key refers.
fn below(alice: &mut Session, kind: &str, key: &str, value: &str) {
    alice.run(&format!(
        "DROP TABLE IF EXISTS a.child, a.top;
         CREATE TABLE a.top (kind {kind} NOT NULL, id bigint NOT NULL DEFAULT snowflake_next_id(3, 'twitter')) PARTITION BY LIST ({key});
         CREATE TABLE a.ev PARTITION OF a.top FOR VALUES IN ({value}) PARTITION BY RANGE (id); ALTER TABLE a.ev ADD PRIMARY KEY (id);
         CREATE TABLE a.ev_old PARTITION OF a.ev FOR VALUES FROM (100000000000000000) TO (100000000000000100);
         CREATE TABLE a.child (r bigint REFERENCES a.ev)"
    ));
}

/// The server puts the keys of tables above into a query, as a text: constants of arrays and composites run checks of domains.
#[test]
fn constants_in_keys_of_tables_above() {
    let (server, _, mut alice) = with_schema("constants in keys above");
    for (kind, key, value) in [
        ("e.d[]", "kind", "'{1}'"),
        ("e.pair", "kind", "'(1)'"),
        ("int[]", "(kind::int[] = '{1}'::e.d[]::int[])", "true"),
        ("e.d[]", "(coalesce(kind, kind))", "'{1}'"),
        ("e.d[]", "(kind[1:2])", "'{1}'"),
        ("e.pair", "(coalesce(kind, kind))", "'(1)'"),
    ] {
        below(&mut alice, kind, key, value);
        set(&server);
        for role in ["alice", "postgres"] {
            let mut session = server.connect_as(role, "postgres");
            let refusal = session.try_run(KEEP);
            assert_not_sprung(&server, key);
            let refusal = refusal.expect_err(key);
            assert!(
                refusal.message.starts_with("partition key of table"),
                "{refusal}"
            );
        }
        bob(&server)
            .run("ALTER DOMAIN e.d DROP CONSTRAINT one; ALTER DOMAIN e.d DROP CONSTRAINT two");
    }
}

/// A call in a key above is a text too, which means an overload that another role makes afterwards.
#[test]
fn calls_in_keys_of_tables_above() {
    let (server, mut root, mut alice) = with_schema("calls in keys above");
    root.run("GRANT CREATE ON SCHEMA a TO bob");
    alice.run("CREATE FUNCTION a.h(anyelement) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN 'x'; END $$");
    below(&mut alice, "int", "a.h(kind)", "'x'");
    bob(&server).run("CREATE FUNCTION a.h(int) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM e.now(); RETURN 'x'; END $$");
    for role in ["alice", "postgres"] {
        let mut session = server.connect_as(role, "postgres");
        let refusal = session.try_run(KEEP);
        assert_not_sprung(&server, role);
        let refusal = refusal.expect_err(role);
        let expected = "partition key of table \"a.ev\", or of one above, is an expression";
        assert_eq!(refusal.message, expected);
    }
    // The query of a table that it refers to has no key.
    alice.run(
        "DROP TABLE a.child; CREATE TABLE a.kinds (id int PRIMARY KEY); ALTER TABLE a.top ADD kinds int REFERENCES a.kinds",
    );
    root.run(KEEP);
    assert_not_sprung(&server, "a key of its own");
}

/// The server casts the column to the type below the domain, and not the constant.
#[test]
fn operators_of_domains_in_keys() {
    let (server, _, mut alice) = with_schema("operators of domains in keys");
    alice.run(
        "CREATE DOMAIN a.key AS objectid; CREATE TABLE a.ev (id a.key PRIMARY KEY DEFAULT objectid()) PARTITION BY RANGE (id);
         CREATE TABLE a.ev_old PARTITION OF a.ev FOR VALUES FROM ('500000000000000000000000') TO ('500000010000000000000000');
         CREATE TABLE a.child (r a.key REFERENCES a.ev); INSERT INTO a.ev VALUES ('500000000000000000000005')",
    );
    bob(&server).run(
        "CREATE FUNCTION public.ge(objectid, a.key) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN e.now(); END $$;
         CREATE OPERATOR public.>= (LEFTARG = objectid, RIGHTARG = a.key, FUNCTION = public.ge)",
    );
    for role in ["alice", "postgres"] {
        let mut session = server.connect_as(role, "postgres");
        let refusal = session.try_run(KEEP);
        assert_not_sprung(&server, role);
        let refusal = refusal.expect_err(role);
        let expected = "partition key of table \"a.ev\", or of one above, is of type a.key";
        assert_eq!(refusal.message, expected);
    }
}

/// An operator of another type than that of the column is less of a match than one that another role makes of both.
#[test]
fn operators_of_other_types_in_keys() {
    let (server, mut root, mut alice) = with_schema("operators of other types in keys");
    root.run(
        "CREATE OPERATOR public.<<< (LEFTARG = text, RIGHTARG = text, FUNCTION = text_lt); CREATE OPERATOR public.>>> (LEFTARG = text, RIGHTARG = text, FUNCTION = text_gt);
         CREATE OPERATOR public.<<= (LEFTARG = text, RIGHTARG = text, FUNCTION = text_le); CREATE OPERATOR public.>>= (LEFTARG = text, RIGHTARG = text, FUNCTION = text_ge);
         CREATE OPERATOR CLASS public.texts FOR TYPE text USING btree AS OPERATOR 1 public.<<<, OPERATOR 2 public.<<=, OPERATOR 3 =, OPERATOR 4 public.>>=, OPERATOR 5 public.>>>, FUNCTION 1 bttextcmp(text, text)",
    );
    alice.run(
        "CREATE TABLE a.top (v varchar NOT NULL, id bigint NOT NULL DEFAULT snowflake_next_id(3, 'twitter')) PARTITION BY RANGE (v public.texts);
         CREATE TABLE a.ev PARTITION OF a.top FOR VALUES FROM ('a') TO ('m') PARTITION BY RANGE (id); ALTER TABLE a.ev ADD PRIMARY KEY (id);
         CREATE TABLE a.ev_old PARTITION OF a.ev FOR VALUES FROM (100000000000000000) TO (100000000000000100);
         CREATE TABLE a.child (r bigint REFERENCES a.ev); INSERT INTO a.ev VALUES ('b', 100000000000000005); INSERT INTO a.child VALUES (100000000000000005)",
    );
    bob(&server).run(
        "CREATE FUNCTION public.ge(text, varchar) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN e.now(); END $$;
         CREATE OPERATOR public.>>= (LEFTARG = text, RIGHTARG = varchar, FUNCTION = public.ge)",
    );
    for role in ["alice", "postgres"] {
        let mut session = server.connect_as(role, "postgres");
        let refusal = session.try_run(KEEP);
        assert_not_sprung(&server, role);
        let expected =
            "partition key of table \"a.ev\", or of one above, is of type character varying";
        assert_eq!(refusal.expect_err(role).message, expected);
    }
}

/// The server has no dependency for the type that JSON_VALUE() returns, since PostgreSQL 17.
#[test]
fn types_of_json_values() {
    let (server, mut root, mut alice) = with_schema("types of JSON values");
    if server.major() < 17 {
        return;
    }
    alice.run(
        "CREATE FUNCTION a.f(j jsonb) RETURNS text IMMUTABLE RETURN json_value(j, '$.x' RETURNING e.d); CREATE DOMAIN a.j AS jsonb CHECK (json_value(VALUE, '$.x' RETURNING e.d) IS DISTINCT FROM 7)",
    );
    for (kind, check) in [
        (
            "jsonb",
            "json_value(v, '$.x' RETURNING e.d) IS DISTINCT FROM 7",
        ),
        ("jsonb", "a.f(v) IS DISTINCT FROM '7'"),
        ("text", "v::jsonb::a.j IS NOT NULL"),
    ] {
        bob(&server).run("ALTER DOMAIN e.d DROP CONSTRAINT IF EXISTS one; ALTER DOMAIN e.d DROP CONSTRAINT IF EXISTS two");
        alice.run(&format!(
            "DROP TABLE IF EXISTS a.event; CREATE TABLE a.event (id bigint PRIMARY KEY DEFAULT snowflake_next_id(3, 'twitter'), v {kind} DEFAULT '{{\"x\": 1}}', CHECK ({check})) PARTITION BY RANGE (id);
             CREATE TABLE a.event_rest PARTITION OF a.event DEFAULT; INSERT INTO a.event DEFAULT VALUES"
        ));
        set(&server);
        let moving = "CALL mint.partition_maintain('a.event', '1 year', move_rows => true)";
        let refusal = root.try_run(moving);
        assert_not_sprung(&server, check);
        let refusal = refusal.expect_err(check);
        assert_eq!(refusal.code, "0A000", "{refusal}");
    }
}

/// Functions of the server cast what they get, and an array without elements has its type in no dependency: another role adds the
/// cast of its type later.
#[test]
fn types_in_expressions_of_the_owner() {
    let (server, mut root, mut alice) = with_schema("types in expressions");
    bob(&server).run(
        "CREATE TYPE e.st AS ENUM ('open'); CREATE FUNCTION e.evil(text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN PERFORM e.now(); RETURN 'x'; END $$;
         CREATE FUNCTION e.totext(e.st) RETURNS text LANGUAGE sql STABLE STRICT AS $$ SELECT textcat(e.evil('x'), $1::varchar::text) $$;
         CREATE FUNCTION e.tojson(e.st) RETURNS json LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM e.now(); RETURN '1'; END $$",
    );
    alice.run(
        "CREATE FUNCTION a.f(anyelement) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT to_jsonb($1) IS NOT NULL';
         CREATE FUNCTION a.g(bigint) RETURNS bool IMMUTABLE RETURN to_jsonb(enum_first((ARRAY[]::e.st[])[1])) IS NOT NULL",
    );
    let checks = [
        "('x' || v) IS NOT NULL",
        "('x' || 'open'::e.st) IS NOT NULL",
        "to_jsonb(enum_first((ARRAY[]::e.st[])[1])) IS NOT NULL",
        "a.f('open'::e.st)",
        "a.g(id)",
    ];
    for (number, check) in checks.iter().enumerate() {
        alice.run(&format!(
            "CREATE TABLE a.t{number} (id bigint PRIMARY KEY DEFAULT snowflake_next_id(3, 'twitter'), v e.st, CHECK ({check})) PARTITION BY RANGE (id);
             CREATE TABLE a.t{number}_rest PARTITION OF a.t{number} DEFAULT; INSERT INTO a.t{number} (v) VALUES ('open')"
        ));
    }
    bob(&server).run(
        "CREATE CAST (e.st AS text) WITH FUNCTION e.totext(e.st) AS ASSIGNMENT; CREATE CAST (e.st AS json) WITH FUNCTION e.tojson(e.st)",
    );
    for (number, check) in checks.iter().enumerate() {
        for arguments in ["", ", move_rows => true"] {
            let refusal = root.try_run(&format!(
                "CALL mint.partition_maintain('a.t{number}', '1 year'{arguments})"
            ));
            assert_not_sprung(&server, check);
            let refusal = refusal.expect_err(check);
            assert_eq!(refusal.code, "0A000", "{refusal}");
        }
    }
}

/// Another role can make an operator of a domain in the schema of the extension, and what evaluates a generated column.
#[test]
fn moved_rows_meet_no_operator_of_another() {
    let (server, mut root, mut alice) = with_schema("operators on moved rows");
    alice.run(
        "CREATE DOMAIN a.key AS objectid; CREATE TABLE a.made (id a.key PRIMARY KEY DEFAULT objectid()) PARTITION BY RANGE (id);
         CREATE TABLE a.made_rest PARTITION OF a.made DEFAULT; INSERT INTO a.made SELECT FROM generate_series(1, 3)",
    );
    let mut bob = bob(&server);
    bob.run(
        "CREATE FUNCTION public.ge(a.key, objectid) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RETURN e.now(); END $$;
         CREATE OPERATOR public.>= (LEFTARG = a.key, RIGHTARG = objectid, FUNCTION = public.ge);
         CREATE TYPE e.status AS ENUM ('open'); CREATE FUNCTION e.json(e.status) RETURNS json LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM e.now(); RETURN '1'; END $$",
    );
    alice.run(
        "CREATE TABLE a.event (id bigint PRIMARY KEY DEFAULT snowflake_next_id(3, 'twitter'), g e.status GENERATED ALWAYS AS ('open'::e.status) STORED, CHECK (to_jsonb(g) IS NOT NULL)) PARTITION BY RANGE (id);
         CREATE TABLE a.event_rest PARTITION OF a.event DEFAULT; INSERT INTO a.event DEFAULT VALUES",
    );
    bob.run("CREATE CAST (e.status AS json) WITH FUNCTION e.json(e.status)");
    let refusal =
        root.refusal("CALL mint.partition_maintain('a.event', '1 year', move_rows => true)");
    assert!(
        refusal.message.contains("has values of type e.status"),
        "{refusal}"
    );
    root.run("CALL mint.partition_maintain('a.made', '1 year', move_rows => true)");
    assert_not_sprung(&server, "moved rows");
    assert_eq!(root.one::<i64>("SELECT count(*) FROM ONLY a.made_rest"), 0);
    assert_eq!(root.one::<i64>("SELECT count(*) FROM a.made"), 3);
}

/// A type of the owner in the schema of another role keeps its name, and that one schema is all that is locked.
#[test]
fn names_of_types_in_keys_are_kept() {
    let (server, mut root, mut alice) = with_schema("names of types in keys");
    root.run("GRANT CREATE ON DATABASE postgres TO bob; GRANT CREATE ON SCHEMA e TO alice");
    alice.run("CREATE TYPE e.kind AS ENUM ('x', 'y')");
    below(&mut alice, "e.kind", "kind", "'x'");
    let mut bob = bob(&server);
    bob.run("BEGIN; ALTER SCHEMA e RENAME TO e_of_before");
    assert_eq!(root.refusal(KEEP).code, "55P03");
    bob.run("ROLLBACK; CREATE SCHEMA other; BEGIN; ALTER SCHEMA other RENAME TO another");
    root.run(&format!("BEGIN; {KEEP}"));
    bob.run("COMMIT; SET lock_timeout = '1 s'; CREATE TEMP TABLE t (); CREATE SCHEMA more; GRANT USAGE ON SCHEMA e TO alice");
    assert_eq!(
        bob.refusal("ALTER SCHEMA e RENAME TO e_of_before").code,
        "55P03"
    );
    root.run("COMMIT");
    bob.run("ALTER SCHEMA e RENAME TO e_of_before");
    let olds: i64 = root.one("SELECT count(*) FROM pg_class WHERE relname = 'ev_old'");
    assert_eq!(olds, 0);
}

/// A partition that an earlier step has begun is seen: a trigger that its owner or another role has put on it changes no row
/// that is moved, and none is lost.
#[test]
fn no_trigger_changes_moved_rows() {
    let (server, mut root, mut alice) = with_schema("triggers on moved rows");
    alice.run(
        "CREATE TABLE a.event (id bigint PRIMARY KEY DEFAULT snowflake_next_id(3, 'twitter')) PARTITION BY RANGE (id);
         CREATE TABLE a.event_rest PARTITION OF a.event DEFAULT; INSERT INTO a.event SELECT FROM generate_series(1, 100);
         DO $$ BEGIN EXECUTE format('CREATE TABLE a.event_begun PARTITION OF a.event FOR VALUES FROM (%s) TO (%s)',
             snowflake_min(date_trunc('year', now(), 'UTC'), 'twitter'), snowflake_min(now() - interval '1 hour', 'twitter'));
             EXECUTE 'ALTER TABLE a.event_begun RENAME TO event_' || to_char(now() AT TIME ZONE 'UTC', 'YYYY'); END $$;
         CREATE FUNCTION a.none() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    );
    let begun: String =
        root.one("SELECT max(oid::regclass::text) FROM pg_class WHERE relname ~ '^event_2[0-9]+$'");
    alice.run(&format!("GRANT TRIGGER ON {begun} TO bob"));
    bob(&server).run("CREATE FUNCTION e.spring() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM e.now(); RETURN NEW; END'");
    for (by, function) in [("bob", "e.spring"), ("alice", "a.none")] {
        server.connect_as(by, "postgres").run(&format!(
            "CREATE TRIGGER t BEFORE INSERT ON {begun} FOR EACH ROW EXECUTE FUNCTION {function}()"
        ));
        for role in ["alice", "postgres"] {
            let mut session = server.connect_as(role, "postgres");
            let call = "CALL mint.partition_maintain('a.event', '1 year', move_rows => true)";
            let refusal = session.try_run(call);
            assert_not_sprung(&server, function);
            let detail = refusal.expect_err(function).detail;
            assert_eq!(
                detail,
                "The partition that has a part of the rows has triggers on INSERT."
            );
            assert_eq!(root.one::<i64>("SELECT count(*) FROM a.event"), 100);
        }
        alice.run(&format!("DROP TRIGGER t ON {begun}"));
    }
    // At the end of the transaction there is no owner to act as.
    alice.run(&format!("ALTER TABLE {begun} ADD CONSTRAINT late EXCLUDE USING btree (id WITH =) DEFERRABLE INITIALLY DEFERRED"));
    let refusal =
        alice.refusal("CALL mint.partition_maintain('a.event', '1 year', move_rows => true)");
    assert_eq!(refusal.code, "0A000", "{refusal}");
    alice.run(&format!("ALTER TABLE {begun} DROP CONSTRAINT late"));
    root.run("CALL mint.partition_maintain('a.event', '1 year', move_rows => true)");
    assert_eq!(
        root.one::<i64>(&format!("SELECT count(*) FROM {begun}")),
        100
    );
    assert_eq!(root.one::<i64>("SELECT count(*) FROM ONLY a.event_rest"), 0);
}

/// The owner of a type adds a cast to JSON, which the server runs for values of the type.
#[test]
fn casts_to_json_in_checks() {
    let (server, _, mut alice) = with_schema("casts to JSON");
    let mut bob = bob(&server);
    bob.run(
        "CREATE TYPE e.status AS ENUM ('open'); CREATE FUNCTION e.json(e.status) RETURNS json LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM e.now(); RETURN '1'; END $$",
    );
    alice.run(
        "CREATE TABLE a.event (id bigint PRIMARY KEY DEFAULT snowflake_next_id(3, 'twitter'), CHECK (to_jsonb('open'::e.status) IS NOT NULL)) PARTITION BY RANGE (id);
         CREATE TABLE a.event_rest PARTITION OF a.event DEFAULT; INSERT INTO a.event DEFAULT VALUES",
    );
    bob.run("CREATE CAST (e.status AS json) WITH FUNCTION e.json(e.status)");
    for role in ["alice", "postgres"] {
        let mut session = server.connect_as(role, "postgres");
        let refusal =
            session.try_run("CALL mint.partition_maintain('a.event', '1 year', move_rows => true)");
        assert_not_sprung(&server, role);
        let refusal = refusal.expect_err(role);
        assert!(
            refusal.message.contains("has values of type e.status"),
            "{refusal}"
        );
    }
}

/// Each of two owners maintains the table at one end of a foreign key, at the same time.
#[test]
fn both_ends_are_maintained_at_once() {
    let (server, mut root, mut alice) = with_schema("both ends at once");
    alice.run(
        "CREATE TABLE a.orders (id bigint PRIMARY KEY DEFAULT snowflake_next_id(3, 'twitter')) PARTITION BY RANGE (id); GRANT REFERENCES, SELECT ON a.orders TO bob;
         CREATE TABLE a.top (kind int, id bigint DEFAULT snowflake_next_id(3, 'twitter'), PRIMARY KEY (kind, id)) PARTITION BY LIST (kind);
         CREATE TABLE a.below PARTITION OF a.top FOR VALUES IN (1) PARTITION BY RANGE (id); GRANT REFERENCES, SELECT ON a.top, a.below TO bob",
    );
    bob(&server).run(
        "CREATE TABLE e.pay (id bigint PRIMARY KEY DEFAULT snowflake_next_id(3, 'twitter'), o bigint REFERENCES a.orders) PARTITION BY RANGE (id);
         CREATE TABLE e.of_top (id bigint PRIMARY KEY DEFAULT snowflake_next_id(3, 'twitter'), kind int, o bigint, FOREIGN KEY (kind, o) REFERENCES a.top) PARTITION BY RANGE (id)",
    );
    for (one, other) in [("a.orders", "e.pay"), ("a.below", "e.of_top")] {
        for round in 1..=2 {
            thread::scope(|scope| {
                for (role, table) in [("alice", one), ("bob", other)] {
                    let mut session = server.connect_as(role, "postgres");
                    scope.spawn(move || {
                        session.run(&format!(
                            "CALL mint.partition_maintain('{table}', '1 hour', {round} * 6)"
                        ));
                    });
                }
            });
        }
        let made: i64 = root.one(&format!("SELECT count(*) FROM pg_inherits WHERE inhparent IN ('{one}'::regclass, '{other}'::regclass)"));
        assert!(made >= 2 * 12, "{made}");
    }
}
