//! Foreign keys that are dropped while a script is at work: the columns behind them still have its shadows.

use super::super::shop::{UNTIL_SWAP, blockers, gexec, run_through};
use mint_cluster::{Server, Session};

const PLAN: &str = "mint.convert_plan('author', 'id', 'snowflake_next_id(5)')";
const BACK: &str = "mint.convert_plan('author', 'id', NULL)";
const LOST: &str = "blocker: column public.book.author has a shadow that no foreign key leads to";
const DROP: &str = "ALTER TABLE book DROP CONSTRAINT book_author_fkey";
const ADD: &str = "ALTER TABLE book ADD CONSTRAINT book_author_fkey FOREIGN KEY (author) REFERENCES author NOT VALID";
const INSERT: &str = "WITH new AS (INSERT INTO author (name) VALUES ('b') RETURNING id) INSERT INTO book (author) SELECT id FROM new";

/// Two tables whose key is of a type.
fn start(story: &str, kind: &str) -> (Server, Session) {
    let server = Server::start(story);
    let mut session = server.connect("postgres");
    session.run(&format!(
        "CREATE TABLE author (id {kind} PRIMARY KEY, name text); CREATE TABLE book (id serial PRIMARY KEY, author int REFERENCES author);
         INSERT INTO author (name) VALUES ('a'); INSERT INTO book (author) VALUES (1)"
    ));
    (server, session)
}

/// Asserts that nothing of a script is left, and that new ids are taken.
fn assert_done(session: &mut Session) {
    session.run(INSERT);
    let left: Vec<String> = session.column(
        "SELECT name FROM (SELECT tgname::text FROM pg_trigger UNION ALL SELECT conname FROM pg_constraint UNION ALL SELECT attname FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid AND c.relkind = 'r' WHERE NOT attisdropped) AS n (name) WHERE name ~ '^~?mint_(copy|fk|old|new|filled)_'",
    );
    assert_eq!(left, [""; 0]);
}

/// A column of type bigint has no shadow: those of the columns that refer to it are found without it, whether a way back was begun or not.
#[test]
fn a_bigint_that_no_key_leads_to_any_more() {
    let (server, mut session) = start("lost key of a bigint", "bigserial");
    gexec(&server, PLAN, "phase NOT IN ('cleanup', 'default')");
    for back in ["false", "phase NOT IN ('swap', 'cleanup')"] {
        gexec(&server, BACK, back);
        session.run(DROP);
        for plan in [PLAN, BACK] {
            // Nothing is planned for the shadow of the key.
            let found = blockers(&mut session, plan);
            assert_eq!(found.lines().count(), 1, "{found}");
            assert!(found.starts_with(LOST), "{found}");
        }
        let convert = "SELECT mint.convert('author', 'id', 'snowflake_next_id(5)')";
        assert_eq!(session.refusal(convert).code, "55000");
        session.run(ADD);
    }
    // A restored copy has other oids, which are those of other tables.
    server.create_database("copy");
    let dump = server.dump("postgres", "postgres");
    server.restore("postgres", "copy", &dump);
    let mut copy = server.connect("copy");
    assert_eq!(blockers(&mut copy, PLAN), "");
    copy.run(DROP);
    let found = blockers(&mut copy, PLAN);
    assert!(found.starts_with(LOST), "{found}");
    gexec(&server, PLAN, "true");
    assert_done(&mut session);
}

#[test]
fn a_key_that_is_lost_before_the_swap() {
    let (server, mut session) = start("lost key before the swap", "serial");
    gexec(&server, PLAN, "phase IN ('prepare', 'backfill')");
    session.run(DROP);
    for plan in [PLAN, BACK] {
        let found = blockers(&mut session, plan);
        assert!(found.starts_with(LOST), "{found}");
    }
    session.run(ADD);
    gexec(&server, PLAN, "true");
    assert_done(&mut session);
}

/// The table that the key led to can have another name meanwhile, and another table its name.
#[test]
fn a_key_that_is_lost_with_the_name_of_its_table() {
    for kind in ["serial", "bigserial"] {
        let (server, mut session) = start(&format!("lost key and name, {kind}"), kind);
        gexec(&server, PLAN, "phase NOT IN ('cleanup', 'default')");
        session.run(DROP);
        session.run("ALTER TABLE author RENAME TO writer; CREATE TABLE author (id bigserial PRIMARY KEY, name text)");
        let writer = PLAN.replace("'author'", "'writer'");
        let found = blockers(&mut session, &writer);
        assert!(found.starts_with(LOST), "{kind}: {found}");
        assert_eq!(blockers(&mut session, PLAN), "", "{kind}");
        session.run(&ADD.replace("REFERENCES author", "REFERENCES writer"));
        gexec(&server, &writer, "true");
        session.run("DROP TABLE author; ALTER TABLE writer RENAME TO author");
        assert_done(&mut session);
    }
}

