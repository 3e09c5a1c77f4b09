//! Partitions by time: what the plans print runs, beside inserts, and beside pg_partman.

use mint_cluster::{Server, Session, say};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

pub(super) fn partitions(session: &mut Session, parent: &str) -> Vec<String> {
    session.column(&format!(
        "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = '{parent}'::regclass ORDER BY 1"
    ))
}

/// Runs a script by psql, as an administrator or cron does, and returns what it printed.
fn psql(server: &Server, script: &str) -> String {
    String::from_utf8_lossy(&server.psql("postgres", script.as_bytes())).into_owned()
}

/// The printed statements make partitions by `\gexec` and by a DO block, while sessions insert; every row goes where its
/// time belongs, and no insert waits for the plan.
#[test]
fn plans_run_beside_inserts() {
    let server = Server::start("plans of partitions");
    let mut session = server.connect("postgres");
    for (table, id) in [
        (
            "message",
            "bigint PRIMARY KEY DEFAULT snowflake_next_id(5, 'twitter')",
        ),
        ("document", "uuid PRIMARY KEY DEFAULT uuid_v7()"),
        ("item", "objectid PRIMARY KEY DEFAULT objectid()"),
    ] {
        session.run(&format!(
            "CREATE TABLE {table} (id {id}, body text) PARTITION BY RANGE (id)"
        ));
        let plan = |ahead: u32| format!("mint.partition_plan('{table}', '2 seconds', {ahead})");
        psql(
            &server,
            &format!("SELECT command FROM {} \\gexec\n", plan(2)),
        );
        assert!(partitions(&mut session, table).len() >= 3);
        let stop = AtomicBool::new(false);
        let (rows, slowest) = thread::scope(|scope| {
            let inserts = scope.spawn(|| {
                let mut session = server.connect("postgres");
                let (mut rows, mut slowest) = (0_i64, Duration::ZERO);
                while !stop.load(Ordering::Relaxed) {
                    let begun = Instant::now();
                    session.run(&format!("INSERT INTO {table} (body) VALUES ('x')"));
                    slowest = slowest.max(begun.elapsed());
                    rows += 1;
                }
                (rows, slowest)
            });
            // As cron does: each time a little further, and half of the times there is nothing to do.
            for round in 0..12 {
                if round % 2 == 0 {
                    psql(
                        &server,
                        &format!("SELECT command FROM {} \\gexec\n", plan(3)),
                    );
                } else {
                    server.connect("postgres").run(&format!(
                        "DO $$ DECLARE command text; BEGIN
                             FOR command IN SELECT p.command FROM {} p LOOP EXECUTE command; END LOOP; END $$",
                        plan(3)
                    ));
                }
                thread::sleep(Duration::from_millis(500));
            }
            stop.store(true, Ordering::Relaxed);
            inserts.join().expect("the inserts end")
        });
        let all = partitions(&mut session, table);
        say(format!(
            "{table}: {rows} rows in {} partitions, the slowest insert took {slowest:?}",
            all.len()
        ));
        assert!(all.len() >= 6, "{all:?}");
        assert_eq!(
            session.one::<i64>(&format!("SELECT count(*) FROM {table}")),
            rows
        );
        let used: i64 = session.one(&format!("SELECT count(DISTINCT tableoid) FROM {table}"));
        assert!(used >= 3, "rows in {used} partitions");
        // The name says the time of the rows.
        let time = match table {
            "message" => "snowflake_time(id, 'twitter')",
            "document" => "uuid_v7_time(id)",
            _ => "objectid_time(id)",
        };
        let strays: i64 = session.one(&format!(
            "SELECT count(*) FROM {table} WHERE to_char({time} AT TIME ZONE 'UTC' - interval '2 seconds', 'YYYY_MM_DD_HH24MISS')
                 >= right(tableoid::regclass::text, 17)
             OR to_char({time} AT TIME ZONE 'UTC', 'YYYY_MM_DD_HH24MISS') < right(tableoid::regclass::text, 17)"
        ));
        assert_eq!(strays, 0, "rows in the partition of another time");
        // Dropping what is older than four seconds leaves the newest.
        let commands = format!(
            "SELECT command FROM mint.partition_drop_plan('{table}', '4 seconds') \\gexec\n"
        );
        psql(&server, &commands);
        let left = partitions(&mut session, table);
        assert!(!left.is_empty() && left.len() < all.len(), "{left:?}");
        assert_eq!(left[..], all[all.len() - left.len()..]);
    }
}

