//! What changes between the plan of a script and its swap, and what a plan says before its first step.

use super::shop::{BACK, PLAN, UNTIL_SWAP, gexec, make_shop};
use mint_cluster::{Server, Session};

/// What was created between the plan and the swap is not lost: the swap refuses, and the next plan has it.
#[test]
fn a_swap_refuses_what_the_plan_did_not_know() {
    let server = Server::start("late changes");
    let mut session = server.connect("postgres");
    make_shop(&mut session, 1_000);
    gexec(&server, PLAN, "phase NOT IN ('swap', 'cleanup', 'default')");
    let swap: String = session.one(&format!("SELECT command FROM {PLAN} WHERE phase = 'swap'"));
    for (create, drop) in [
        (
            "CREATE INDEX late ON customer (parent, name)",
            "DROP INDEX late",
        ),
        (
            "CREATE TABLE late (customer int REFERENCES customer)",
            "DROP TABLE late",
        ),
        (
            "CREATE VIEW late AS SELECT id FROM customer",
            "DROP VIEW late",
        ),
        (
            "ALTER TABLE customer ADD CHECK (id > 0)",
            "ALTER TABLE customer DROP CONSTRAINT customer_id_check",
        ),
    ] {
        session.run(create);
        let refusal = session.refusal(&swap);
        assert_eq!(refusal.code, "P0001", "{create}: {refusal}");
        session.run(drop);
    }
    session.run("CREATE INDEX late ON customer (parent, name)");
    gexec(&server, PLAN, UNTIL_SWAP);
    let definition: String =
        session.one("SELECT indexdef FROM pg_indexes WHERE indexname = 'late'");
    assert_eq!(
        definition,
        "CREATE INDEX late ON public.customer USING btree (parent, name)"
    );
    // Ids beyond the type of before have no way back.
    session.run("INSERT INTO customer (id, name) VALUES (3000000000, 'big')");
    let script = format!(
        "\\set ON_ERROR_STOP 1\nSELECT command FROM {BACK} WHERE command IS NOT NULL ORDER BY step \\gexec\n"
    );
    let said = String::from_utf8_lossy(&server.psql("postgres", script.as_bytes())).into_owned();
    assert!(
        said.contains("out of the range of type integer") && said.contains("ERROR"),
        "{said}"
    );
    session.run("DELETE FROM customer WHERE id = 3000000000");
    gexec(&server, BACK, "true");
}

/// A default, a comment or a setting that was changed since the plan is not set as it was: the swap refuses, and the next plan
/// has it.
#[test]
fn a_swap_undoes_no_change_since_its_plan() {
    let server = Server::start("changes since the plan");
    let mut session = server.connect("postgres");
    make_shop(&mut session, 500);
    session.run(
        "CREATE INDEX by_text ON customer ((id::text), name);
         CREATE TRIGGER same BEFORE UPDATE OF customer ON orders FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    );
    gexec(&server, PLAN, "phase NOT IN ('swap', 'cleanup', 'default')");
    let swap: String = session.one(&format!("SELECT command FROM {PLAN} WHERE phase = 'swap'"));
    for (change, back) in [
        (
            "ALTER TABLE item ALTER customer SET DEFAULT 7",
            "ALTER TABLE item ALTER customer DROP DEFAULT",
        ),
        (
            "COMMENT ON COLUMN customer.id IS 'another'",
            "COMMENT ON COLUMN customer.id IS 'the number of a customer'",
        ),
        (
            "COMMENT ON CONSTRAINT customer_pkey ON customer IS 'the key'",
            "COMMENT ON CONSTRAINT customer_pkey ON customer IS NULL",
        ),
        (
            "ALTER TABLE customer REPLICA IDENTITY USING INDEX customer_pkey",
            "ALTER TABLE customer REPLICA IDENTITY DEFAULT",
        ),
        (
            "ALTER TABLE customer ALTER parent SET STATISTICS 77",
            "ALTER TABLE customer ALTER parent SET STATISTICS -1",
        ),
        (
            "ALTER TABLE customer ALTER parent SET (n_distinct = 5)",
            "ALTER TABLE customer ALTER parent RESET (n_distinct)",
        ),
        (
            "ALTER INDEX by_text ALTER COLUMN 1 SET STATISTICS 77",
            "ALTER INDEX by_text ALTER COLUMN 1 SET STATISTICS -1",
        ),
        (
            "ALTER INDEX by_text DEPENDS ON EXTENSION pg_mint",
            "ALTER INDEX by_text NO DEPENDS ON EXTENSION pg_mint",
        ),
        (
            "ALTER TRIGGER same ON orders DEPENDS ON EXTENSION pg_mint",
            "ALTER TRIGGER same ON orders NO DEPENDS ON EXTENSION pg_mint",
        ),
        (
            "ALTER INDEX orders_n SET (fillfactor = 60)",
            "ALTER INDEX orders_n SET (fillfactor = 80)",
        ),
        (
            "ALTER TABLE customer CLUSTER ON customer_pkey",
            "ALTER TABLE customer SET WITHOUT CLUSTER",
        ),
        (
            "ALTER SEQUENCE customer_id_seq OWNED BY NONE",
            "ALTER SEQUENCE customer_id_seq OWNED BY customer.id",
        ),
        (
            "ALTER TABLE orders ALTER customer DROP NOT NULL",
            "ALTER TABLE orders ALTER customer SET NOT NULL",
        ),
        (
            "GRANT SELECT (id) ON customer TO PUBLIC",
            "REVOKE SELECT (id) ON customer FROM PUBLIC",
        ),
    ] {
        session.run(change);
        let refusal = session
            .try_run(&swap)
            .err()
            .unwrap_or_else(|| panic!("not refused: {change}"));
        assert_eq!(refusal.code, "P0001", "{change}: {refusal}");
        session.run(back);
    }
    // What the next plan finds is kept.
    session.run(
        "ALTER TABLE item ALTER customer SET DEFAULT 7; ALTER INDEX by_text ALTER COLUMN 1 SET STATISTICS 77;
         ALTER INDEX by_text DEPENDS ON EXTENSION pg_mint; ALTER INDEX orders_n SET (fillfactor = 60);
         ALTER TRIGGER same ON orders DEPENDS ON EXTENSION pg_mint",
    );
    let kept = "SELECT concat_ws(' ',
             (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'item'::regclass),
             (SELECT attstattarget FROM pg_attribute WHERE attrelid = 'by_text'::regclass AND attnum = 1),
             (SELECT reloptions FROM pg_class WHERE oid = 'orders_n'::regclass),
             (SELECT count(*) FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'x'))";
    let before: String = session.one(kept);
    assert_eq!(before, "7 77 {fillfactor=60} 2");
    for plan in [PLAN, BACK] {
        gexec(&server, plan, UNTIL_SWAP);
        assert_eq!(session.one::<String>(kept), before, "{plan}");
    }
}