/// The trigger of a shadow has the name of its column.
#[test]
fn a_column_that_is_renamed_holds_up_the_cleanup() {
    let (server, mut session) = start("renamed columns", "serial");
    gexec(&server, PLAN, UNTIL_SWAP);
    session.run("ALTER TABLE book RENAME author TO writer");
    for plan in [PLAN, BACK] {
        let found = blockers(&mut session, plan);
        assert!(found.starts_with(LOST), "{found}");
    }
    session.run("ALTER TABLE book RENAME writer TO author; ALTER TABLE author RENAME id TO number");
    let number = PLAN.replace("'id'", "'number'");
    let found = blockers(&mut session, &number);
    let lost = "blocker: column public.author.id has a shadow";
    assert!(found.starts_with(lost), "{found}");
    session.run("ALTER TABLE author RENAME number TO id");
    gexec(&server, PLAN, "true");
    assert_done(&mut session);
}

/// A column can refer to two tables: the script of one does not take the shadows of the other's for its own.
#[test]
fn a_column_of_two_conversions() {
    let (server, mut session) = start("two conversions", "serial");
    session.run(
        "CREATE TABLE person (id serial PRIMARY KEY); INSERT INTO person DEFAULT VALUES; ALTER TABLE book ADD FOREIGN KEY (author) REFERENCES person",
    );
    gexec(&server, PLAN, UNTIL_SWAP);
    let person = "mint.convert_plan('person', 'id', 'snowflake_next_id(6)')";
    for plan in [person, "mint.convert_plan('person', 'id', NULL)"] {
        let found = blockers(&mut session, plan);
        let taken =
            "blocker: column public.book.author is in the conversion of table public.author";
        assert!(found.starts_with(taken), "{found}");
    }
    gexec(&server, PLAN, "phase = 'cleanup'");
    gexec(&server, person, "true");
    gexec(&server, PLAN, "true");
    session.run("ALTER TABLE book DROP CONSTRAINT book_author_fkey1");
    assert_done(&mut session);
}

/// Where the table that a key led to is gone, the columns are ended by a plan of their own.
#[test]
fn a_key_whose_table_is_dropped() {
    let (server, mut session) = start("dropped root", "serial");
    session.run("CREATE TABLE cover (id int PRIMARY KEY REFERENCES author); CREATE TABLE page (cover int REFERENCES cover); CREATE INDEX ON book (author); INSERT INTO cover VALUES (1); INSERT INTO page VALUES (1)");
    gexec(&server, PLAN, UNTIL_SWAP);
    gexec(&server, BACK, "phase NOT IN ('swap', 'cleanup')");
    session.run("DROP TABLE author CASCADE");
    for column in ["('cover', 'id'", "('book', 'author'"] {
        let plan = format!("mint.convert_plan{column}, 'snowflake_next_id(5)')");
        assert_eq!(blockers(&mut session, &plan), "");
        gexec(&server, &plan, "true");
    }
    session.run("CREATE TABLE author (id bigserial PRIMARY KEY, name text)");
    assert_done(&mut session);
}

/// A bigint has no trigger that would have its name: the number says what the shadows are of.
#[test]
fn a_bigint_that_is_renamed() {
    let (server, mut session) = start("renamed bigint", "bigserial");
    gexec(&server, PLAN, UNTIL_SWAP);
    gexec(&server, BACK, "phase NOT IN ('swap', 'cleanup')");
    session.run(DROP);
    session.run("ALTER TABLE author RENAME id TO number");
    for plan in [PLAN, BACK] {
        let found = blockers(&mut session, &plan.replace("'id'", "'number'"));
        assert!(found.starts_with(LOST), "{found}");
    }
    session.run(ADD);
    gexec(&server, &PLAN.replace("'id'", "'number'"), "true");
    session.run("ALTER TABLE author RENAME number TO id");
    assert_done(&mut session);
}

