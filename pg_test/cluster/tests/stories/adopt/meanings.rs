//! Texts that a script creates again mean what they meant, or the plan refuses them by name.

use super::shop::gexec;
use mint_cluster::{Server, Session};

/// Returns what prevents the conversion of a table.
fn blockers(session: &mut Session, table: &str) -> String {
    session.one(&format!(
        "SELECT coalesce(string_agg(note, E'\\n'), '') FROM mint.convert_plan('{table}', 'id', 'snowflake_next_id(5)') WHERE note LIKE 'blocker%'"
    ))
}

/// A type of another schema that compares without regard to case: the server prints some of its operators without their names.
const FOLDED: &str = "CREATE SCHEMA folding; SET search_path = public, folding;
    CREATE TYPE folding.folded;
    CREATE FUNCTION folding.f_in(cstring) RETURNS folding.folded IMMUTABLE STRICT LANGUAGE internal AS 'textin';
    CREATE FUNCTION folding.f_out(folding.folded) RETURNS cstring IMMUTABLE STRICT LANGUAGE internal AS 'textout';
    CREATE TYPE folding.folded (INPUT = folding.f_in, OUTPUT = folding.f_out, LIKE = text, CATEGORY = 'S');
    CREATE CAST (folding.folded AS text) WITHOUT FUNCTION AS IMPLICIT;
    CREATE FUNCTION folding.eq(a folding.folded, b folding.folded) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT lower(a::text) = lower(b::text)';
    CREATE OPERATOR folding.= (LEFTARG = folding.folded, RIGHTARG = folding.folded, FUNCTION = folding.eq)";

