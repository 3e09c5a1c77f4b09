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