/// A column with a script of its own can refer to another: the script of that does not take its shadow for its own.
#[test]
fn a_key_of_a_column_with_a_script_of_its_own() {
    let (server, mut session) = start("script of a child", "serial");
    session.run(
        "CREATE TABLE cover (id int PRIMARY KEY REFERENCES author); INSERT INTO cover VALUES (1)",
    );
    let cover = "mint.convert_plan('cover', 'id', 'snowflake_next_id(6)')";
    for phases in ["phase = 'prepare'", UNTIL_SWAP] {
        gexec(&server, cover, phases);
        for plan in [PLAN, BACK] {
            let found = blockers(&mut session, plan);
            let taken =
                "blocker: column public.cover.id is in the conversion of table public.cover";
            assert!(found.starts_with(taken), "{phases}: {found}");
        }
    }
    // As well in a copy, whose tables have other oids.
    server.create_database("copy");
    let dump = server.dump("postgres", "postgres");
    server.restore("postgres", "copy", &dump);
    let mut copy = server.connect("copy");
    let found = blockers(&mut copy, PLAN);
    assert!(
        found.contains("is in the conversion of table public.cover"),
        "{found}"
    );
    assert_eq!(blockers(&mut copy, cover), "");
    gexec(&server, cover, "phase = 'cleanup'");
    session.run("ALTER TABLE cover ALTER id DROP DEFAULT");
    gexec(&server, PLAN, "true");
    assert_done(&mut session);
}

/// A column can lose the table that it referred to the first one by, or refer to another one: its own plan ends what was begun.
#[test]
fn a_key_that_leads_elsewhere() {
    let (server, mut session) = start("key to another table", "bigserial");
    session.run(
        "CREATE TABLE cover (id int PRIMARY KEY REFERENCES author); CREATE TABLE page (id int PRIMARY KEY REFERENCES cover); CREATE INDEX ON book (author)",
    );
    gexec(&server, PLAN, UNTIL_SWAP);
    gexec(&server, BACK, "phase NOT IN ('swap', 'cleanup')");
    session.run("DROP TABLE cover CASCADE");
    session.run(
        "ALTER TABLE author RENAME TO author_old; CREATE TABLE author (id bigserial PRIMARY KEY, name text); INSERT INTO author SELECT * FROM author_old;
         ALTER TABLE book DROP CONSTRAINT book_author_fkey, ADD CONSTRAINT book_author_fkey FOREIGN KEY (author) REFERENCES author",
    );
    let lost =
        |column: &str| format!("column public.{column} has a shadow that no foreign key leads to");
    let old = PLAN.replace("'author'", "'author_old'");
    let found = blockers(&mut session, &old);
    assert!(
        found.contains(&lost("book.author")) && found.contains(&lost("page.id")),
        "{found}"
    );
    let found = blockers(&mut session, PLAN);
    assert!(
        found.contains(&lost("book.author")) && !found.contains("page"),
        "{found}"
    );
    for column in ["'page', 'id'", "'book', 'author'"] {
        let plan = format!("mint.convert_plan({column}, 'snowflake_next_id(5)')");
        gexec(&server, &plan, "phase <> 'default'");
    }
    session.run("INSERT INTO page VALUES (3000000000)");
    gexec(&server, &old, "true");
    gexec(&server, PLAN, "true");
    assert_done(&mut session);
}

/// A policy that reads whole rows of a table, also one of another table, says something else as soon as there is a shadow.
#[test]
fn policies_on_whole_rows_are_blockers() {
    let (server, mut session) = start("whole rows in policies", "serial");
    session.run(
        "CREATE TABLE secret (id int); INSERT INTO secret VALUES (1); CREATE ROLE reader; GRANT SELECT ON secret, book TO reader; ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
         CREATE POLICY shown ON secret USING (NOT EXISTS (SELECT FROM book AS b WHERE b IS NOT NULL));
         CREATE FUNCTION whole() RETURNS bigint BEGIN ATOMIC SELECT count(*) FROM book AS b WHERE b IS NOT NULL; END",
    );
    let found = blockers(&mut session, PLAN);
    assert!(
        found.contains("policy shown on table public.secret"),
        "{found}"
    );
    session.run(
        "DROP POLICY shown ON secret; CREATE VIEW is_whole AS SELECT b IS NOT NULL AS is_whole FROM book AS b; CREATE VIEW any_whole AS SELECT bool_or(is_whole) AS any_whole FROM is_whole;
         CREATE POLICY shown ON secret USING ((SELECT any_whole FROM any_whole))",
    );
    let found = blockers(&mut session, PLAN);
    assert!(
        found.contains("policy shown on table public.secret"),
        "{found}"
    );
    session.run("DROP POLICY shown ON secret; DROP VIEW any_whole, is_whole");
    let said: String = session.one(&format!("SELECT string_agg(note, E'\\n') FROM {PLAN}"));
    assert!(said.contains("function public.whole()"), "{said}");
    gexec(&server, PLAN, "true");
    assert_done(&mut session);
}

