//! What the plan names before the first step, as the script would fail on it later: views that name columns by their places,
//! where the swap puts others, and what fails while the script runs.

use super::super::shop::{blockers, gexec};
use mint_cluster::{Server, Session};

/// The server prints lists of aliases for tables and for joins: those of the view, and those of a column that was renamed since.
#[test]
fn views_by_place_are_refused() {
    let server = Server::start("views by place");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE author (author_id serial PRIMARY KEY, name text);
         CREATE TABLE \"b k\" (id serial PRIMARY KEY, author_id int NOT NULL REFERENCES author, title text)",
    );
    let views = [
        "SELECT author_id, name, title FROM author JOIN \"b k\" USING (author_id); ALTER TABLE author RENAME author_id TO id",
        "SELECT x.a, x.b FROM author AS x (a, b)",
        "SELECT x.\"B\", x.c FROM ONLY \"b k\" AS x (a, \"B\", c)",
        "SELECT j.b, j.d FROM (author AS a JOIN \"b k\" AS b ON a.id = b.author_id) AS j (a, b, c, d)",
        "SELECT j.n, j.v FROM (author AS a CROSS JOIN (VALUES (1)) AS v (v)) AS \"J j\" (n, m, v) CROSS JOIN LATERAL (SELECT \"J j\".n, \"J j\".v) AS j",
    ];
    let plan = "mint.convert_plan('author', 'id', 'snowflake_next_id(5)')";
    for view in views {
        session.run(&format!("CREATE VIEW v AS {view}"));
        let found: String = session.one(&format!(
            "SELECT coalesce(string_agg(note, E'\\n'), '') FROM {plan} WHERE note LIKE 'blocker%'"
        ));
        let expected = "blocker: view public.v cannot be dropped and created again in the swap. The reason is that it names columns";
        assert!(found.starts_with(expected), "{view}: {found}");
        session.run("DROP VIEW v");
    }
    // Lists of what has no places that change.
    session.run(
        "INSERT INTO author (name) VALUES ('Ada'); INSERT INTO \"b k\" (author_id, title) VALUES (1, 'Notes');
         CREATE VIEW v AS WITH c (p, q) AS (SELECT id, name FROM author)
             SELECT a.id, a.name, f.n, l.k, s.y, c.q, (a.id + 1) OPERATOR(pg_catalog.*) 2 AS twice, 'public.author x(a)' AS said
             FROM author AS a CROSS JOIN generate_series(1, 1) AS f (n) CROSS JOIN (VALUES (1)) AS l (k)
                 CROSS JOIN LATERAL (SELECT a.id, b.title FROM \"b k\" AS b WHERE (b.author_id) IN (a.id)) AS s (x, y)
                 JOIN c ON c.p = (a.id) AND lower(c.q) = lower(a.name)",
    );
    gexec(&server, plan, "true");
    let seen: String = session.one("SELECT concat_ws(' ', id, name, n, k, y, q, twice) FROM v");
    assert_eq!(seen, "1 Ada 1 1 Notes Ada 4");
}

/// The rows of a function have the columns of its table by their places as well: the swap finds that the view would keep to the
/// column of before, and changes nothing.
#[test]
fn the_swap_fails_if_a_view_would_keep_to_the_column_of_before() {
    let server = Server::start("view of rows");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE author (id serial PRIMARY KEY, name text); INSERT INTO author (name) VALUES ('Ada');
         CREATE FUNCTION authors() RETURNS SETOF author STABLE LANGUAGE sql AS 'SELECT * FROM author';
         CREATE VIEW v AS SELECT a.name, f.x AS id FROM author AS a JOIN authors() AS f (x, y) ON f.y = a.name WHERE a.id > 0",
    );
    let script = "\\set ON_ERROR_STOP 1\nSELECT command FROM mint.convert_plan('author', 'id', 'snowflake_next_id(5)') WHERE command IS NOT NULL ORDER BY step \\gexec\n";
    let said = server.psql("postgres", script.as_bytes());
    let said = String::from_utf8_lossy(&said);
    let expected =
        "rule _RETURN on view public.v would depend on a column that the swap puts aside";
    assert!(said.contains(expected), "{said}");
    let kind: String =
        session.one("SELECT pg_typeof(a.id)::text FROM author AS a JOIN v ON v.id = a.id");
    assert_eq!(kind, "integer");
}

