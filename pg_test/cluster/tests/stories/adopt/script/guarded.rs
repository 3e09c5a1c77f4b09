//! Steps that are run where they should not be: beside what only looks like a part of the script, after a step that has failed,
//! by two administrators, or in a transaction block.

use super::super::shop::{UNTIL_SWAP, blockers, gexec, run_through};
use mint_cluster::Server;

const AUTHOR: &str = "mint.convert_plan('book', 'author', 'snowflake_next_id(5)')";

/// A check that has the name of the one that proves a shadow, and another expression, spares no backfill: not before the first
/// step, and not later.
#[test]
fn a_check_of_the_name_proves_nothing() {
    let server = Server::start("false proof");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE book (id serial PRIMARY KEY, author int, isbn text); CREATE INDEX ON book (author);
         INSERT INTO book (author, isbn) SELECT g, 't' FROM generate_series(1, 1000) AS g",
    );
    let expected =
        "blocker: constraint \"mint_filled_author\" of table \"book\" is not of a script";
    let checks = [
        "isbn IS NOT NULL",
        "author IS NOT NULL AND author = author",
        "author > 0",
    ];
    for check in checks {
        session.run(&format!(
            "ALTER TABLE book ADD CONSTRAINT mint_filled_author CHECK ({check})"
        ));
        let found = blockers(&mut session, AUTHOR);
        assert!(found.starts_with(expected), "{check}: {found}");
        run_through(&server, AUTHOR);
        session.run("ALTER TABLE book DROP CONSTRAINT mint_filled_author");
    }
    gexec(&server, AUTHOR, "phase = 'prepare'");
    for check in [
        "mint_new_author IS NULL OR mint_new_author = author",
        "isbn = 't'",
    ] {
        session.run(&format!(
            "ALTER TABLE book ADD CONSTRAINT mint_filled_author CHECK ({check})"
        ));
        let found = blockers(&mut session, AUTHOR);
        assert!(found.starts_with(expected), "{check}: {found}");
        session.run("ALTER TABLE book DROP CONSTRAINT mint_filled_author");
    }
    // Another one with such a name is a check as all others are.
    session.run("ALTER TABLE book ADD CONSTRAINT mint_filled_up CHECK (author > 0)");
    gexec(&server, AUTHOR, UNTIL_SWAP);
    let kept: String = session.one(
        "SELECT concat_ws(' ', count(author), sum(author), (SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'mint_filled_up')) FROM book",
    );
    assert_eq!(kept, "1000 500500 CHECK ((author > 0))");
}

/// psql continues after an error by default: the cleanup after a swap that has failed takes nothing away, so that the script can
/// be run again or taken back.
#[test]
fn a_cleanup_without_a_swap_changes_nothing() {
    let server = Server::start("cleanup alone");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE author (id serial PRIMARY KEY, name text); CREATE INDEX ON author (id, name);
         CREATE TABLE book (id serial PRIMARY KEY, author int REFERENCES author);
         INSERT INTO author (name) SELECT 'n' FROM generate_series(1, 1000); INSERT INTO book (author) SELECT id FROM author",
    );
    let plan = "mint.convert_plan('author', 'id', 'snowflake_next_id(5)')";
    // The swap fails on what came after the plan.
    let script = format!(
        "CREATE TABLE plan AS SELECT * FROM {plan};
         CREATE INDEX late ON author (name, id);
         SELECT command FROM plan WHERE command IS NOT NULL ORDER BY step \\gexec
         DROP TABLE plan;\n"
    );
    let said = String::from_utf8_lossy(&server.psql("postgres", script.as_bytes())).into_owned();
    assert!(said.contains("not all is ready for the swap"), "{said}");
    // The cleanup of the columns and of the sequence, which is one step, says that there was no swap.
    let refused = said.matches("not all is ready for the cleanup").count();
    assert_eq!(refused, 1, "{said}");
    session.run("INSERT INTO author (name) VALUES ('after'); INSERT INTO book (author) SELECT max(id) FROM author");
    let kind: String =
        session.one("SELECT format_type(seqtypid, NULL) FROM pg_sequence WHERE seqrelid = 'author_id_seq'::regclass");
    assert_eq!(kind, "integer");
    assert_eq!(blockers(&mut session, plan), "");
    gexec(&server, "mint.convert_plan('author', 'id', NULL)", "true");
    let left = "SELECT count(*) FROM pg_attribute WHERE attname LIKE 'mint%' AND attrelid IN ('author'::regclass, 'book'::regclass)";
    assert_eq!(session.one::<i64>(left), 0);
    gexec(&server, plan, "true");
    assert_eq!(session.one::<i64>(left), 0);
    let kept: i64 = session.one("SELECT count(author) FROM book");
    assert_eq!(kept, 1001);
}

