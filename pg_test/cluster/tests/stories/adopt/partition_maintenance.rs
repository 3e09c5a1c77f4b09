//! Partitions that maintain themselves: beside clients, over years, and after a cancellation.

use super::load;
use super::partitions::partitions;
use mint_cluster::{Server, count, say};
use std::thread;
use std::time::Duration;

pub(super) const PARENT: &str = "(id bigint PRIMARY KEY DEFAULT snowflake_next_id(5, 'twitter'), body text) PARTITION BY RANGE (id)";

/// Clients insert, read and update, also through a foreign key, while partitions come and go. No statement takes a second.
#[test]
fn clients_wait_for_less_than_a_second() {
    let server = Server::build("maintenance beside clients").alone().start();
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE kind (id int PRIMARY KEY); INSERT INTO kind SELECT generate_series(1, 10)",
    );
    session.run(
        "CREATE TABLE message (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5, 'twitter'), kind int REFERENCES kind, body text) PARTITION BY RANGE (id)",
    );
    session.run(&format!("CREATE TABLE pile {PARENT}"));
    session.run("CREATE TABLE pile_default PARTITION OF pile DEFAULT; INSERT INTO pile (body) SELECT 'x' FROM generate_series(1, 100000)");
    session.run("CALL mint.partition_maintain('message', '2 seconds', 3)");
    let clients: [&[&str]; 5] = [
        &["INSERT INTO message (kind, body) SELECT 1 + floor(random() * 9)::int, 'x'"],
        &[
            "SELECT count(*) FROM message WHERE snowflake_time(id, 'twitter') > now() - interval '1 second'",
        ],
        &["UPDATE kind SET id = id WHERE id = 10"],
        &["INSERT INTO pile (body) VALUES ('new')"],
        &["SELECT count(*) FROM pile"],
    ];
    let ((), seen) = load::during(&server, &clients, || {
        let mut admin = server.connect("postgres");
        admin.run("CALL mint.partition_maintain('pile', '1 day', move_rows => true)");
        for _ in 0..10 {
            admin.run(
                "CALL mint.partition_maintain('message', '2 seconds', 3, keep => '6 seconds')",
            );
            thread::sleep(Duration::from_millis(600));
        }
    });
    say(format!(
        "{} statements, the longest took {:?}: {}",
        seen.statements, seen.longest, seen.which
    ));
    seen.assert_undisturbed(Duration::from_secs(1), &[]);
    let strays: i64 = session.one("SELECT count(*) FROM ONLY pile_default");
    assert_eq!(strays, 0);
    let new: i64 = session.one("SELECT count(*) FROM pile WHERE body = 'x'");
    assert_eq!(new, 100_000);
    let left = partitions(&mut session, "message").len();
    assert!((6..=9).contains(&left), "{left} partitions");
}

/// Readers of a table see all rows at all times while these are moved out of the default partition.
#[test]
fn rows_are_seen_while_they_are_moved() {
    let server = Server::start("rows that are moved");
    let mut session = server.connect("postgres");
    session.run(&format!("CREATE TABLE pile {PARENT}"));
    session.run("CREATE TABLE pile_default PARTITION OF pile DEFAULT; INSERT INTO pile (body) SELECT 'x' FROM generate_series(1, 55000)");
    let counts = thread::scope(|scope| {
        let mover = scope.spawn(|| {
            server
                .connect("postgres")
                .run("CALL mint.partition_maintain('pile', '1 month', 1, move_rows => true)");
        });
        let mut counts = Vec::new();
        while !mover.is_finished() {
            counts.push(session.one::<i64>("SELECT count(*) FROM pile"));
        }
        counts
    });
    assert!(counts.len() > 3, "{counts:?}");
    assert!(counts.iter().all(|&count| count == 55_000), "{counts:?}");
    assert_eq!(partitions(&mut session, "pile").len(), 3);
}

/// Locks that others hold are waited for briefly, again and again; without a further attempt the call fails, and the next one continues.
#[test]
fn a_long_transaction_holds_up_nobody_else() {
    let server = Server::start("maintenance beside a long transaction");
    let mut session = server.connect("postgres");
    session.run(&format!("CREATE TABLE message {PARENT}"));
    session.run("CALL mint.partition_maintain('message', '1 month', 1, since => now() - interval '5 months')");
    let before = partitions(&mut session, "message").len();
    let keep = "CALL mint.partition_maintain('message', '1 month', 1, keep => '2 months'";
    let mut reader = server.connect("postgres");
    reader.run("BEGIN; SELECT count(*) FROM message");
    let refusal = session.refusal(&format!("{keep}, retries => 1)"));
    assert_eq!(refusal.code, "55P03", "{refusal}");
    assert_eq!(
        refusal.message,
        "could not obtain the locks on table message"
    );
    assert_eq!(partitions(&mut session, "message").len(), before);
    let ((), seen) = load::during(
        &server,
        &[&["INSERT INTO message (body) VALUES ('x')"]],
        || {
            thread::scope(|scope| {
                let run = scope.spawn(|| server.connect("postgres").run(&format!("{keep})")));
                thread::sleep(Duration::from_secs(3));
                assert!(!run.is_finished());
                reader.run("COMMIT");
            });
        },
    );
    seen.assert_undisturbed(Duration::from_secs(1), &[]);
    assert!(
        seen.longest > Duration::from_millis(200),
        "nobody waited: {:?}",
        seen.longest
    );
    let left = partitions(&mut session, "message").len();
    assert!(left < before && left >= 3, "{left} of {before}");
}