/// Checks that are not validated, functions of triggers with all columns, and SET DEFAULT are named, and nothing else is.
#[test]
fn the_plan_names_what_can_fail_until_the_swap() {
    let server = Server::start("warned before");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE t (id serial PRIMARY KEY, name text, CHECK (name <> ''));
         CREATE TABLE child (id serial PRIMARY KEY, t int DEFAULT 1 REFERENCES t ON DELETE CASCADE);
         CREATE TABLE t_audit (op text, id int, name text);
         CREATE FUNCTION listed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO t_audit SELECT TG_OP, NEW.id, NEW.name; PERFORM count(*) FROM t; RETURN NEW; END $$;
         CREATE TRIGGER listed BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION listed()",
    );
    let plan = "mint.convert_plan('t', 'id', 'snowflake_next_id(5)')";
    let warnings = format!(
        "SELECT coalesce(string_agg(note, E'\\n' ORDER BY step), '') FROM {plan} WHERE note LIKE 'warning: %'"
    );
    let none: String = session.one(&warnings);
    assert_eq!(none, "");
    session.run(
        "ALTER TABLE child ADD CONSTRAINT short CHECK (t > 0) NOT VALID, ADD CONSTRAINT again FOREIGN KEY (t) REFERENCES t ON DELETE SET DEFAULT;
         CREATE FUNCTION audited() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO t_audit select TG_OP, NEW . *; RETURN NEW; END $$;
         CREATE TRIGGER audited AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION audited()",
    );
    let found: String = session.one(&warnings);
    for expected in [
        "does not meet them: use VALIDATE CONSTRAINT before: short of public.child.",
        "write the lists of columns before: public.audited().",
        "can fail (23503) until the swap: again of public.child.",
    ] {
        assert!(found.contains(expected), "{found}");
    }
    // As it says: every write fails from the first step on.
    session.run("INSERT INTO t (name) VALUES ('a')");
    gexec(&server, plan, "phase = 'prepare'");
    let mut new = server.connect("postgres");
    let refusal = new.refusal("INSERT INTO t (name) VALUES ('b')");
    assert_eq!(refusal.code, "42601");
}