/// A table can have the name of the one whose conversion has begun, or be a copy of one of its tables, and its comments.
#[test]
fn a_conversion_of_the_same_name_is_another() {
    let (server, mut session) = start("conversions of one name", "serial");
    gexec(&server, PLAN, UNTIL_SWAP);
    session.run(
        "CREATE TABLE book_archive (LIKE book INCLUDING ALL);
         ALTER TABLE author RENAME TO author_2025; CREATE TABLE author (id serial PRIMARY KEY, name text);
         CREATE TABLE letter (author int REFERENCES author); INSERT INTO author (name) VALUES ('a')",
    );
    gexec(&server, PLAN, UNTIL_SWAP);
    let plan_2025 = PLAN.replace("'author'", "'author_2025'");
    gexec(&server, &plan_2025, "phase = 'cleanup'");
    gexec(&server, PLAN, "true");
    session.run("DROP TABLE book_archive; INSERT INTO letter SELECT id FROM author");
    gexec(&server, &plan_2025, "true");
    session.run("INSERT INTO author_2025 (name) VALUES ('b'); INSERT INTO book (author) SELECT max(id) FROM author_2025; ALTER TABLE book DROP CONSTRAINT book_author_fkey");
    assert_done(&mut session);
}

/// A foreign key that is dropped after the swap leaves a shadow that the cleanup would not find, with the check of a way back, which
/// refuses new ids.
#[test]
fn a_key_that_is_lost_after_the_swap_holds_up_the_cleanup() {
    let server = Server::start("lost key");
    let mut session = server.connect("postgres");
    let plan = "mint.convert_plan('author', 'id', 'snowflake_next_id(5)')";
    let back = "mint.convert_plan('author', 'id', NULL)";
    session.run(
        "CREATE TABLE author (id serial PRIMARY KEY, name text); CREATE TABLE book (id serial PRIMARY KEY, author int UNIQUE DEFAULT 1 REFERENCES author);
         CREATE TABLE cover (id int PRIMARY KEY REFERENCES author); INSERT INTO author (name) VALUES ('a'); INSERT INTO book (author) VALUES (1);
         CREATE TABLE other (id serial PRIMARY KEY); CREATE TABLE of_other (id int REFERENCES other); CREATE TABLE bare (id int); CREATE INDEX ON bare (id)",
    );
    gexec(&server, plan, UNTIL_SWAP);
    // Those of other scripts are none.
    let other = "mint.convert_plan('other', 'id', 'snowflake_next_id(6)')";
    let bare = "mint.convert_plan('bare', 'id', 'snowflake_next_id(7)')";
    gexec(&server, other, UNTIL_SWAP);
    gexec(&server, bare, UNTIL_SWAP);
    let lost = "blocker: column public.book.author has a shadow that no foreign key leads to";
    let drop = "ALTER TABLE book DROP CONSTRAINT book_author_fkey";
    let add = "ALTER TABLE book ADD CONSTRAINT book_author_fkey FOREIGN KEY (author) REFERENCES author NOT VALID";
    for plan in [plan, other, bare] {
        assert_eq!(blockers(&mut session, plan), "");
    }
    session.run(drop);
    for plan in [plan, back] {
        let found = blockers(&mut session, plan);
        assert!(found.starts_with(lost), "{found}");
    }
    session.run(add);
    gexec(&server, back, "phase <> 'swap'");
    session.run(&format!(
        "{drop}; ALTER TABLE cover DROP CONSTRAINT cover_id_fkey"
    ));
    let found = blockers(&mut session, plan);
    assert!(
        found.starts_with(lost) && found.contains("column public.cover.id has"),
        "{found}"
    );
    run_through(&server, plan);
    session.run(&format!(
        "{add}; ALTER TABLE cover ADD CONSTRAINT cover_id_fkey FOREIGN KEY (id) REFERENCES author"
    ));
    gexec(&server, plan, "true");
    session.run(
        "WITH new AS (INSERT INTO author (name) VALUES ('b') RETURNING id), covered AS (INSERT INTO cover SELECT id FROM new) INSERT INTO book (author) SELECT id FROM new",
    );
    gexec(&server, other, "true");
    gexec(&server, bare, "true");
    let left: Vec<String> = session.column(
        "SELECT name FROM (SELECT tgname::text FROM pg_trigger UNION ALL SELECT conname FROM pg_constraint UNION ALL SELECT attname FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid AND c.relkind = 'r' WHERE NOT attisdropped) AS n (name) WHERE name ~ '^~?mint_(copy|fk|old|new|filled)_'",
    );
    assert_eq!(left, [""; 0]);
}