/// The plan takes no lock that stops reads or writes: it and its statements succeed while a transaction has written to and
/// read the parent. A lock that is not to be had ends with an error of its own, and leaves no table behind.
#[test]
fn a_plan_needs_no_quiet_parent_and_leaves_nothing_half_done() {
    let server = Server::start("a plan beside a writer");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE message (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), body text) PARTITION BY RANGE (id)",
    );
    let make = "SET lock_timeout = '200ms'; SELECT command FROM mint.partition_plan('message', '1 day', 1) \\gexec\n";
    psql(&server, make);
    let before = partitions(&mut session, "message");
    assert!(before.len() >= 2, "{before:?}");
    let mut writer = server.connect("postgres");
    writer.run("BEGIN; INSERT INTO message (body) VALUES ('x'); SELECT count(*) FROM message");
    let more = make.replace("1 day', 1", "1 day', 4");
    psql(&server, &more);
    let after = partitions(&mut session, "message");
    assert_eq!(after.len(), before.len() + 3);
    writer.run("COMMIT; BEGIN; LOCK TABLE message IN SHARE ROW EXCLUSIVE MODE");
    let answer = psql(&server, &more.replace("1 day', 4", "1 day', 6"));
    assert!(answer.contains("lock timeout"), "{answer}");
    writer.run("ROLLBACK");
    assert_eq!(partitions(&mut session, "message"), after);
    let tables: i64 = session
        .one("SELECT count(*) FROM pg_class WHERE relname LIKE 'message\\_2%' AND relkind = 'r'");
    assert_eq!(
        tables,
        after.len() as i64,
        "a table was left that is no partition"
    );
}

/// pg_partman divides a bigint by plain numbers. A plan has nothing to do where it has made partitions, and continues where
/// they end once the table is no longer pg_partman's: version 4 reads the bounds of partitions from their names.
#[test]
fn plans_take_over_from_pg_partman() {
    let server = Server::start("pg_partman");
    let mut session = server.connect("postgres");
    let has = "SELECT count(*) > 0 FROM pg_available_extensions WHERE name = 'pg_partman'";
    if !session.one::<bool>(has) {
        say("SKIPPED: this server tree has no pg_partman (package postgresql-15-partman)");
        return;
    }
    session.run(
        "CREATE SCHEMA partman; CREATE EXTENSION pg_partman SCHEMA partman;
         CREATE TABLE public.message (id bigint NOT NULL DEFAULT snowflake_next_id(5), body text) PARTITION BY RANGE (id)",
    );
    let version: String =
        session.one("SELECT extversion FROM pg_extension WHERE extname = 'pg_partman'");
    // The form of versions 4 and 5.
    let kind = if version.starts_with('4') {
        "'native'"
    } else {
        "'range'"
    };
    session.run(&format!(
        "SELECT partman.create_parent('public.message', 'id', p_type => {kind}, p_interval => ((86400000::bigint) << 23)::text, p_premake => 2,
             p_start_partition => snowflake_min(date_trunc('day', now(), 'UTC'))::text)"
    ));
    session.run("INSERT INTO message (body) SELECT 'x' FROM generate_series(1, 1000)");
    // Its days begin at the time of the epoch: later in the day, the first of them is over.
    session.run("SELECT partman.run_maintenance('public.message')");
    let theirs = partitions(&mut session, "message");
    assert!(theirs.len() >= 3, "{theirs:?}");
    let planned = |session: &mut Session, ahead: u32| {
        let query =
            format!("SELECT count(*) FROM mint.partition_plan('message', '1 day', {ahead})");
        session.one::<i64>(&query)
    };
    assert_eq!(
        planned(&mut session, 1),
        0,
        "pg_partman's days are planned again"
    );
    session.run("SELECT partman.run_maintenance('public.message')");
    assert_eq!(partitions(&mut session, "message"), theirs);
    session.run("DELETE FROM partman.part_config WHERE parent_table = 'public.message'");
    let count = planned(&mut session, 9);
    assert!((6..=9).contains(&count), "{count} are planned");
    psql(
        &server,
        "SELECT command FROM mint.partition_plan('message', '1 day', 9) \\gexec\n",
    );
    assert_eq!(planned(&mut session, 9), 0);
    let all = partitions(&mut session, "message").len();
    assert_eq!(all as i64, theirs.len() as i64 + count);
    session.run("INSERT INTO message (id, body) SELECT snowflake_encode(now() + day * interval '1 day', 5, 0), 'x' FROM generate_series(0, 9) AS day");
    let strays: i64 = session.one("SELECT count(*) FROM ONLY message_default");
    assert_eq!(strays, 0, "rows outside of every partition");
    say(format!(
        "pg_partman {version}: {} of its partitions, {count} of the plan",
        theirs.len()
    ));
}