/// What the owner was deprived of, and what the server refuses to update, is said before the first step, each with what to do:
/// after that the script runs to its end.
#[test]
fn what_the_owner_lacks_is_said_before() {
    let server = Server::start("what the owner lacks");
    let mut session = server.connect("postgres");
    session.run("SET allow_in_place_tablespaces = on");
    session.run("CREATE TABLESPACE fast LOCATION ''");
    session.run(
        "CREATE ROLE keeper LOGIN; CREATE SCHEMA kept AUTHORIZATION keeper; CREATE SCHEMA closed;
         CREATE FUNCTION closed.note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
         ALTER FUNCTION closed.note() OWNER TO keeper; SET search_path = kept;
         CREATE TABLE kept.t (id serial PRIMARY KEY, name text); CREATE INDEX quick ON t (id) TABLESPACE fast;
         CREATE TABLE event (t_id int REFERENCES t); CREATE PUBLICATION all_of FOR ALL TABLES;
         CREATE TRIGGER note BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION closed.note();
         ALTER TABLE t OWNER TO keeper; ALTER TABLE event OWNER TO keeper;
         INSERT INTO t (name) VALUES ('x'); INSERT INTO event VALUES (1);
         REVOKE UPDATE ON t FROM keeper; SET search_path = public",
    );
    let plan = "mint.convert_plan('kept.t', 'id', 'snowflake_next_id(5)')";
    let found: Vec<String> = session.column(&format!(
        "SELECT note FROM {plan} WHERE note LIKE 'blocker%'"
    ));
    let expected = [
        "blocker: table kept.event has no replica identity, and publication all_of publishes its updates. The backfill could not update its rows. Use ALTER TABLE kept.event REPLICA IDENTITY FULL, or add a primary key.",
        "blocker: owner of table kept.t lacks privileges on it. The script reads and updates its rows, and creates triggers and foreign keys. Use GRANT UPDATE ON kept.t TO keeper.",
        "blocker: owner of index kept.quick cannot create indexes in tablespace fast. The index is built again beside itself. Use GRANT CREATE ON TABLESPACE fast TO keeper for the time of the conversion.",
    ];
    assert_eq!(found, expected);
    session.run(
        "ALTER TABLE kept.event REPLICA IDENTITY FULL; GRANT SELECT, UPDATE ON kept.t TO keeper; GRANT CREATE ON TABLESPACE fast TO keeper",
    );
    let commands: Vec<String> = session.column(&format!(
        "SELECT command FROM {plan} WHERE command IS NOT NULL ORDER BY step"
    ));
    let mut keeper = server.connect_as("keeper", "postgres");
    commands.iter().for_each(|command| keeper.run(command));
    let kind: String = session.one(
        "SELECT atttypid::regtype::text FROM pg_attribute WHERE attrelid = 'kept.event'::regclass AND attname = 't_id'",
    );
    assert_eq!(kind, "bigint");
}

/// Unique indexes are built after all others, as each is one more that an INSERT ... ON CONFLICT can fail on.
#[test]
fn unique_indexes_are_built_last() {
    let server = Server::start("unique at last");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE t (id serial PRIMARY KEY, n int, UNIQUE (n, id)); CREATE INDEX z ON t (id, n)");
    let indexes: Vec<String> = session.column(
        "SELECT command FROM mint.convert_plan('t', 'id', 'snowflake_next_id(5)') WHERE phase = 'index' ORDER BY step",
    );
    let unique: Vec<bool> = indexes
        .iter()
        .map(|one| one.starts_with("CREATE UNIQUE"))
        .collect();
    assert_eq!(unique, [false, true, true]);
    let said: bool = session.one(
        "SELECT count(*) = 1 FROM mint.convert_plan('t', 'id', 'snowflake_next_id(5)') WHERE note LIKE 'An INSERT ... ON CONFLICT%'",
    );
    assert!(said);
}

/// No row of new ids is like the whole row of a table, or has what is generated of an id.
#[test]
fn what_has_the_whole_row_is_said_before() {
    let server = Server::start("whole rows");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE wide (id bigserial PRIMARY KEY, v text CHECK (v <> ''), g bigint GENERATED ALWAYS AS (id * 2) STORED CHECK (g < 1000000));
         CREATE FUNCTION is_small(wide) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT ($1).id < 1000000';
         ALTER TABLE wide ADD CONSTRAINT whole CHECK (is_small(wide.*));
         CREATE TABLE narrow (id serial PRIMARY KEY, v text); CREATE FUNCTION row_text(narrow) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT $1::text';
         CREATE UNIQUE INDEX whole_row ON narrow (row_text(narrow.*)); ALTER TABLE narrow ADD CONSTRAINT of_row CHECK ((narrow.*)::text ~ '^.'); CREATE POLICY of_row ON narrow USING (narrow IS NOT NULL);
         CREATE TABLE logged (id serial PRIMARY KEY); CREATE TRIGGER log AFTER INSERT ON logged FOR EACH ROW WHEN (NEW IS NOT NULL) EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    );
    let notes = |session: &mut Session, table: &str| -> String {
        let plan = format!("mint.convert_plan('{table}', 'id', 'snowflake_next_id(5)')");
        session.one(&format!("SELECT string_agg(note, E'\\n') FROM {plan}"))
    };
    let wide = notes(&mut session, "wide");
    let refuses = "blocker: check constraint \"whole\" of table \"wide\" refuses new ids";
    assert!(wide.starts_with(refuses), "{wide}");
    session.run("ALTER TABLE wide DROP CONSTRAINT whole");
    let wide = notes(&mut session, "wide");
    let doubts =
        "warning: check constraint \"wide_g_check\" of table \"wide\" is not evaluated for new ids";
    assert!(
        wide.contains(doubts) && !wide.contains("wide_v_check"),
        "{wide}"
    );
    let narrow = notes(&mut session, "narrow");
    assert!(
        narrow.contains("blocker: other objects depend on column \"id\" of table"),
        "{narrow}"
    );
    assert!(
        narrow.contains("index public.whole_row")
            && narrow.contains("constraint of_row")
            && narrow.contains("policy of_row"),
        "{narrow}"
    );
    let logged = notes(&mut session, "logged");
    assert!(
        logged.contains("whole rows of tables") && logged.contains("trigger log"),
        "{logged}"
    );
}