/// A script means the same in a session that reads backslashes in another way, whichever of the two has planned it. Since
/// 19 there is one way only.
#[test]
fn literals_are_read_alike_in_each_session() {
    for (planned, run) in [("on", "off"), ("off", "on"), ("off", "off")] {
        let server = Server::start("settings of a script");
        let mut session = server.connect("postgres");
        if server.major() >= 19 {
            let refusal = session
                .try_run("SET standard_conforming_strings = off")
                .unwrap_err();
            assert_eq!(refusal.code, "0A000", "{refusal}");
            return;
        }
        let mut other = server.connect("postgres");
        session.run(
            r#"CREATE TABLE t (id serial PRIMARY KEY, v text DEFAULT E'\\', CHECK (id::text || v <> E'\\''--'));
             CREATE INDEX by_v ON t (v) WHERE id::text <> E'\\'; COMMENT ON COLUMN t.id IS E'a\\'';b';
             CREATE VIEW w AS SELECT id, v, E'\\'';\\' AS x FROM t WHERE v <> E'\\';
             INSERT INTO t (v) SELECT 'x' FROM generate_series(1, 50)"#,
        );
        let plan = "mint.convert_plan('t', 'id', 'snowflake_next_id(5)')";
        let shape = "SELECT md5(concat(pg_get_viewdef('w'::regclass), col_description('t'::regclass, (SELECT attnum FROM pg_attribute WHERE attrelid = 't'::regclass AND attname = 'id')),
             (SELECT string_agg(pg_get_constraintdef(oid), ' ' ORDER BY conname) FROM pg_constraint WHERE conrelid = 't'::regclass AND contype <> 'n'),
             (SELECT pg_get_indexdef('by_v'::regclass))))";
        let before: String = session.one(shape);
        session.run(&format!("SET standard_conforming_strings = {planned}"));
        let steps: Vec<String> = session.column(&format!(
            "SELECT command FROM {plan} WHERE command IS NOT NULL AND {UNTIL_SWAP} ORDER BY step"
        ));
        other.run(&format!(
            "SET escape_string_warning = off; SET standard_conforming_strings = {run}"
        ));
        for step in steps {
            other.run(&step);
        }
        session.run("SET standard_conforming_strings = on");
        assert_eq!(session.one::<String>(shape), before, "{planned}, {run}");
    }
}

/// Returns what prevents the conversion of a table.
fn blockers(session: &mut Session, table: &str) -> String {
    session.one(&format!(
        "SELECT coalesce(string_agg(note, E'\\n'), '') FROM mint.convert_plan('{table}', 'id', 'snowflake_next_id(5)') WHERE note LIKE 'blocker%'"
    ))
}