/// A run is canceled wherever it is. Nothing is lost or made twice, and the next run continues.
#[test]
fn a_canceled_run_is_taken_up() {
    let server = Server::start("canceled maintenance");
    let mut session = server.connect("postgres");
    session.run(&format!("CREATE TABLE pile {PARENT}"));
    session.run("CREATE TABLE pile_default PARTITION OF pile DEFAULT");
    // Ids of three months, so that rows are moved to several partitions.
    session.run("INSERT INTO pile SELECT snowflake_encode(now() - n * interval '1 minute', 5, n % 4096, 'twitter'), 'x' FROM generate_series(1, 90000) n");
    let (mut canceled, mut timeout) = (0, 10);
    loop {
        session.run(&format!("SET statement_timeout = {timeout}"));
        let answer = session.try_run("CALL mint.partition_maintain('pile', '1 month', 2, since => now() - interval '90 days', move_rows => true)");
        // On a busy machine, this statement can be the one that takes too long.
        while session.try_run("RESET statement_timeout").is_err() {}
        let count: i64 = session.one("SELECT count(*) FROM pile");
        assert_eq!(count, 90_000, "after {timeout} ms");
        let tables: i64 = session
            .one("SELECT count(*) FROM pg_class WHERE relname LIKE 'pile\\_2%' AND relkind = 'r'");
        assert_eq!(tables as usize + 1, partitions(&mut session, "pile").len());
        match answer {
            Ok(()) => break,
            Err(refusal) => assert_eq!(refusal.code, "57014", "{refusal}"),
        }
        canceled += 1;
        timeout += 7;
        assert!(timeout < 5_000);
    }
    say(format!("canceled {canceled} times"));
    assert!(canceled > 5, "canceled {canceled} times");
    let all = partitions(&mut session, "pile");
    assert!((6..=8).contains(&all.len()), "{all:?}");
    let strays: i64 = session.one("SELECT count(*) FROM ONLY pile_default");
    assert_eq!(strays, 0);
}

/// A table that its owner has locked is waited for after all others are maintained.
#[test]
fn a_locked_table_comes_last() {
    let server = Server::start("a locked table");
    let mut session = server.connect("postgres");
    for table in ["a", "b"] {
        session.run(&format!("CREATE TABLE {table} {PARENT}"));
        session.run(&format!(
            "SELECT mint.partition_register('{table}', '1 month', 3)"
        ));
    }
    let mut owner = server.connect("postgres");
    owner.run("BEGIN; LOCK TABLE a IN EXCLUSIVE MODE");
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut job = server.connect("postgres");
            // Where it waits for the lock first, the story fails and does not hang.
            job.run("SET statement_timeout = '90 s'");
            job.run("CALL mint.partition_maintain_all('10 ms', 1000)");
        });
        server.until("the free table is maintained", || {
            partitions(&mut session, "b").len() == 4
        });
        assert_eq!(partitions(&mut session, "a").len(), 0);
        owner.run("COMMIT");
    });
    assert_eq!(partitions(&mut session, "a").len(), 4);
}

/// Many runs at a time make each partition once.
#[test]
fn runs_at_the_same_time_make_nothing_twice() {
    let server = Server::start("maintenance at the same time");
    let mut session = server.connect("postgres");
    session.run(&format!("CREATE TABLE message {PARENT}"));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                server
                    .connect("postgres")
                    .run("CALL mint.partition_maintain('message', '1 day', 30, retries => 100)");
            });
        }
    });
    assert_eq!(partitions(&mut session, "message").len(), 31);
}