/// Queries of a partition do not see a table that is being detached from it, which DROP TABLE would drop as well.
#[test]
fn what_is_being_detached_is_kept() {
    let server = Server::start("a partition that is being detached");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE message (id bigint NOT NULL DEFAULT snowflake_next_id(5, 'twitter'), kind int) PARTITION BY RANGE (id)");
    let old: String = session.one(
        "SELECT format('CREATE TABLE old PARTITION OF message FOR VALUES FROM (MINVALUE) TO (%s) PARTITION BY LIST (kind)',
             snowflake_min(date_trunc('month', now() - interval '3 months'), 'twitter'))",
    );
    session.run(&old);
    session.run("CREATE TABLE one PARTITION OF old FOR VALUES IN (1); CREATE TABLE two PARTITION OF old FOR VALUES IN (2); INSERT INTO message VALUES (1, 1)");
    session.run("CALL mint.partition_maintain('message', '1 month', 1, since => now() - interval '3 months')");
    let mut reader = server.connect("postgres");
    reader.run("BEGIN; SELECT count(*) FROM message");
    session.run("SET statement_timeout = '300 ms'");
    let refusal = session.refusal("ALTER TABLE old DETACH PARTITION one CONCURRENTLY");
    assert_eq!(refusal.code, "57014", "{refusal}");
    session.run("RESET statement_timeout");
    reader.run("COMMIT");
    let keep = "CALL mint.partition_maintain('message', '1 month', 1, keep => '2 months')";
    for call in [
        keep,
        "SELECT count(*) FROM mint.partition_drop_plan('message', '2 months')",
    ] {
        let refusal = session.refusal(call);
        assert_eq!(
            refusal.message,
            "cannot drop old partition public.old, from which table \"one\" is being detached"
        );
    }
    session.run("ALTER TABLE old DETACH PARTITION one FINALIZE");
    session.run(keep);
    let left: i64 = session.one("SELECT count(*) FROM one");
    assert_eq!(left, 1);
}

/// DETACH CONCURRENTLY is the way to archive a partition, and nothing ends it by a drop while it waits.
#[test]
fn a_partition_that_somebody_detaches_is_kept() {
    let server = Server::start("a partition that is archived");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE message (id bigint NOT NULL DEFAULT snowflake_next_id(5, 'twitter')) PARTITION BY RANGE (id)");
    session.run("CALL mint.partition_maintain('message', '1 month', 1, since => now() - interval '3 months')");
    session
        .run("INSERT INTO message VALUES (snowflake_min(now() - interval '3 months', 'twitter'))");
    let old: String = session.one("SELECT tableoid::regclass::text FROM message");
    let mut reader = server.connect("postgres");
    reader.run("BEGIN; SELECT FROM message WHERE id = snowflake_max(now(), 'twitter')");
    session.run("SET statement_timeout = '300 ms'");
    let detach = format!("ALTER TABLE message DETACH PARTITION {old} CONCURRENTLY");
    assert_eq!(session.refusal(&detach).code, "57014");
    session.run("RESET statement_timeout");
    let keep = "CALL mint.partition_maintain('message', '1 month', 1, keep => '1 month', lock_timeout => '200 ms', retries => 0)";
    // Others cannot be dropped beside the reader.
    let _ = session.try_run(keep);
    reader.run("COMMIT");
    session.run(keep);
    assert_eq!(
        session.one::<i64>(&format!("SELECT count(*) FROM {old}")),
        1
    );
}

/// A batch ends at a key, and more rows than it has can have one.
#[test]
fn rows_with_one_key_are_moved_together() {
    let server = Server::start("rows with one key");
    let mut session = server.connect("postgres");
    let maintain = |table: &str| {
        format!(
            "SET statement_timeout = '60s'; CALL mint.partition_maintain('{table}', '1 month', 1, move_rows => true)"
        )
    };
    for (table, rows) in [("few", 10_000), ("many", 10_001)] {
        session.run(&format!(
            "CREATE TABLE {table} (id bigint NOT NULL DEFAULT snowflake_next_id(3, 'twitter'), v text) PARTITION BY RANGE (id);
             CREATE TABLE {table}_rest PARTITION OF {table} DEFAULT;
             INSERT INTO {table} (v) SELECT 'before' FROM generate_series(1, 10);
             INSERT INTO {table} SELECT one.id, 'same' FROM (SELECT snowflake_next_id(3, 'twitter') AS id OFFSET 0) AS one, generate_series(1, {rows});
             INSERT INTO {table} (v) SELECT 'after' FROM generate_series(1, 10)"
        ));
    }
    session.run(&maintain("few"));
    let left: i64 = session.one("SELECT count(*) FROM few_rest");
    assert_eq!(left, 0);
    assert_eq!(session.one::<i64>("SELECT count(*) FROM few"), 10_020);
    let refusal = session.try_run(&maintain("many")).expect_err("too many");
    assert_eq!(refusal.code, "0A000", "{refusal}");
    assert_eq!(session.one::<i64>("SELECT count(*) FROM many"), 10_021);
}

/// Each table that is registered gets a step before one gets its second: a table for which something is always left to do keeps
/// none waiting.
#[test]
fn registered_tables_take_turns() {
    let server = Server::start("tables in turn");
    let mut session = server.connect("postgres");
    for table in ["one", "two"] {
        session.run(&format!(
            "CREATE TABLE {table} (id bigint PRIMARY KEY DEFAULT snowflake_next_id(3, 'twitter')) PARTITION BY RANGE (id);
             SELECT mint.partition_register('{table}', '1 month', 3)"
        ));
    }
    session.run("CALL mint.partition_maintain_all()");
    let turns: Vec<String> = session.column(
        "SELECT inhparent::regclass::text FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE relkind = 'r' ORDER BY inhrelid",
    );
    assert_eq!(turns, ["one", "two"].repeat(4));
}
