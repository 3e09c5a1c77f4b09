//! What a script would lose or could not do is refused in its first plan, by name, and not by the swap.

use super::super::shop::{UNTIL_SWAP, blockers, gexec};
use mint_cluster::{Server, Session};

/// A foreign key of periods would be one of equal values.
#[test]
fn foreign_keys_with_a_period_are_refused() {
    let server = Server::start("periods");
    let mut session = server.connect("postgres");
    if server.major() < 18 {
        return;
    }
    session.run(
        "CREATE EXTENSION btree_gist;
         CREATE TABLE room (id int, during daterange, UNIQUE (id, during), PRIMARY KEY (id, during WITHOUT OVERLAPS));
         CREATE TABLE booking (id serial PRIMARY KEY, room_id int NOT NULL, during daterange,
             CONSTRAINT bk FOREIGN KEY (room_id, PERIOD during) REFERENCES room (id, PERIOD during));
         CREATE INDEX ON booking (room_id)",
    );
    let plan = "mint.convert_plan('booking', 'room_id', 'snowflake_next_id(5)')";
    let found = blockers(&mut session, plan);
    assert!(
        found.starts_with("blocker: foreign key \"bk\" of table public.booking has PERIOD"),
        "{found}"
    );
    session.run("ALTER TABLE booking DROP CONSTRAINT bk");
    assert_eq!(blockers(&mut session, plan), "");
}