/// Three years of a clock that jumps by days: each id of the time and of up to two seconds later has a partition, nothing young is
/// dropped, nothing old is kept, and bounds are midnights of the zone, also when it changes to daylight saving time.
#[test]
fn years_pass() {
    let server = Server::start_with_clock("maintenance over years");
    let mut session = server.connect("postgres");
    let cases = [
        ("monthly", "1 month", 2, "3 months", "Europe/Berlin"),
        ("daily", "1 day", 3, "10 days", "America/New_York"),
        ("weekly", "7 days", 1, "1 month", "Australia/Lord_Howe"),
        ("hourly", "12 hours", 2, "3 days", "UTC"),
    ];
    for (table, ..) in cases {
        session.run(&format!("CREATE TABLE {table} {PARENT}"));
    }
    let mut day = 0;
    while day < count(1_100, 500) {
        server.set_clock(&format!("+{}", day * 86_400 + day % 7 * 3_600));
        for (table, every, ahead, keep, zone) in cases {
            session.run(&format!(
                "CALL mint.partition_maintain('{table}', '{every}', {ahead}, keep => '{keep}', layout => 'twitter', zone => '{zone}', since => now() - interval '{keep}' - interval '1 year')"
            ));
            // Ids of now, of later by the local calendar, and old ones that are imported.
            session.run(&format!(
                "INSERT INTO {table} SELECT snowflake_encode(at, 5, {day} % 4096, 'twitter'), 'x' FROM unnest(ARRAY[clock_timestamp(), clock_timestamp() + interval '2 s', timezone('{zone}', timezone('{zone}', clock_timestamp()) + {ahead} * interval '{every}'){}]) at ON CONFLICT DO NOTHING",
                if day > 200 { format!(", timezone('{zone}', timezone('{zone}', clock_timestamp()) - interval '{keep}') + interval '1 hour'") } else { String::new() }
            ));
            let bounds: Vec<String> = session.column(&format!(
                "SELECT pg_get_expr(relpartbound, 0) FROM pg_class JOIN pg_inherits ON inhrelid = pg_class.oid WHERE inhparent = '{table}'::regclass"
            ));
            assert!(
                bounds.len() > ahead as usize,
                "{table} on day {day}: {bounds:?}"
            );
            let bad: Vec<String> = session.column(&format!(
                "SELECT l.bound FROM (SELECT (regexp_match(pg_get_expr(relpartbound, 0), $$TO \\('(\\d+)'\\)$$))[1]::bigint AS bound FROM pg_class JOIN pg_inherits ON inhrelid = pg_class.oid WHERE inhparent = '{table}'::regclass) b,
                 LATERAL (SELECT snowflake_time(b.bound, 'twitter')::text AS bound, snowflake_time(b.bound, 'twitter') AS at) l
                 WHERE '{every}' <> '12 hours' AND date_trunc('day', l.at AT TIME ZONE '{zone}') <> l.at AT TIME ZONE '{zone}'
                     OR l.at <= timezone('{zone}', timezone('{zone}', now()) - interval '{keep}')"
            ));
            assert_eq!(bad, Vec::<String>::new(), "{table} on day {day}");
        }
        day += if day < 14 { 1 } else { 23 };
    }
    for (table, ..) in cases {
        let all = partitions(&mut session, table).len();
        say(format!("{table}: {all} partitions in the end"));
        assert!(all < 40, "{table}: {all}");
    }
}

/// The statements of docs/guides/partitions.md make a table in use a partitioned one, and back. No client waits for a second.
#[test]
fn a_table_in_use_becomes_partitioned_and_back() {
    let server = Server::start("a table that becomes partitioned");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE visit (id bigint PRIMARY KEY DEFAULT snowflake_next_id(3, 'twitter'), page text)");
    session.run("INSERT INTO visit (page) SELECT '/' FROM generate_series(1, 500000)");
    let clients: [&[&str]; 3] = [
        &["INSERT INTO visit (page) VALUES ('/new')"],
        &["SELECT * FROM visit ORDER BY id DESC LIMIT 10"],
        &["UPDATE visit SET page = '/x' WHERE id = (SELECT min(id) FROM visit)"],
    ];
    let ((), seen) = load::during(&server, &clients, || {
        let mut session = server.connect("postgres");
        session.run("SET lock_timeout = '500 ms'");
        let edge: i64 =
            session.one("SELECT snowflake_min(now() + interval '3 seconds', 'twitter')");
        session.run(&format!(
            "ALTER TABLE visit ADD CONSTRAINT before_partitions CHECK (id < {edge}) NOT VALID"
        ));
        session.run("ALTER TABLE visit VALIDATE CONSTRAINT before_partitions");
        session.run(&format!(
            "BEGIN;
             LOCK TABLE visit IN ACCESS EXCLUSIVE MODE;
             ALTER TABLE visit RENAME TO visit_before;
             CREATE TABLE visit (LIKE visit_before INCLUDING DEFAULTS, PRIMARY KEY (id)) PARTITION BY RANGE (id);
             ALTER TABLE visit ATTACH PARTITION visit_before FOR VALUES FROM (MINVALUE) TO ({edge});
             COMMIT"
        ));
        session.run("ALTER TABLE visit_before DROP CONSTRAINT before_partitions");
        session.run("CALL mint.partition_maintain('visit', '1 hour', 2)");
        thread::sleep(Duration::from_secs(4));
        let used: i64 = session.one("SELECT count(DISTINCT tableoid) FROM visit");
        assert_eq!(used, 2);
        session.run(
            "BEGIN;
             LOCK TABLE visit IN ACCESS EXCLUSIVE MODE;
             ALTER TABLE visit DETACH PARTITION visit_before;
             INSERT INTO visit_before SELECT * FROM visit;
             DROP TABLE visit;
             ALTER TABLE visit_before RENAME TO visit;
             COMMIT",
        );
    });
    say(format!(
        "{} statements, the longest took {:?}: {}",
        seen.statements, seen.longest, seen.which
    ));
    seen.assert_undisturbed(Duration::from_secs(1), &[]);
    let kind: String =
        session.one("SELECT relkind::text FROM pg_class WHERE oid = 'visit'::regclass");
    assert_eq!(kind, "r");
    let rows: i64 = session.one("SELECT count(*) FROM visit WHERE page <> '/new'");
    assert!(rows >= 500_000, "{rows}");
}

