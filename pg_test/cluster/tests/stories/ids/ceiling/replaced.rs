//! Replacement, poisoning and rewrites of the ceiling's sequence by its owner.

use mint_cluster::{Server, assert_ascending};

const NEXT: &str = "SELECT snowflake_next_id(7)";

/// Makes the transaction's queries run in a parallel worker. PostgreSQL 16 renamed the setting.
const IN_A_WORKER: &str =
    "SELECT set_config(CASE WHEN current_setting('server_version_num')::int < 160000
    THEN 'force_parallel_mode' ELSE 'debug_parallel_query' END, 'on', true)";

/// A rollback would restore the old ceiling, which does not cover ids minted under the new one, so none are minted.
#[test]
fn nothing_is_minted_in_a_transaction_that_replaces_the_ceiling() {
    let server = Server::start("replaced");
    let mut session = server.connect("postgres");
    let mut all: Vec<i64> = vec![session.one(NEXT)];
    for replace in [
        "DROP EXTENSION pg_mint; CREATE EXTENSION pg_mint",
        "SAVEPOINT here; DROP EXTENSION pg_mint; CREATE EXTENSION pg_mint; RELEASE here",
        "ALTER SEQUENCE mint.time_ceiling RESTART",
    ] {
        session.run(&format!("BEGIN; {replace}; SAVEPOINT before"));
        session.refused(NEXT, "55000");
        session.run("ROLLBACK TO before");
        // A parallel worker refuses as well, though its leader replaced the ceiling.
        session.run(IN_A_WORKER);
        session.refused("SELECT count(snowflake_next_id(7)) FROM pg_class", "55000");
        session.run("ROLLBACK");
        all.push(session.one(NEXT));
        session.run(&format!("BEGIN; {replace}; COMMIT"));
        all.push(session.one(NEXT));
    }
    // A transaction that drops another sequence of the name, or rolls the drop of the ceiling back, mints.
    session.run("CREATE SCHEMA elsewhere; CREATE SEQUENCE elsewhere.time_ceiling");
    for harmless in [
        "DROP SEQUENCE elsewhere.time_ceiling",
        "SAVEPOINT here; DROP EXTENSION pg_mint; ROLLBACK TO here",
    ] {
        session.run(&format!("BEGIN; {harmless}"));
        all.push(session.one(NEXT));
        session.run("ROLLBACK");
    }
    session.run("DROP EXTENSION pg_mint");
    // A rollback would restore no other ceiling than the one that it removes as well.
    for create in [
        "CREATE EXTENSION pg_mint",
        "CREATE EXTENSION pg_mint; DROP EXTENSION pg_mint; CREATE EXTENSION pg_mint",
        "CREATE EXTENSION pg_mint; GRANT SELECT ON SEQUENCE mint.time_ceiling TO PUBLIC",
        "SAVEPOINT here; CREATE EXTENSION pg_mint; ROLLBACK TO here; CREATE EXTENSION pg_mint",
    ] {
        session.run(&format!("BEGIN; {create}"));
        all.push(session.one(NEXT));
        session.run("ROLLBACK");
    }
    for end in ["ROLLBACK", "COMMIT"] {
        session.run("BEGIN; CREATE EXTENSION pg_mint");
        all.push(session.one(NEXT));
        session.run(end);
    }
    assert_ascending(&all);
}

/// The ceiling that a rollback to a savepoint restores can be of the same transaction.
#[test]
fn nothing_is_minted_after_a_savepoint_that_can_restore_the_ceiling() {
    let server = Server::start_with_clock("replaced after a savepoint");
    let mut session = server.connect("postgres");
    session.run("DROP EXTENSION pg_mint");
    session.run("BEGIN; CREATE EXTENSION pg_mint; SAVEPOINT here");
    session.run("DROP EXTENSION pg_mint; CREATE EXTENSION pg_mint; SAVEPOINT before");
    let ids: Result<i64, _> = session.try_one(NEXT);
    session.run("ROLLBACK TO here; COMMIT");
    server.crash_with_the_clock_back();
    let mut all: Vec<i64> = ids.as_ref().ok().copied().into_iter().collect();
    all.push(server.one(NEXT));
    assert_ascending(&all);
    assert_eq!(
        ids.expect_err("an id that a crash can repeat").code,
        "55000"
    );
}

/// A row that is locked as well says by a list of transactions who has changed it.
#[test]
fn nothing_is_minted_after_a_savepoint_beside_a_lock_of_the_row() {
    let server = Server::start("replaced and locked");
    let mut session = server.connect("postgres");
    session.run(
        "BEGIN; SELECT 1 FROM pg_class WHERE oid = 'mint.time_ceiling'::regclass FOR KEY SHARE;
         SAVEPOINT here; ALTER SEQUENCE mint.time_ceiling RESTART",
    );
    session.refused(NEXT, "55000");
    session.run("ROLLBACK");
    session.one::<i64>(NEXT);
}

