//! Partitions whose bounds, checks and indexes another role has written, met by the functions that plan and maintain them.

use super::domains::{assert_not_sprung, bob, each, set, start};

/// Partitions by a key of such a domain, with checks that cast to one, and of another role: no plan and no maintenance runs any.
#[test]
fn partitions_of_another() {
    let server = start("partitions of another");
    let mut alice = server.connect_as("alice", "postgres");
    alice.run(
        "CREATE TABLE keyed (id e.key DEFAULT snowflake_next_id(5)) PARTITION BY RANGE (id);
         CREATE TABLE given (id bigint DEFAULT snowflake_next_id(5)) PARTITION BY RANGE (id); CREATE TABLE given_rest PARTITION OF given DEFAULT;
         CREATE TABLE cast_to (id bigint DEFAULT snowflake_next_id(5), n int, CHECK (n::e.d > 0)) PARTITION BY RANGE (id); CREATE TABLE cast_rest PARTITION OF cast_to DEFAULT;
         CREATE TABLE unclear (id bigint DEFAULT (random() * 5)::bigint) PARTITION BY RANGE (id); CREATE TABLE unclear_old PARTITION OF unclear FOR VALUES FROM (0) TO (3000000000000000000)",
    );
    server
        .connect("postgres")
        .run("ALTER TABLE given_rest OWNER TO bob; ALTER TABLE unclear_old OWNER TO bob");
    bob(&server).run(
        "ALTER TABLE given_rest ADD CHECK (e.now()); CREATE INDEX ON unclear_old (id) WHERE e.now()",
    );
    set(&server);
    for (table, why) in [
        (
            "keyed",
            "partition key of table \"keyed\" has values of type e.key",
        ),
        ("cast_to", "has values of type e.d"),
        (
            "given",
            "partition \"given_rest\" has another owner than table \"given\"",
        ),
    ] {
        let mut said = each(
            &server,
            &format!("SELECT string_agg(command, '') FROM mint.partition_plan('{table}', '1 day')"),
        )
        .concat();
        for role in ["alice", "postgres"] {
            let mut session = server.connect_as(role, "postgres");
            let call = format!("CALL mint.partition_maintain('{table}', '1 day')");
            if let Err(error) = session.try_run(&call) {
                said.push_str(&error.to_string());
            }
        }
        assert_not_sprung(&server, table);
        assert!(said.contains(why), "{said}");
    }
    let drop = "SELECT string_agg(command, '') FROM mint.partition_drop_plan('unclear', '1 day', 'instagram')";
    let said = each(&server, drop);
    assert_not_sprung(&server, "unclear");
    assert!(
        said[1].contains("partition \"unclear_old\" has another owner"),
        "{said:?}"
    );
}