/// A partition that cannot be detached in less than a second, as with foreign keys that refer to its table, stays: the call fails,
/// and the table is free again. A shorter `statement_timeout` of the session stays as well.
#[test]
fn a_slow_detach_is_given_up() {
    let server = Server::start("slow detach");
    let mut session = server.connect("postgres");
    session.run(&format!("CREATE TABLE message {PARENT}"));
    session.run("CALL mint.partition_maintain('message', '1 month', 1, since => now() - interval '5 months')");
    session.run(
        "CREATE FUNCTION slow() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(30); END $$;
         CREATE EVENT TRIGGER slow ON ddl_command_end WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION slow()",
    );
    let before = partitions(&mut session, "message").len();
    let call = "CALL mint.partition_maintain('message', '1 month', 1, keep => '2 months')";
    session.run("SET statement_timeout = '20s'");
    let ((), seen) = load::during(
        &server,
        &[&["INSERT INTO message (body) VALUES ('x')"]],
        || {
            let refusal = session.refusal(call);
            assert_eq!(refusal.code, "55000", "{refusal}");
            assert!(
                refusal.message.starts_with("could not detach partition"),
                "{refusal}"
            );
        },
    );
    seen.assert_undisturbed(Duration::from_secs(2), &[]);
    assert_eq!(partitions(&mut session, "message").len(), before);
    session.run("SET statement_timeout = '300ms'");
    assert_eq!(session.refusal(call).code, "57014");
    session.run("SET statement_timeout = '20s'; DROP EVENT TRIGGER slow");
    session.run(call);
    assert!(partitions(&mut session, "message").len() < before);
    // The timer of the session is its own again.
    session.run("SET statement_timeout = '1500ms'");
    session.run(call);
    assert_eq!(session.refusal("SELECT pg_sleep(10)").code, "57014");
}

/// A value of a counter that commits while the step waits for its lock is seen: its partition stays, with the row.
#[test]
fn a_counted_row_that_commits_meanwhile_is_kept() {
    let server = Server::start("a counted row that commits");
    let mut session = server.connect("postgres");
    session.run(&format!("CREATE TABLE message {PARENT}"));
    let old: String = session.one(
        "SELECT format('CREATE TABLE message_old PARTITION OF message FOR VALUES FROM (MINVALUE) TO (%s)',
             snowflake_min(date_trunc('month', now() - interval '3 months'), 'twitter'))",
    );
    session.run(&old);
    session.run("CALL mint.partition_maintain('message', '1 month', 1, since => now() - interval '3 months')");
    let keep = "CALL mint.partition_maintain('message', '1 month', 1, keep => '2 months', lock_timeout => '1 s')";
    let mut client = server.connect("postgres");
    client.run("BEGIN; INSERT INTO message VALUES (1, 'today')");
    let refusal = thread::scope(|scope| {
        let run = scope.spawn(|| server.connect("postgres").try_run(keep));
        thread::sleep(Duration::from_millis(300));
        assert!(!run.is_finished());
        client.run("COMMIT");
        run.join().unwrap()
    });
    let kept: i64 = session.one("SELECT count(*) FROM message");
    assert_eq!(kept, 1);
    let refusal = refusal.unwrap_err();
    assert_eq!(refusal.code, "55000", "{refusal}");
    session.run("DELETE FROM message");
    session.run(keep);
    let olds: i64 = session.one("SELECT count(*) FROM pg_class WHERE relname = 'message_old'");
    assert_eq!(olds, 0);
}