/// A cast of the column to bigint is none where the column is a bigint, and would not come back with the integer.
#[test]
fn casts_that_the_way_back_would_lose_are_refused() {
    let server = Server::start("lost casts");
    let mut session = server.connect("postgres");
    let plan = "mint.convert_plan('item', 'id', 'snowflake_next_id(5)')";
    let make = "CREATE TABLE item (id serial PRIMARY KEY, kind int, \"it's\" int, big bigint, code text, small smallint)";
    let texts = [
        "ALTER TABLE item ADD CHECK (id::bigint + 2000000000 > 0)",
        "ALTER TABLE item ADD CHECK ((id + kind)::bigint + 2000000000 > 0)",
        "ALTER TABLE item ADD CHECK (int8(id) + 2000000000 > 0)",
        "CREATE INDEX ON item ((id::bigint + 2000000000), kind)",
        "CREATE INDEX ON item (kind) WHERE id::bigint * 2 > 0",
        "CREATE INDEX ON item ((\"it's\" + 1), (id::bigint + 2000000000))",
        "ALTER TABLE item ADD CHECK (coalesce(\"it's\", 0) > -5 AND id::bigint + 2000000000 > 0)",
        "CREATE STATISTICS s ON (id::bigint * 2), kind FROM item",
        "CREATE VIEW v AS SELECT id, -id::bigint AS neg FROM item",
        "CREATE VIEW v AS SELECT id::bigint AS big FROM item",
        "CREATE VIEW v AS SELECT kind, array_agg(id)::bigint[] AS list, array_agg(kind)::bigint[] FROM item GROUP BY kind",
        "CREATE VIEW v AS SELECT ARRAY[id]::bigint[] AS list FROM item",
        "CREATE VIEW v AS SELECT s.x::bigint AS big FROM (SELECT id AS x FROM item) AS s",
        "CREATE VIEW u AS SELECT id AS x FROM item; CREATE VIEW v AS SELECT x::bigint * 2 AS big FROM u",
        "CREATE VIEW v AS SELECT id::bigint * 2 AS twice, count(*) FROM item GROUP BY id",
        "CREATE VIEW u AS SELECT id, code FROM item; CREATE RULE r AS ON DELETE TO u DO INSTEAD UPDATE item SET big = old.id::bigint * 2 WHERE id = old.id",
        "CREATE TRIGGER g BEFORE UPDATE ON item FOR EACH ROW WHEN (old.id::bigint + 2000000000 > 0) EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    ];
    for text in texts {
        session.run(make);
        session.run(text);
        let found = blockers(&mut session, plan);
        let expected = "has a cast to bigint that the way back would lose";
        assert!(
            found.contains(expected) || found.contains("could only be compared in the swap"),
            "{text}: {found}"
        );
        session.run("DROP TABLE item CASCADE");
    }
    // Other casts stay: there, and on the way back.
    session.run(&format!(
        "{make}; INSERT INTO item (kind, big, code, small) SELECT g, g, g, g FROM generate_series(1, 10) AS g;
         ALTER TABLE item ADD CONSTRAINT c CHECK (id > 0 AND kind::bigint + 2000000000 > 0 AND id + small::bigint > 0 AND code::bigint > 0 AND code <> '(id)::bigint');
         CREATE INDEX ix ON item (id, (kind::bigint * 2));
         CREATE VIEW v AS SELECT id, kind::bigint AS k, code::bigint + id AS sum, big * 2 AS b, code::numeric::bigint AS n, ARRAY[kind]::bigint[] AS l, ('{{' || code || '}}')::bigint[] AS o, ARRAY[code]::bigint[] AS p FROM item WHERE id IN (1, 2, 3) UNION SELECT big, 1, 2, 3, 4, NULL, NULL, NULL FROM item;
         CREATE VIEW w AS SELECT greatest(id, 5), coalesce(id, big), id % big AS m, CASE WHEN id > 2 THEN big ELSE id END FROM item"
    ));
    assert_eq!(blockers(&mut session, plan), "");
    let seen = |session: &mut Session| -> String {
        session.one("SELECT string_agg(concat_ws(' ', k, pg_typeof(k), sum, pg_typeof(sum), b, n, l, o, p), ', ' ORDER BY v) || (SELECT string_agg(w::text, ' ' ORDER BY w) FROM w) FROM v")
    };
    let before = seen(&mut session);
    gexec(&server, plan, UNTIL_SWAP);
    assert_eq!(seen(&mut session), before);
    gexec(&server, "mint.convert_plan('item', 'id', NULL)", "true");
    assert_eq!(seen(&mut session), before);
}

/// What depends on an index or its constraint, and not on the column, would keep the swap from dropping it.
#[test]
fn dependents_of_indexes_are_named() {
    let server = Server::start("dependents of indexes");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE author (id serial PRIMARY KEY, name text, code text NOT NULL, CONSTRAINT u UNIQUE (code) INCLUDE (id));
         CREATE TABLE log (n int PRIMARY KEY); CREATE VIEW names AS SELECT name FROM author;
         INSERT INTO author (name, code) SELECT 'n', 'c' || g FROM generate_series(1, 10) AS g",
    );
    let plan = "mint.convert_plan('author', 'id', 'snowflake_next_id(5)')";
    assert_eq!(blockers(&mut session, plan), "");
    let cases = [
        (
            "CREATE TABLE book (id serial PRIMARY KEY, code text CONSTRAINT f REFERENCES author (code))",
            "DROP TABLE book",
            "index \"u\" of table public.author",
            "constraint f on table public.book",
        ),
        (
            "CREATE FUNCTION f(n text) RETURNS void LANGUAGE sql BEGIN ATOMIC INSERT INTO author (name, code) VALUES (n, n) ON CONFLICT ON CONSTRAINT author_pkey DO NOTHING; END",
            "DROP FUNCTION f",
            "index \"author_pkey\" of table public.author",
            "function public.f(text)",
        ),
        (
            "CREATE RULE r AS ON INSERT TO log DO ALSO INSERT INTO author (name, code) VALUES ('x', 'x') ON CONFLICT ON CONSTRAINT author_pkey DO NOTHING",
            "DROP RULE r ON log",
            "index \"author_pkey\" of table public.author",
            "rule r on table public.log",
        ),
        (
            "CREATE RULE r AS ON INSERT TO names DO INSTEAD INSERT INTO author (name, code) VALUES (new.name, 'x') ON CONFLICT ON CONSTRAINT author_pkey DO NOTHING",
            "DROP RULE r ON names",
            "index \"author_pkey\" of table public.author",
            "rule r on view public.names",
        ),
    ];
    for (make, drop, of, name) in cases {
        session.run(make);
        let found = blockers(&mut session, plan);
        let expected = format!("blocker: other objects depend on {of}");
        assert!(
            found.starts_with(&expected) && found.contains(name),
            "{make}: {found}"
        );
        session.run(drop);
    }
    // Foreign keys of the column and views of it are made again.
    session.run(
        "CREATE TABLE book (id serial PRIMARY KEY, author int REFERENCES author);
         CREATE VIEW v AS SELECT id, name, count(*) FROM author GROUP BY id; CREATE VIEW w AS SELECT id, name FROM author;
         CREATE RULE r AS ON INSERT TO w DO INSTEAD INSERT INTO author (name, code) VALUES (new.name, 'x') ON CONFLICT ON CONSTRAINT author_pkey DO NOTHING",
    );
    assert_eq!(blockers(&mut session, plan), "");
    gexec(&server, plan, UNTIL_SWAP);
}

/// Privileges that an owner has been deprived of, and that only later steps need.
#[test]
fn all_privileges_of_the_owner_are_looked_at() {
    let server = Server::start("all privileges of the owner");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE ROLE keeper; CREATE TABLE author (id serial PRIMARY KEY, name text); CREATE TABLE book (id serial PRIMARY KEY, author int REFERENCES author);
         ALTER TABLE author OWNER TO keeper; ALTER TABLE book OWNER TO keeper; GRANT USAGE, CREATE ON SCHEMA public TO keeper",
    );
    let plan = "mint.convert_plan('author', 'id', 'snowflake_next_id(5)')";
    for (privilege, table) in [
        ("REFERENCES", "author"),
        ("TRIGGER", "book"),
        ("TRIGGER", "author"),
    ] {
        session.run(&format!("REVOKE {privilege} ON author, book FROM keeper"));
        let found = blockers(&mut session, plan);
        assert!(
            found.contains(&format!(
                "blocker: owner of table public.{table} lacks privileges on it"
            )) && found.contains(&format!(
                "Use GRANT {privilege} ON public.{table} TO keeper."
            )),
            "{found}"
        );
        session.run(&format!("GRANT {privilege} ON author, book TO keeper"));
        assert_eq!(blockers(&mut session, plan), "");
    }
    // Nothing refers to it.
    session.run("REVOKE REFERENCES ON book FROM keeper");
    assert_eq!(blockers(&mut session, plan), "");
    session.run("ALTER ROLE postgres SET mint_script.trusted = 'on'");
    gexec(&server, plan, "true");
}