/// Each text of a table calls an operator that is not printed.
#[test]
fn operators_that_are_not_printed_are_not_lost() {
    let server = Server::start("operators not printed");
    let mut session = server.connect("postgres");
    session.run(FOLDED);
    session
        .run("CREATE TABLE other (email folded, note text); INSERT INTO other VALUES ('A', 'x')");
    let texts = [
        (
            "joined",
            "view public.texts",
            "CREATE VIEW texts AS SELECT p.id, note FROM {} AS p JOIN other USING (email)",
        ),
        (
            "nulled",
            "view public.texts",
            "CREATE VIEW texts AS SELECT id, nullif(email, last) AS x FROM {}",
        ),
        (
            "distinct_from",
            "view public.texts",
            "CREATE VIEW texts AS SELECT id, email IS DISTINCT FROM last AS x FROM {}",
        ),
        (
            "cased",
            "view public.texts",
            "CREATE VIEW texts AS SELECT id, CASE email WHEN last THEN 1 END AS x FROM {}",
        ),
        (
            "stacked",
            "view public.outer",
            "CREATE VIEW texts AS SELECT id, email, last FROM {}; CREATE VIEW outer AS SELECT nullif(email, last) AS x, id FROM texts",
        ),
        (
            "watched",
            "trigger watch on public.",
            "CREATE TRIGGER watch BEFORE UPDATE OF id ON {} FOR EACH ROW WHEN (old.email IS DISTINCT FROM new.email) EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        ),
        (
            "checked",
            "constraint \"",
            "ALTER TABLE {} ADD CHECK (id > 0 AND nullif(email, last) IS NOT NULL)",
        ),
        (
            "part",
            "index \"",
            "CREATE INDEX ON {} (id) WHERE email IS DISTINCT FROM last",
        ),
        (
            "counted",
            "statistics object public.texts",
            "CREATE STATISTICS texts ON id, (nullif(email, last) IS NULL) FROM {}",
        ),
    ];
    for (table, what, text) in texts {
        session.run(&format!(
            "CREATE TABLE {table} (id serial PRIMARY KEY, email folded, last folded)"
        ));
        session.run(&text.replace("{}", table).replace("outer", "\"outer\""));
        let found = blockers(&mut session, table);
        let expected = format!("blocker: {}", what.replace("outer", "\"outer\""));
        assert!(
            found.contains(&expected) && found.contains("would not mean the same"),
            "{table}: {found}"
        );
        session.run(&format!("DROP TABLE {table} CASCADE"));
    }
    // Where each one is printed, and for the server's own types, all is done.
    session.run(
        "CREATE TABLE plain (id serial PRIMARY KEY, email folded, last folded, v text, CHECK (id > 0 AND email = last AND nullif(v, '') IS NOT NULL));
         CREATE VIEW texts AS SELECT p.id, sum(p.id) AS total, max(q.id / 2) AS half, array_agg(p.id ORDER BY p.id) AS list, p.v IS DISTINCT FROM 'x' AS y
             FROM plain AS p JOIN plain AS q USING (id, v) WHERE p.email = p.last AND p.id IN (1, 2, 3) AND nullif(p.id, 2) IS NOT NULL AND p.id::text <> '2' GROUP BY p.id, p.v;
         CREATE INDEX ON plain (v) WHERE id % 2 = 1 AND email = last; INSERT INTO plain (email, last, v) VALUES ('a', 'A', 'x')",
    );
    assert_eq!(blockers(&mut session, "plain"), "");
    gexec(
        &server,
        "mint.convert_plan('plain', 'id', 'snowflake_next_id(5)')",
        "true",
    );
    let seen: String = session.one("SELECT concat_ws(' ', id, total, half, list, y) FROM texts");
    assert_eq!(seen, "1 1 0 {1} f");
}

/// What no plan can read is refused before the first step, unless it means the same for certain: the actions of a rule, and a
/// view that groups by a primary key.
#[test]
fn what_only_the_swap_could_compare_is_refused() {
    let server = Server::start("compared in the swap");
    let mut session = server.connect("postgres");
    session.run(FOLDED);
    for (table, name, text) in [
        (
            "ruled",
            "rule \"add\" of view public.texts",
            "CREATE VIEW texts AS SELECT id, email, last FROM ruled; CREATE RULE add AS ON INSERT TO texts DO INSTEAD INSERT INTO ruled (email) SELECT nullif(new.email, new.last)",
        ),
        (
            "grouped",
            "view public.texts",
            "CREATE VIEW texts AS SELECT id, nullif(email, last) AS x, count(*) FROM grouped GROUP BY id",
        ),
        // Names that are not only the table's, and parts of a recursive query whose types would differ.
        (
            "twin",
            "view public.texts",
            "CREATE SCHEMA s; CREATE TABLE s.twin (twin_id int REFERENCES twin);
             CREATE VIEW texts AS SELECT a.id, chr(b.twin_id) AS x FROM twin AS a, s.twin AS b",
        ),
        (
            "hidden",
            "view s.hidden",
            "CREATE VIEW s.hidden AS SELECT id, chr(id) AS x FROM hidden; CREATE VIEW texts AS SELECT 1 AS one",
        ),
        (
            "item",
            "view public.texts",
            "CREATE VIEW texts AS WITH item AS (SELECT chr(i.id) AS x FROM item AS i) SELECT x FROM item",
        ),
        (
            "node",
            "view public.texts",
            "CREATE VIEW texts AS WITH RECURSIVE place AS (SELECT ctid FROM node), step AS (SELECT 1 AS n UNION ALL SELECT node.id FROM step JOIN node ON node.id = step.n + 1)
                SELECT n, (SELECT ctid FROM place LIMIT 1) AS c FROM step",
        ),
    ] {
        session.run(&format!(
            "CREATE TABLE {table} (id serial PRIMARY KEY, email folded, last folded)"
        ));
        session.run(text);
        let found = blockers(&mut session, table);
        let expected = format!("blocker: what {name} calls could only be compared in the swap");
        assert!(found.starts_with(&expected), "{found}");
        session.run("DROP VIEW texts");
    }
    // What calls only what is of the server keeps its meaning, and its place.
    session.run(
        "INSERT INTO ruled (email, last) VALUES ('a', 'b'); INSERT INTO grouped (email) SELECT email FROM ruled;
         CREATE VIEW texts AS SELECT id, email, last FROM ruled;
         CREATE RULE soft AS ON DELETE TO texts DO INSTEAD UPDATE ruled SET last = NULL WHERE id = old.id AND now() > '2000-01-01';
         CREATE VIEW sums AS SELECT g.id, g.email, count(*), max(r.id) AS most FROM grouped AS g JOIN ruled AS r ON r.id = g.id GROUP BY g.id;
         CREATE VIEW above AS SELECT s.id + 1 AS next, s.email FROM sums AS s",
    );
    for table in ["ruled", "grouped"] {
        gexec(
            &server,
            &format!("mint.convert_plan('{table}', 'id', 'snowflake_next_id(5)')"),
            "true",
        );
    }
    session.run("DELETE FROM texts");
    let seen: String = session.one(
        "SELECT concat_ws(' ', t.last IS NULL, s.most, pg_typeof(s.most), a.next, pg_typeof(a.next)) FROM texts AS t, sums AS s, above AS a",
    );
    assert_eq!(seen, "t 1 bigint 2 bigint");
}

/// What the script would enable, drop or fail on is refused before the first step, and what others see meanwhile is said.
#[test]
fn what_a_script_would_lose_is_refused() {
    let server = Server::start("not to be lost");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE t (id serial PRIMARY KEY, parent integer REFERENCES t, v text);
         CREATE VIEW whole AS SELECT row_to_json(t) FROM t; CREATE VIEW part AS SELECT v, t.id FROM t;
         ALTER TABLE t DISABLE TRIGGER ALL",
    );
    let found = blockers(&mut session, "t");
    assert!(
        found.contains("triggers of foreign key \"t_parent_fkey\" of table public.t are disabled"),
        "{found}"
    );
    session.run("ALTER TABLE t ENABLE TRIGGER ALL");
    assert_eq!(blockers(&mut session, "t"), "");
    let plan = "mint.convert_plan('t', 'id', 'snowflake_next_id(5)')";
    let note: String = session.one(&format!(
        "SELECT note FROM {plan} WHERE note LIKE '%whole rows%'"
    ));
    assert!(note.contains("whole.") && !note.contains("part"), "{note}");
    if server.major() < 18 {
        return;
    }
    session.run("INSERT INTO t (v) VALUES ('x'); ALTER TABLE t ADD CONSTRAINT given NOT NULL parent NOT VALID");
    let found = blockers(&mut session, "t");
    assert!(
        found.contains("constraint \"given\" of column \"parent\" of table \"t\" is NOT VALID"),
        "{found}"
    );
    session.run("UPDATE t SET parent = id; ALTER TABLE t DROP CONSTRAINT given, ADD CONSTRAINT given NOT NULL parent NO INHERIT");
    gexec(&server, plan, "true");
    let kept: bool = session.one("SELECT connoinherit FROM pg_constraint WHERE conname = 'given'");
    assert!(kept);
}