/// A shadow that has lost its trigger is known by its check: the way back drops it, and the way there creates the trigger again.
#[test]
fn a_shadow_without_its_trigger_is_no_dead_end() {
    let server = Server::start("lost trigger");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE book (id serial PRIMARY KEY, author int); CREATE INDEX ON book (author);
         INSERT INTO book (author) SELECT g FROM generate_series(1, 1000) AS g",
    );
    let back = "mint.convert_plan('book', 'author', NULL)";
    let lose = "DO $$ BEGIN EXECUTE (SELECT format('DROP TRIGGER %I ON book; DROP FUNCTION %s', tgname, tgfoid::regprocedure) FROM pg_trigger WHERE tgname = '~mint_copy_author'); END $$";
    gexec(
        &server,
        AUTHOR,
        "phase NOT IN ('swap', 'cleanup', 'default')",
    );
    session.run(lose);
    assert_eq!(
        session.refusal("INSERT INTO book (author) VALUES (1)").code,
        "23514"
    );
    gexec(&server, back, "true");
    session.run("INSERT INTO book (author) VALUES (1)");
    gexec(
        &server,
        AUTHOR,
        "phase NOT IN ('swap', 'cleanup', 'default')",
    );
    session.run(lose);
    gexec(&server, AUTHOR, UNTIL_SWAP);
    session.run("INSERT INTO book (author) VALUES (3000000000)");
    let kept: i64 = session.one("SELECT count(author) FROM book");
    assert_eq!(kept, 1002);
}

/// The second of two administrators finds that the swap is done.
#[test]
fn a_second_swap_is_refused() {
    let server = Server::start("two administrators");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE book (id serial PRIMARY KEY, author int); CREATE INDEX ON book (author); INSERT INTO book (author) VALUES (1)");
    gexec(
        &server,
        AUTHOR,
        "phase NOT IN ('swap', 'cleanup', 'default')",
    );
    let swap: String = session.one(&format!(
        "SELECT command FROM {AUTHOR} WHERE phase = 'swap'"
    ));
    session.run(&swap);
    let refusal = session.refusal(&swap);
    assert_eq!(refusal.message, "not all is ready for the swap");
}

/// In a transaction block each step fails before it has a lock, which it would keep through all of its attempts.
#[test]
fn no_step_keeps_a_lock_in_a_transaction_block() {
    let server = Server::start("autocommit off");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE book (id serial PRIMARY KEY, author int); INSERT INTO book (author) VALUES (1)");
    let plan = "mint.convert_plan('book', 'id', 'snowflake_next_id(5)')";
    let steps: Vec<String> = session.column(&format!(
        "SELECT command FROM {plan} WHERE command LIKE '%attempt IN%' ORDER BY step"
    ));
    assert!(steps.len() > 3, "{steps:?}");
    for step in &steps {
        session.run("BEGIN");
        assert_eq!(session.refusal(step).code, "2D000");
        session.run("ROLLBACK");
    }
    // The first one waits for another client: others could wait behind it.
    let mut other = server.connect("postgres");
    other.run("BEGIN; SELECT FROM book");
    session.run("BEGIN; SET LOCAL statement_timeout = '5s'");
    assert_eq!(session.refusal(&steps[0]).code, "2D000");
    session.run("ROLLBACK");
    let said = server.psql(
        "postgres",
        format!("\\set AUTOCOMMIT off\nSELECT command FROM {plan} WHERE command IS NOT NULL ORDER BY step LIMIT 1 \\gexec\n").as_bytes(),
    );
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("invalid transaction termination"), "{said}");
}