/// An id that fits no integer is found before the first step of the way back: the check that the step adds would refuse others
/// like it.
#[test]
fn ids_that_have_no_way_back_are_found_first() {
    let server = Server::start("no way back");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE author (id serial PRIMARY KEY, name text); CREATE TABLE book (id serial PRIMARY KEY, author int REFERENCES author ON UPDATE CASCADE);
         INSERT INTO author (name) VALUES ('a'); INSERT INTO book (author) VALUES (1)",
    );
    gexec(
        &server,
        "mint.convert_plan('author', 'id', 'snowflake_next_id(5)')",
        UNTIL_SWAP,
    );
    let back = "mint.convert_plan('author', 'id', NULL)";
    for id in ["3000000000", "-3000000000"] {
        session.run(
            &format!("INSERT INTO author VALUES ('big', {id})")
                .replace("author VALUES ('big'", "author (name, id) VALUES ('big'"),
        );
        let found = blockers(&mut session, back);
        assert!(
            found.starts_with("blocker: column \"id\" of table \"author\" has values that are out of the range of type integer"),
            "{found}"
        );
        let script =
            format!("SELECT command FROM {back} WHERE command IS NOT NULL ORDER BY step \\gexec\n");
        let _ = server.psql("postgres", script.as_bytes());
        session.run(&format!(
            "INSERT INTO author (name, id) VALUES ('bigger', 1 + {id}); DELETE FROM author WHERE name LIKE 'big%'"
        ));
    }
    gexec(&server, back, "command LIKE '%ADD CONSTRAINT mint_filled%'");
    assert_eq!(
        session
            .refusal("INSERT INTO author (name, id) VALUES ('big', 3000000000)")
            .code,
        "23514"
    );
    gexec(&server, back, "true");
    gexec(&server, back, "true");
    let kind: String = session.one("SELECT pg_typeof(max(id))::text FROM author");
    assert_eq!(kind, "integer");
}

/// Limits of the session that end a step.
#[test]
fn limits_on_locks_are_said_before() {
    let server = Server::start("limits on locks");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE t (id serial PRIMARY KEY)");
    let said = "SELECT coalesce(string_agg(note, E'\\n'), '') FROM mint.convert_plan('t', 'id', 'snowflake_next_id(5)') WHERE note LIKE 'warning%'";
    assert_eq!(session.one::<String>(said), "");
    session.run("SET lock_timeout = '2s'");
    let found: String = session.one(said);
    assert!(
        found.starts_with("warning: lock_timeout is 2s, "),
        "{found}"
    );
}

/// The sequence of before returns nothing after a conversion: what else has it would fail then, not only the defaults of columns.
#[test]
fn all_that_has_the_sequence_is_named() {
    let server = Server::start("shared sequences");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE wide (id bigserial PRIMARY KEY, n int); CREATE TABLE narrow (id serial PRIMARY KEY, n int); CREATE TABLE log (id bigint, n int)");
    for table in ["wide", "narrow"] {
        let plan = format!("mint.convert_plan('{table}', 'id', 'snowflake_next_id(5)')");
        let draw = format!("nextval('{table}_id_seq')");
        for (make, name, drop) in [
            (
                format!("CREATE DOMAIN drawn AS bigint DEFAULT {draw}"),
                "type public.drawn",
                "DROP DOMAIN drawn",
            ),
            (
                format!(
                    "CREATE RULE logged AS ON INSERT TO {table} DO ALSO INSERT INTO log VALUES ({draw}, new.n)"
                ),
                "rule logged on table",
                "DROP RULE logged ON",
            ),
            (
                format!("CREATE VIEW shown AS SELECT {draw}"),
                "view public.shown",
                "DROP VIEW shown",
            ),
            (
                format!("CREATE FUNCTION draws() RETURNS bigint BEGIN ATOMIC SELECT {draw}; END"),
                "function public.draws()",
                "DROP FUNCTION draws()",
            ),
        ] {
            session.run(&make);
            let found = blockers(&mut session, &plan);
            assert!(
                found.contains(&format!("sequence \"{table}_id_seq\" is shared"))
                    && found.contains(name),
                "{make}: {found}"
            );
            let table = if drop.ends_with(" ON") { table } else { "" };
            session.run(&format!("{drop} {table}"));
        }
        // A view that reads its row alone blocks nothing.
        session.run(&format!(
            "CREATE VIEW reads AS SELECT last_value FROM {table}_id_seq"
        ));
        assert_eq!(blockers(&mut session, &plan), "");
        session.run(&format!(
            "CREATE OR REPLACE VIEW reads AS SELECT last_value FROM {table}_id_seq WHERE {draw} > 0"
        ));
        let found = blockers(&mut session, &plan);
        assert!(found.contains("view public.reads"), "{found}");
        session.run("DROP VIEW reads");
        assert_eq!(blockers(&mut session, &plan), "");
    }
}