/// Tables of bob at the other end of a foreign key: of one that refers to partitions, and of one that they refer to. The server
/// queries both, and plans an index of bob, where it detaches and attaches a partition. Tables without one do not matter.
#[test]
fn foreign_keys_with_tables_of_another() {
    let server = start("foreign keys of another");
    let mut alice = server.connect_as("alice", "postgres");
    server
        .connect("postgres")
        .run("CREATE SCHEMA a AUTHORIZATION alice");
    for table in ["ev", "plain"] {
        alice.run(&format!(
            "CREATE TABLE a.{table} (id bigint PRIMARY KEY DEFAULT snowflake_next_id(3, 'twitter'), b text) PARTITION BY RANGE (id);
             CREATE TABLE a.{table}_old PARTITION OF a.{table} FOR VALUES FROM (100000000000000000) TO (100000000000000100);
             GRANT REFERENCES ON a.{table} TO bob"
        ));
        alice.run(&format!("CALL mint.partition_maintain('a.{table}', '1 month', 1, since => now() - interval '2 months')"));
    }
    alice.run("GRANT USAGE ON SCHEMA a TO bob");
    bob(&server).run(
        "CREATE TABLE e.m (r bigint REFERENCES a.ev, b text); INSERT INTO e.m (b) VALUES ('x'); CREATE INDEX ON e.m ((e.now()));
         CREATE TABLE e.plain (r bigint REFERENCES a.plain, b text CHECK (b <> '')); CREATE INDEX ON e.plain (r, b) WHERE b > 'a';
         CREATE TABLE e.pk (id int PRIMARY KEY); CREATE TABLE e.many (id int PRIMARY KEY) PARTITION BY RANGE (id);
         CREATE TABLE e.one PARTITION OF e.many DEFAULT; CREATE INDEX ON e.pk ((e.now())); CREATE INDEX ON e.one ((e.now()));
         INSERT INTO e.pk VALUES (1); INSERT INTO e.one VALUES (1); GRANT REFERENCES, SELECT ON e.m, e.plain, e.pk, e.many, e.one TO alice",
    );
    for (table, refers) in [("made", "pk"), ("moved", "pk"), ("below", "many")] {
        alice.run(&format!(
            "CREATE TABLE a.{table} (id bigint PRIMARY KEY DEFAULT snowflake_next_id(3, 'twitter'), k int REFERENCES e.{refers}) PARTITION BY RANGE (id)"
        ));
    }
    alice.run("CREATE TABLE a.moved_rest PARTITION OF a.moved DEFAULT; INSERT INTO a.moved (k) VALUES (1)");
    for (call, other) in [
        ("'a.ev', '1 month', 1, '1 month'", "m"),
        ("'a.made', '1 month', 1", "pk"),
        ("'a.moved', '1 month', 1, move_rows => true", "pk"),
        ("'a.below', '1 month', 1", "one"),
    ] {
        for role in ["alice", "postgres"] {
            let mut session = server.connect_as(role, "postgres");
            let refusal = session.try_run(&format!("CALL mint.partition_maintain({call})"));
            assert_not_sprung(&server, call);
            let refusal = refusal.expect_err(call);
            assert!(
                refusal
                    .message
                    .starts_with(&format!("table \"e.{other}\", which is connected")),
                "{refusal}"
            );
        }
    }
    let keep = "CALL mint.partition_maintain('a.plain', '1 month', 1, '1 month')";
    server.connect("postgres").run(keep);
    let olds: i64 =
        alice.one("SELECT count(*) FROM pg_class WHERE relname IN ('ev_old', 'plain_old')");
    assert_eq!(olds, 1);
    server.connect("postgres").run("GRANT alice TO bob");
    alice.run("CALL mint.partition_maintain('a.ev', '1 month', 1, '1 month')");
}

/// Partitions of a table of another role, whose key has an expression: the table itself, and the other end of a foreign key.
#[test]
fn keys_of_tables_above() {
    let server = start("keys of tables above");
    let mut root = server.connect("postgres");
    root.run("CREATE SCHEMA a AUTHORIZATION alice; GRANT USAGE ON SCHEMA a TO bob");
    let mut alice = server.connect_as("alice", "postgres");
    alice.run(
        "CREATE TABLE a.ev (id bigint PRIMARY KEY DEFAULT snowflake_next_id(3, 'twitter')) PARTITION BY RANGE (id); GRANT REFERENCES ON a.ev TO bob;
         CREATE TABLE a.below (id bigint NOT NULL DEFAULT snowflake_next_id(3, 'twitter')) PARTITION BY RANGE (id);
         CALL mint.partition_maintain('a.ev', '1 month', 1, since => now() - interval '2 months')",
    );
    root.run("ALTER TABLE a.below OWNER TO bob");
    bob(&server).run(
        "CREATE TABLE e.h (id bigint NOT NULL, r bigint) PARTITION BY RANGE ((id > 0 AND e.now()));
         CREATE TABLE e.h1 PARTITION OF e.h FOR VALUES FROM (MINVALUE) TO (MAXVALUE) PARTITION BY RANGE (id);
         CREATE TABLE e.h2 PARTITION OF e.h1 FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
         ALTER TABLE e.h1 ADD FOREIGN KEY (r) REFERENCES a.ev;
         CREATE TABLE e.g (id bigint NOT NULL) PARTITION BY RANGE ((id > 0 AND e.now()));
         ALTER TABLE e.g ATTACH PARTITION a.below FOR VALUES FROM (MINVALUE) TO (MAXVALUE)",
    );
    root.run("ALTER TABLE a.below OWNER TO alice");
    for (call, above) in [
        ("'a.ev', '1 month', 1, keep => '1 month'", "h"),
        ("'a.ev', '1 month', 5", "h"),
        ("'a.below', '1 month', 1", "g"),
    ] {
        for role in ["alice", "postgres"] {
            let mut session = server.connect_as(role, "postgres");
            let refusal = session.try_run(&format!("CALL mint.partition_maintain({call})"));
            assert_not_sprung(&server, call);
            let refusal = refusal.expect_err(call);
            let expected = format!("table \"e.{above}\", which is connected");
            assert!(refusal.message.starts_with(&expected), "{call}: {refusal}");
        }
    }
}

