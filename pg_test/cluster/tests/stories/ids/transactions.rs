//! Minting in every kind of transaction, whose end does not affect the ids.

use mint_cluster::{Server, Session, assert_ascending, assert_unique, count};

const NEXT: &str = "SELECT snowflake_next_id(7)";

/// A layout with ticks of an hour, where the clock cannot hide that an id is issued again after a rollback.
const NEXT_OF_HOUR: &str =
    "SELECT snowflake_next_id(7, 'time:20 shard:10 seq:30 unit:3600s epoch:2024-01-01T00:00:00Z')";

/// Draws one id and adds it to the list.
fn mint(session: &mut Session, all: &mut Vec<i64>) {
    all.push(session.one(NEXT));
}

#[test]
fn read_only_transactions_mint() {
    let server = Server::start("read only");
    let mut session = server.connect("postgres");
    let mut all = Vec::new();
    for begin in [
        "BEGIN READ ONLY",
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE",
    ] {
        session.run(begin);
        mint(&mut session, &mut all);
        // More than a raise of the ceiling in this transaction.
        std::thread::sleep(std::time::Duration::from_millis(count(700, 350)));
        mint(&mut session, &mut all);
        session.run("COMMIT");
    }
    session.run("SET default_transaction_read_only = on");
    mint(&mut session, &mut all);
    assert_unique([&all]);
    assert_ascending(&all);
}

/// An id drawn in a transaction that is rolled back is not issued again.
#[test]
fn rollback_gives_nothing_back() {
    let server = Server::start("rollback");
    let mut session = server.connect("postgres");
    let mut all: Vec<i64> = Vec::new();
    let mut mint = |session: &mut Session| all.push(session.one(NEXT_OF_HOUR));
    for end in ["ROLLBACK", "COMMIT"] {
        session.run("BEGIN");
        mint(&mut session);
        session.run("SAVEPOINT here");
        mint(&mut session);
        session.run("ROLLBACK TO here");
        mint(&mut session);
        session.run(end);
        mint(&mut session);
    }
    session.run(&format!(
        "BEGIN; DO $$ BEGIN PERFORM ({NEXT_OF_HOUR}); RAISE 'no'; EXCEPTION WHEN OTHERS THEN NULL; END $$"
    ));
    mint(&mut session);
    session.run("COMMIT");
    assert_ascending(&all);
}

#[test]
fn prepared_transactions_keep_their_ids() {
    let server = Server::build("prepared")
        .conf("max_prepared_transactions = 5")
        .durable()
        .start();
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE kept (id bigint)");
    let mut all = Vec::new();
    for name in ["one", "two"] {
        session.run(
            "BEGIN; INSERT INTO kept SELECT snowflake_next_id(7) FROM generate_series(1, 1000)",
        );
        mint(&mut session, &mut all);
        session.run(&format!("PREPARE TRANSACTION '{name}'"));
        mint(&mut session, &mut all);
    }
    drop(session);
    server.crash();
    let mut session = server.connect("postgres");
    mint(&mut session, &mut all);
    session.run("COMMIT PREPARED 'one'");
    session.run("ROLLBACK PREPARED 'two'");
    mint(&mut session, &mut all);
    assert_ascending(&all);
    let mut kept: Vec<i64> = session.column("SELECT id FROM kept");
    assert_eq!(kept.len(), 1000);
    kept.extend(&all);
    assert_unique([&kept]);
}

/// Creates the extension and uses it in one transaction, as migration tools do.
fn created_and_used_in_one_transaction(server: &Server) {
    let mut session = server.connect("postgres");
    let mut all = Vec::new();
    for end in ["ROLLBACK", "COMMIT"] {
        session.run("BEGIN; CREATE EXTENSION pg_mint");
        session.run("CREATE TABLE item (id bigint DEFAULT snowflake_next_id(7), n int)");
        session.run("INSERT INTO item (n) SELECT generate_series(1, 1000)");
        all.extend(session.column::<i64>("SELECT id FROM item ORDER BY n"));
        session.run(end);
    }
    all.extend(session.column::<i64>("SELECT snowflake_next_id(7) FROM generate_series(1, 1000)"));
    assert_ascending(&all);
    server.crash();
    let mut session = server.connect("postgres");
    mint(&mut session, &mut all);
    // The lanes of the server outlive the extension.
    session.run("DROP EXTENSION pg_mint CASCADE; CREATE EXTENSION pg_mint");
    mint(&mut session, &mut all);
    assert_ascending(&all);
}

#[test]
fn create_extension_and_mint_in_one_transaction() {
    created_and_used_in_one_transaction(&Server::build("one transaction").durable().start_empty());
}

/// A parallel worker is the first process to mint; environment/statements.rs draws by many of them.
#[test]
fn a_parallel_worker_mints_first() {
    let server = Server::start("parallel");
    let mut session = server.connect("postgres");
    session.force_parallel();
    let plan = session.explain("SELECT 1");
    assert!(
        plan.contains("Workers Launched: 1"),
        "not forced into a worker:\n{plan}"
    );
    let mut all: Vec<i64> =
        session.column("SELECT snowflake_next_id(7) FROM generate_series(1, 1000)");
    session.run("BEGIN READ ONLY");
    mint(&mut session, &mut all);
    session.run("COMMIT");
    assert_unique([&all]);
}