/// The cleanup gives a sequence another type, and waits for its lock as all other steps do: others do not wait behind it.
#[test]
fn the_cleanup_of_a_sequence_lets_others_pass() {
    let server = Server::start("cleanup of a sequence");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE book (id serial PRIMARY KEY, author int); INSERT INTO book (author) VALUES (1)");
    let plan = "mint.convert_plan('book', 'id', 'snowflake_next_id(5)')";
    gexec(&server, plan, UNTIL_SWAP);
    let step: String = session.one(&format!(
        "SELECT command FROM {plan} WHERE command LIKE '%ALTER SEQUENCE%int8%'"
    ));
    let mut holds = server.connect("postgres");
    holds.run("BEGIN; SELECT nextval('book_id_seq')");
    std::thread::scope(|scope| {
        let cleanup = scope.spawn(|| server.connect("postgres").run(&step));
        server.until("the cleanup has waited for the sequence", || {
            session.one("SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 'book_id_seq'::regclass")
        });
        // It lets go of its place in the queue, or this would wait for as long as the other transaction is open.
        let mut other = server.connect("postgres");
        other.run("SET statement_timeout = '10s'");
        let passed = other.try_run("INSERT INTO book (author) VALUES (3)");
        holds.run("COMMIT");
        cleanup.join().expect("the cleanup");
        passed.expect("the insert");
    });
    let kind: String =
        session.one("SELECT format_type(seqtypid, NULL) FROM pg_sequence WHERE seqrelid = 'book_id_seq'::regclass");
    assert_eq!(kind, "bigint");
}

/// A script that is continued after a way back was begun comes to its end, and no break leaves some columns with a way back and others without.
#[test]
fn a_way_back_that_was_begun_can_be_given_up() {
    let server = Server::start("given up");
    let mut session = server.connect("postgres");
    let plan = "mint.convert_plan('author', 'id', 'snowflake_next_id(5)')";
    let back = "mint.convert_plan('author', 'id', NULL)";
    session.run(
        "CREATE TABLE author (id serial PRIMARY KEY, boss int REFERENCES author, name text);
         CREATE TABLE book (id serial PRIMARY KEY, author int REFERENCES author); CREATE INDEX ON book (author);
         INSERT INTO author (name) SELECT 'n' FROM generate_series(1, 1000); INSERT INTO book (author) SELECT id FROM author",
    );
    gexec(&server, plan, UNTIL_SWAP);
    // The cleanup of a plan of before the way back fails, and its last step would give the checks of the way back what they refuse.
    session.run(&format!("CREATE TABLE early AS SELECT * FROM {plan}"));
    gexec(&server, back, "phase <> 'swap'");
    let said = run_through(&server, "early");
    assert!(said.contains("cannot drop column mint_old_id"), "{said}");
    assert!(
        said.contains("cleanup of the conversion of column \"id\" of table \"author\" is left"),
        "{said}"
    );
    // Nothing was dropped: the way back is open.
    let kept = "SELECT count(*) FROM pg_attribute WHERE attname LIKE 'mint\\_old%' AND attrelid IN ('author'::regclass, 'book'::regclass)";
    assert_eq!(session.one::<i64>(kept), 3);
    session.run("INSERT INTO author (name) VALUES ('q'); INSERT INTO book (author) SELECT max(id) FROM author");
    gexec(&server, plan, "phase = 'cleanup'");
    assert_eq!(session.one::<i64>(kept), 0);
    let left = "SELECT count(*) FROM pg_constraint WHERE conname LIKE 'mint%'";
    assert_eq!(session.one::<i64>(left), 0);
    gexec(&server, plan, "true");
    session.run("INSERT INTO author (name) VALUES ('q'); INSERT INTO book (author) SELECT max(id) FROM author");
    assert_eq!(session.one::<i64>("SELECT count(author) FROM book"), 1002);
}

/// The sequence keeps its type where the cleanup fails, as the columns do.
#[test]
fn a_cleanup_that_fails_widens_no_sequence() {
    let server = Server::start("failed cleanup");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE book (id serial PRIMARY KEY, author int)");
    let plan = "mint.convert_plan('book', 'id', 'snowflake_next_id(5)')";
    gexec(&server, plan, UNTIL_SWAP);
    session.run("CREATE VIEW holds AS SELECT mint_old_id FROM book");
    let said = run_through(&server, plan);
    assert!(said.contains("cannot drop column mint_old_id"), "{said}");
    let kind = "SELECT format_type(seqtypid, NULL) FROM pg_sequence WHERE seqrelid = 'book_id_seq'::regclass";
    assert_eq!(session.one::<String>(kind), "integer");
    session.run("DROP VIEW holds");
    gexec(&server, plan, "phase = 'cleanup'");
    assert_eq!(session.one::<String>(kind), "bigint");
}