/// The server queries the other end of a foreign key by its name, which is another's while its schema is renamed.
#[test]
fn no_schema_is_renamed_meanwhile() {
    let server = start("a schema that is renamed");
    let mut root = server.connect("postgres");
    root.run("CREATE SCHEMA a AUTHORIZATION alice; GRANT USAGE ON SCHEMA a TO bob; GRANT CREATE ON DATABASE postgres TO bob");
    server.connect_as("alice", "postgres").run(
        "CREATE TABLE a.ev (id bigint PRIMARY KEY DEFAULT snowflake_next_id(3, 'twitter')) PARTITION BY RANGE (id); GRANT REFERENCES ON a.ev TO bob",
    );
    let mut bob = bob(&server);
    bob.run("CREATE TABLE e.other (r bigint REFERENCES a.ev)");
    let make = "CALL mint.partition_maintain('a.ev', '1 month', 1, lock_timeout => '200 ms', retries => 0)";
    bob.run("BEGIN; ALTER SCHEMA e RENAME TO e_of_before");
    assert_eq!(root.refusal(make).code, "55P03");
    bob.run("ROLLBACK");
    root.run(make);
    // The end of a step is enough, also in a transaction block.
    let more = make.replace("1, lock", "3, lock");
    root.run(&format!("BEGIN; {more}"));
    bob.run("SET lock_timeout = '1 s'; CREATE SCHEMA of_bob");
    root.run("COMMIT");
}

/// A built-in function can be SQL that casts its argument: the owner of the type of a column adds the cast.
#[test]
fn casts_within_functions_of_the_server() {
    let server = start("casts within functions of the server");
    let mut root = server.connect("postgres");
    root.run(
        "CREATE SCHEMA own; GRANT USAGE ON SCHEMA own TO bob;
         CREATE TABLE own.o (id bigint PRIMARY KEY DEFAULT snowflake_next_id(3, 'twitter')) PARTITION BY RANGE (id);
         CREATE TABLE own.o_old PARTITION OF own.o FOR VALUES FROM (100000000000000000) TO (100000000000000100); GRANT REFERENCES ON own.o TO bob",
    );
    bob(&server).run(
        "CREATE TYPE e.st AS ENUM ('open'); CREATE FUNCTION e.evil(text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN PERFORM e.now(); RETURN 'x'; END $$;
         CREATE FUNCTION e.totext(e.st) RETURNS text LANGUAGE sql STABLE STRICT AS $$ SELECT textcat(e.evil('x'), $1::varchar::text) $$;
         CREATE CAST (e.st AS text) WITH FUNCTION e.totext(e.st) AS ASSIGNMENT;
         CREATE TABLE e.p (o bigint REFERENCES own.o, k int, v e.st) PARTITION BY LIST (k);
         CREATE TABLE e.p_1 PARTITION OF e.p (CHECK (('x' || v) IS NOT NULL)) FOR VALUES IN (1); CREATE TABLE e.p_2 PARTITION OF e.p FOR VALUES IN (2)",
    );
    let keep = "CALL mint.partition_maintain('own.o', '1 month', 1, keep => '1 month', since => now() - interval '2 months')";
    let refusal = root.try_run(keep);
    assert_not_sprung(&server, "a cast of text");
    let refusal = refusal.expect_err("a cast of text");
    assert!(refusal.message.ends_with("has another owner"), "{refusal}");
}