/// What could only fail in a later step is refused before the first one.
#[test]
fn a_plan_that_cannot_end_is_not_begun() {
    let server = Server::start("plans that cannot end");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE FUNCTION narrow(i integer) RETURNS integer IMMUTABLE LANGUAGE sql RETURN i;
         CREATE TABLE a (id serial PRIMARY KEY, v text, CHECK (narrow(id) > 0));
         CREATE TABLE b (id serial PRIMARY KEY, v text); CREATE INDEX ON b (narrow(id));
         CREATE TABLE c (id serial PRIMARY KEY, v text); CREATE INDEX ON c (v) WHERE narrow(id) > 1;
         CREATE TABLE d (id serial PRIMARY KEY, v text); CREATE VIEW of_d AS SELECT narrow(x.id) AS n FROM d AS x;
         CREATE TABLE e (id serial PRIMARY KEY, v text); CREATE VIEW of_e AS SELECT substr(v, id) AS s FROM e;
         CREATE TABLE f (id serial PRIMARY KEY, v text, UNIQUE (id, v) DEFERRABLE);
         -- Nothing prevents this one: a column of a key in GROUP BY, a function of another column, names like that of the table.
         CREATE TABLE g (id serial PRIMARY KEY, n integer, v text, CHECK (narrow(n) > 0 AND id > 0));
         CREATE FUNCTION g(i integer) RETURNS integer IMMUTABLE LANGUAGE sql RETURN i;
         CREATE VIEW of_g AS SELECT g.id, g.v, narrow(g.n) AS n, g(g.n) AS m, count(*) FROM g JOIN a ON a.v = g.v GROUP BY g.id;
         CREATE FUNCTION takes(g) RETURNS text LANGUAGE sql RETURN 1; CREATE FUNCTION returns() RETURNS SETOF g LANGUAGE sql AS 'SELECT * FROM g';
         CREATE TABLE h (id bigserial PRIMARY KEY, v text); INSERT INTO h (v) VALUES ('x')",
    );
    for (table, what) in [
        ("a", "constraint \"a_id_check\" of table public.a"),
        ("b", "index \"b_narrow_idx\" of table public.b"),
        ("c", "index \"c_v_idx\" of table public.c"),
        ("d", "view public.of_d"),
        ("e", "view public.of_e"),
    ] {
        let found = blockers(&mut session, table);
        let expected = format!("{what} cannot be created with a bigint");
        assert!(found.contains(&expected), "{table}: {found}");
    }
    let found = blockers(&mut session, "f");
    assert!(found.contains("is DEFERRABLE"), "{found}");
    assert_eq!(blockers(&mut session, "g"), "");
    // A counter that draws from one sequence or another, in a table that has ids.
    session.run("SELECT segment_create('s'), segment_create('s2')");
    let either = "segment_next(CASE WHEN random() < 2 THEN 's'::regclass ELSE 's2'::regclass END)";
    let note: String = session.one(&format!(
        "SELECT note FROM mint.convert_plan('h', 'id', $${either}$$) WHERE note LIKE 'blocker%'"
    ));
    assert!(note.contains("does not always draw"), "{note}");
    let refusal = session.refusal(&format!("SELECT mint.convert('h', 'id', $${either}$$)"));
    assert_eq!(refusal.code, "0A000", "{refusal}");
    let note: String = session.one(
        "SELECT note FROM mint.convert_plan('g', 'id', 'snowflake_next_id(5)') WHERE note LIKE '%rows of the tables%'",
    );
    assert!(
        note.contains("takes(") && note.contains("returns("),
        "{note}"
    );
    gexec(
        &server,
        "mint.convert_plan('g', 'id', 'snowflake_next_id(5)')",
        "true",
    );
    let kind: String =
        session.one("SELECT pg_typeof(id)::text FROM g RIGHT JOIN (SELECT) AS one ON true");
    assert_eq!(kind, "bigint");
}

/// Where only the last step would fail, no step is begun; and functions that return ids as integers are named.
#[test]
fn a_plan_says_what_fails_after_the_swap() {
    let server = Server::start("after the swap");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE t (id serial PRIMARY KEY);
         CREATE FUNCTION as_rows() RETURNS TABLE (x int) LANGUAGE plpgsql AS 'BEGIN RETURN QUERY SELECT id FROM t; END';
         CREATE FUNCTION as_set() RETURNS SETOF int LANGUAGE plpgsql AS 'BEGIN RETURN QUERY SELECT id FROM t; END';
         CREATE FUNCTION as_text() RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN max(id) FROM t; END'",
    );
    let said: String = session.one(
        "SELECT note FROM mint.convert_plan('t', 'id', 'snowflake_next_id(5)') WHERE note LIKE '%too narrow%'",
    );
    assert!(
        said.ends_with("for the new ids: public.as_rows(), public.as_set()."),
        "{said}"
    );
    for level in ["serializable", "repeatable read"] {
        session.run(&format!("SET default_transaction_isolation TO '{level}'"));
        let found = blockers(&mut session, "t");
        let expected = format!("blocker: default_transaction_isolation is \"{level}\".");
        assert!(found.starts_with(&expected), "{found}");
    }
    session.run("SET default_transaction_isolation TO 'read uncommitted'");
    let count: i64 = session.one("SELECT count(*) FROM mint.convert_plan('t', 'id', 'snowflake_next_id(5)') WHERE note LIKE 'blocker: %'");
    assert_eq!(count, 0);
}