/// What has another value for an integer and for a bigint is refused before the first step, in each kind of text.
#[test]
fn values_that_depend_on_the_type_are_refused() {
    let server = Server::start("values by the type");
    let mut session = server.connect("postgres");
    for expression in ["id >> 33", "pg_typeof(id)", "pg_column_size(id + 1)"] {
        for rest in ["", ", count(*) FROM t GROUP BY id"] {
            session.run("CREATE TABLE t (id serial PRIMARY KEY)");
            let from = if rest.is_empty() { " FROM t" } else { rest };
            session.run(&format!("CREATE VIEW v AS SELECT {expression} AS x{from}"));
            let found = blockers(&mut session, "t");
            assert!(
                found.starts_with("blocker: view public.v would not mean the same when")
                    || found
                        .starts_with("blocker: what view public.v calls could only be compared"),
                "{expression}{rest}: {found}"
            );
            session.run("DROP TABLE t CASCADE");
        }
    }
    // The type of another column stays.
    session.run("CREATE TABLE t (id serial PRIMARY KEY, n int); CREATE VIEW v AS SELECT id, pg_typeof(n) AS x, n >> 1 AS y, pg_column_size(n) AS z FROM t");
    gexec(
        &server,
        "mint.convert_plan('t', 'id', 'snowflake_next_id(5)')",
        "true",
    );
}