/// One replacement after another can be what a session waits for.
#[test]
fn a_new_session_waits_for_each_replacement() {
    const TIMES: usize = 4;
    let replace = "BEGIN; DROP EXTENSION pg_mint; CREATE EXTENSION pg_mint";
    let server = Server::start("waiting for replacements");
    let mut session = server.connect("postgres");
    let mut all: Vec<i64> = vec![session.one(NEXT)];
    std::thread::sleep(std::time::Duration::from_secs(1));
    session.run(replace);
    let mut new = server.connect("postgres");
    let id = std::thread::scope(|scope| {
        let minting = scope.spawn(|| new.try_one::<i64>(NEXT));
        for _ in 0..TIMES {
            // The sequence that it waits for is one that this transaction has dropped.
            let waits = "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted";
            server.until("the new session waits", || {
                minting.is_finished() || session.one(waits)
            });
            session.run(&format!("COMMIT; {replace}"));
        }
        session.run("COMMIT");
        minting.join().expect("an answer")
    });
    all.push(id.expect("an id"));
    assert_ascending(&all);
}

/// Its owner can take the sequence out of the extension and put another in its place: the next start reads that.
#[test]
fn a_sequence_of_another_name_is_not_the_ceiling() {
    let server = Server::build_with_clock("renamed");
    let server = server.conf("pg_mint.ceiling_window = '2s'").start();
    let mut session = server.connect("postgres");
    let mut all: Vec<i64> = vec![session.one(NEXT)];
    session.run(
        "ALTER EXTENSION pg_mint DROP SEQUENCE mint.time_ceiling;
         ALTER SEQUENCE mint.time_ceiling RENAME TO old_ceiling;
         CREATE SEQUENCE mint.time_ceiling; SELECT setval('mint.time_ceiling', 1)",
    );
    all.push(server.one(NEXT));
    all.push(session.one(NEXT));
    server.crash_with_the_clock_back();
    all.push(server.one(NEXT));
    assert_ascending(&all);
}

/// A session that waits for the sequence, attached or not, mints under the one that has its name then.
#[test]
fn a_session_that_waits_for_a_renamed_sequence_looks_again() {
    let server = Server::build_with_clock("renamed meanwhile");
    let server = server.conf("pg_mint.ceiling_window = '100ms'").start();
    let mut session = server.connect("postgres");
    let mut all: Vec<i64> = Vec::new();
    for round in 0..2 {
        let mut waiting = server.connect("postgres");
        if round == 0 {
            all.push(waiting.one(NEXT));
        }
        session.run(&format!(
            "CREATE SCHEMA attic{round}; BEGIN; ALTER EXTENSION pg_mint DROP SEQUENCE mint.time_ceiling;
             ALTER SEQUENCE mint.time_ceiling SET SCHEMA attic{round}; CREATE SEQUENCE mint.time_ceiling;
             ALTER EXTENSION pg_mint ADD SEQUENCE mint.time_ceiling;
             SELECT setval('mint.time_ceiling', (SELECT last_value FROM attic{round}.time_ceiling))"
        ));
        // Past what is published.
        std::thread::sleep(std::time::Duration::from_millis(300));
        let far = "SELECT max(id) FROM snowflake_next_ids(7, 500000) AS id";
        let id = std::thread::scope(|scope| {
            let minting = scope.spawn(|| waiting.one::<i64>(far));
            let waits = "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted";
            server.until("the session waits", || session.one(waits));
            session.run("COMMIT");
            minting.join().expect("an id")
        });
        all.push(id);
        let page = "SELECT last_value FROM mint.time_ceiling";
        let at = "SELECT (extract(epoch FROM snowflake_time($1)) * 1000000)::bigint";
        let at: i64 = session.one(&at.replace("$1", &id.to_string()));
        let page: i64 = session.one(page);
        assert!(page > at, "{page} is not above {at}");
    }
    server.crash_with_the_clock_back();
    all.push(server.one(NEXT));
    assert_ascending(&all);
}

/// After a restart only the floor covers ids from before. It outlives a rewrite of the sequence.
#[test]
fn a_rewritten_sequence_keeps_its_floor() {
    let server = Server::start_with_clock("rewritten floor");
    let mut all: Vec<i64> = server.column("SELECT snowflake_next_ids(5, 3000, 'sonyflake')");
    server.stop_fast();
    server.set_clock("-1.5");
    server.start_again();
    let mut session = server.connect("postgres");
    // Attaches to the ceiling with another shard.
    session.one::<i64>("SELECT snowflake_next_id(6, 'sonyflake')");
    session.run("ALTER SEQUENCE mint.time_ceiling RESTART");
    all.extend(session.column::<i64>("SELECT snowflake_next_ids(5, 3000, 'sonyflake')"));
    assert_ascending(&all);
}