/// A sequence of an identity is created again, with the privileges on it, but not with those on its columns.
#[test]
fn privileges_on_columns_of_a_sequence_are_said_before() {
    let server = Server::start("columns of a sequence");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE ROLE reader; CREATE TABLE counted (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
         GRANT SELECT (last_value) ON counted_id_seq TO reader",
    );
    let plan = "mint.convert_plan('counted', 'id', 'snowflake_next_id(5)')";
    let said = "blocker: privileges on columns of sequence \"counted_id_seq\" were granted";
    let found = blockers(&mut session, plan);
    assert!(found.starts_with(said), "{found}");
    session.run("REVOKE SELECT (last_value) ON counted_id_seq FROM reader");
    assert_eq!(blockers(&mut session, plan), "");
    // The way back creates it again, too.
    session.run(
        "SELECT mint.convert('counted', 'id', 'snowflake_next_id(5)'); GRANT SELECT (last_value) ON counted_id_seq TO reader",
    );
    let back = "mint.convert_plan('counted', 'id', NULL)";
    assert!(blockers(&mut session, back).starts_with(said));
    let revert = "SELECT mint.convert_revert('counted', 'id')";
    assert_eq!(session.refusal(revert).code, "55000");
    session.run("REVOKE SELECT (last_value) ON counted_id_seq FROM reader");
    session.run(revert);
}

/// What is generated of an id can be null for new ones, and missing in what an id refers to.
#[test]
fn what_new_ids_are_not_for_is_said_before() {
    let server = Server::start("not for new ids");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE known (id bigint PRIMARY KEY, part int, UNIQUE (part, id)); CREATE TABLE borrowed (id bigserial PRIMARY KEY REFERENCES known);
         CREATE TABLE paired (id bigserial PRIMARY KEY, part int, FOREIGN KEY (part, id) REFERENCES known (part, id));
         CREATE TABLE derived (id bigserial PRIMARY KEY, g bool GENERATED ALWAYS AS (nullif(id > 1000, true)) STORED NOT NULL, h bigint GENERATED ALWAYS AS (id) STORED NOT NULL)",
    );
    let plan = |table: &str| format!("mint.convert_plan('{table}', 'id', 'snowflake_next_id(5)')");
    let found = blockers(&mut session, &plan("derived"));
    let refuses = "blocker: generated column \"g\" of table \"derived\" refuses new ids";
    assert!(
        found.starts_with(refuses) && found.lines().count() == 1,
        "{found}"
    );
    for table in ["borrowed", "paired"] {
        let said: i64 = session.one(&format!(
            "SELECT count(*) FROM {} WHERE note = 'warning: column \"id\" of table \"{table}\" refers to table public.known. New ids need a row there.'",
            plan(table)
        ));
        assert_eq!(said, 1, "{table}");
    }
}
