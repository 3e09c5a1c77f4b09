//! The inventory and the audit of databases in use: many tables, locked tables, and rows that others hide.

use mint_cluster::{Server, count, say};
use std::time::{Duration, Instant};

/// Thousands of tables: each has its row, no lock is left, and the lock table of the server, which has no room for that many,
/// is not needed.
#[test]
fn an_inventory_of_many_tables_is_complete() {
    let server = Server::build("many tables")
        .conf("max_locks_per_transaction = 64")
        .conf("max_connections = 20")
        .start();
    let mut session = server.connect("postgres");
    let tables = count(5_000, 600);
    for first in (0..tables).step_by(200) {
        let last = (first + 199).min(tables - 1);
        session.run(&format!(
            "DO $$ BEGIN FOR n IN {first}..{last} LOOP
                 EXECUTE format(CASE n % 5
                     WHEN 0 THEN 'CREATE TABLE t%s (id serial PRIMARY KEY, a text, b text, c int)'
                     WHEN 1 THEN 'CREATE TABLE t%s (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), at timestamptz DEFAULT now())'
                     WHEN 2 THEN 'CREATE TABLE t%s (id uuid PRIMARY KEY, a text)'
                     WHEN 3 THEN 'CREATE TABLE t%s (id bigint PRIMARY KEY, parent bigint)'
                     ELSE 'CREATE TABLE t%s (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a text)' END, n);
                 IF n % 5 = 2 THEN EXECUTE format('INSERT INTO t%s SELECT uuid_v4() FROM generate_series(1, 20)', n); END IF;
                 IF n % 5 = 3 THEN EXECUTE format('ALTER TABLE t%s ADD FOREIGN KEY (parent) REFERENCES t%s', n, n - 2);
                     EXECUTE format('INSERT INTO t%s SELECT generate_series(1, 20)', n); END IF;
             END LOOP; END $$"
        ));
    }
    let mut other = server.connect("postgres");
    let begun = Instant::now();
    let kinds: Vec<String> = other.column(
        "SELECT format('%s %s %s', coalesce(kind, 'unknown'), count(*), count(referenced_by)) FROM mint.inventory()
         WHERE relation::text LIKE 't%' GROUP BY kind ORDER BY kind COLLATE \"C\"",
    );
    let first = begun.elapsed();
    let begun = Instant::now();
    let rows: i64 = other.one("SELECT count(*) FROM mint.inventory()");
    say(format!(
        "{tables} tables: {rows} rows in {first:?} in a new session, and then in {:?}",
        begun.elapsed()
    ));
    let each = tables / 5;
    let expected = [
        format!("identity always {each} 0"),
        format!("integer {each} 0"),
        format!("serial {each} 0"),
        format!("snowflake {each} {each}"),
        format!("uuid_v4 {each} 0"),
    ];
    assert_eq!(kinds, expected);
    other.run("BEGIN");
    let _: i64 = other.one("SELECT count(*) FROM mint.inventory()");
    let locks: i64 = other.one(
        "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND relation::regclass::text ~ '^t[0-9]'",
    );
    assert_eq!(locks, 0, "locks are left");
    other.run("COMMIT");
}

/// A table, a sequence or an index that another session has locked is passed over.
#[test]
fn nothing_waits_for_a_lock() {
    let server = Server::start("locked tables");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE held (id uuid PRIMARY KEY); INSERT INTO held SELECT uuid_v4() FROM generate_series(1, 50);
         CREATE TABLE free (id uuid PRIMARY KEY); INSERT INTO free SELECT uuid_v4() FROM generate_series(1, 50);
         CREATE TABLE counted (id serial PRIMARY KEY); INSERT INTO counted SELECT FROM generate_series(1, 50)",
    );
    let kinds = "SELECT format('%s %s %s %s', relation, kind, percent_used, bytes > 0) FROM mint.inventory() ORDER BY 1";
    session.run("SET lock_timeout = '10s'");
    assert_eq!(
        session.column::<String>(kinds),
        ["counted serial 0 t", "free uuid_v4  t", "held uuid_v4  t"]
    );
    let mut holder = server.connect("postgres");
    holder.run("BEGIN; LOCK TABLE held IN ACCESS EXCLUSIVE MODE; ALTER SEQUENCE counted_id_seq CACHE 5; ALTER INDEX held_pkey SET (fillfactor = 90); DROP INDEX IF EXISTS none");
    let begun = Instant::now();
    assert_eq!(
        session.column::<String>(kinds),
        ["counted serial 0 t", "free uuid_v4  t", "held   t"]
    );
    let findings: Vec<String> = session.column("SELECT finding FROM mint.audit('held', 'id')");
    assert_eq!(findings, ["ids were not read"]);
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "waited for {:?}",
        begun.elapsed()
    );
    holder.run("ROLLBACK; BEGIN; DROP TABLE held; ALTER SEQUENCE counted_id_seq RENAME TO c; LOCK TABLE counted IN ACCESS EXCLUSIVE MODE");
    assert_eq!(
        session.column::<String>(kinds),
        ["counted serial  t", "free uuid_v4  t", "held   t"]
    );
    holder.run("ROLLBACK");
}

/// A table that changes while it is listed: columns that change their type or go are passed over, and no session crashes.
#[test]
fn tables_that_change_meanwhile_do_no_harm() {
    let server = Server::start("changing tables");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE changing (id bigint PRIMARY KEY, filler text)");
    session.run("INSERT INTO changing SELECT g, repeat('x', 200) FROM generate_series(1, 500) g");
    let rounds = count(200, 40);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut other = server.connect("postgres");
            for _ in 0..rounds {
                other.run("ALTER TABLE changing ALTER id TYPE text USING id::text");
                other.run("ALTER TABLE changing ALTER id TYPE bigint USING id::bigint");
                other.run("ALTER TABLE changing DROP COLUMN filler; ALTER TABLE changing ADD filler text DEFAULT 'y'");
                other.run("BEGIN; TRUNCATE changing; ROLLBACK");
                other.run("VACUUM FULL changing");
            }
        });
        for _ in 0..rounds * 10 {
            for query in [
                "SELECT count(*) FROM mint.inventory()",
                "SELECT count(*) FROM mint.audit('changing', 'id')",
            ] {
                if let Err(refusal) = session.try_one::<i64>(query) {
                    assert!(
                        !refusal.is_loss() && !refusal.code.starts_with("XX"),
                        "{query}: {refusal}"
                    );
                }
            }
        }
    });
    for sign in ["PANIC", "TRAP", "panicked", "was terminated by signal"] {
        assert!(!server.log().contains(sign), "{sign} in the log");
    }
}

/// Of two tables that draw from one sequence, each has a largest id: the corrections of both leave the larger one, in any order.
#[test]
fn no_correction_takes_a_sequence_back() {
    let server = Server::start("corrected twice");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE SEQUENCE s; CREATE TABLE a (id bigint PRIMARY KEY DEFAULT nextval('s')); CREATE TABLE b (LIKE a INCLUDING ALL);
         INSERT INTO a VALUES (2000); INSERT INTO b VALUES (50)",
    );
    let commands: Vec<String> = ["a", "b"]
        .iter()
        .map(|table| session.one(&format!("SELECT command FROM mint.audit('{table}', 'id') WHERE finding = 'sequence is behind the ids'")))
        .collect();
    commands.iter().for_each(|command| session.run(command));
    let next: i64 = session.one("SELECT nextval('s')");
    assert_eq!(next, 2001);
}
