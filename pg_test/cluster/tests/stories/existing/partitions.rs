//! Partitions by time: they come and go beside clients, whatever partitions a table has, and none that is needed is dropped.

use mint_cluster::{Refusal, Rng, Server, Session, count};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Layouts whose time is not over.
const LAYOUTS: [&str; 17] = [
    "instagram", "twitter", "leaf", "discord", "java", "sonyflake", "sonyflake2", "goflake",
    "taobao", "mastodon", "pgedge", "tso", "yitter", "javascript", "tsid", "pgdog",
    "pgdog_compact",
];

/// Returns the partitions of a table with their bounds.
fn partitions(session: &mut Session, parent: &str) -> Vec<String> {
    session.column(&format!(
        "SELECT concat_ws(' ', inhrelid::regclass, pg_get_expr(relpartbound, oid)) FROM pg_inherits JOIN pg_class ON oid = inhrelid
        WHERE inhparent = '{parent}'::regclass ORDER BY 1"
    ))
}

/// A table has partitions of random times, of any length, with gaps. A call makes and drops what it should and ends, a second
/// one changes nothing, and each row that is not older than what is kept is there.
#[test]
fn a_second_call_changes_nothing() {
    let server = Server::start("odd partitions");
    let mut session = server.connect("postgres");
    let mut rng = Rng::from_environment();
    session.run("SET client_min_messages = warning");
    let (mut dropped, mut told) = (0, 0);
    // Until both have happened, whatever the seed is.
    let mut number = 0;
    while number < count(200, 40) || dropped == 0 || told == 0 {
        number += 1;
        let layout = rng.pick(&LAYOUTS);
        let parent = format!("odd_{number}");
        session.run(&format!(
            "CREATE TABLE {parent} (id bigint DEFAULT snowflake_next_id(0, '{layout}')) PARTITION BY RANGE (id)"
        ));
        // Minutes from now, in pairs that are the bounds of a partition or a gap.
        let mut edges: Vec<i64> = (0..rng.below(14))
            .map(|_| 100_000 - rng.below(250_000) as i64)
            .collect();
        let now: String = session.one("SELECT date_trunc('second', now())::text");
        edges.sort_unstable();
        edges.dedup();
        for (place, pair) in edges.windows(2).enumerate() {
            if rng.below(6) == 0 {
                continue;
            }
            let bound = |minutes: i64| {
                format!(
                    "snowflake_min('{now}'::timestamptz + {minutes} * interval '1 minute', '{layout}')"
                )
            };
            let (low, high) = (bound(pair[0]), bound(pair[1]));
            let low = if place == 0 && rng.below(4) == 0 {
                "'MINVALUE'".to_owned()
            } else {
                low
            };
            let sql = format!(
                "SELECT format('CREATE TABLE {parent}_p{place} PARTITION OF {parent} FOR VALUES FROM (%s) TO (%s)', {low}, {high})"
            );
            let sql: String = session.one(&sql);
            session.run(&sql);
            if rng.below(4) > 0 {
                session.run(&format!("COMMENT ON TABLE {parent}_p{place} IS 'Partition by the time of ids of layout {layout}'"));
            }
        }
        if rng.below(4) == 0 {
            session.run(&format!(
                "CREATE TABLE {parent}_default PARTITION OF {parent} DEFAULT"
            ));
        }
        let every = rng.pick(&[
            "1 month", "3 months", "1 week", "2 days", "10 days", "36 hours",
        ]);
        let keep = rng.pick(&[
            "100 days", "40 days", "31 days", "20 days", "10 days", "3 days",
        ]);
        let zone = rng.pick(&["UTC", "Europe/Berlin", "America/Santiago", "Asia/Kathmandu"]);
        let since = rng.pick(&[
            "NULL", "now() - interval '70 days'", "now() - interval '100 days'",
        ]);
        let is_kept: bool = session.one(&format!("SELECT interval '{keep}' >= interval '{every}'"));
        let age = keep;
        let keep = match is_kept && rng.below(4) > 0 {
            true => format!("'{keep}'"),
            false => "NULL".to_owned(),
        };
        let call = format!(
            "CALL mint.partition_maintain('{parent}', '{every}', {}, zone => '{zone}', since => {since}, keep => {keep})",
            1 + rng.below(4)
        );
        // The last id of each partition.
        session.run(&format!(
            "INSERT INTO {parent} SELECT substring(pg_get_expr(relpartbound, oid) FROM 'TO .''(\\d+)')::int8 - 1
            FROM pg_inherits JOIN pg_class ON oid = inhrelid
            WHERE inhparent = '{parent}'::regclass AND pg_get_expr(relpartbound, oid) <> 'DEFAULT'"
        ));
        let young = format!(
            "SELECT count(*) FROM {parent} WHERE snowflake_time(id, '{layout}') > now() - interval '{age}'"
        );
        let rows: i64 = session.one(&young);
        let before = partitions(&mut session, &parent);
        // The second call drops what was old before the first one had made the partition of now.
        let mut refusal = session.try_run(&call).err();
        if refusal.is_some() {
            refusal = session.try_run(&call).err();
        }
        let once = partitions(&mut session, &parent);
        let again = session.try_run(&call).err();
        assert_eq!(
            once,
            partitions(&mut session, &parent),
            "{call}: {before:?}"
        );
        assert_eq!(refusal.is_some(), again.is_some(), "{call}: {before:?}");
        assert_eq!(rows, session.one::<i64>(&young), "{call}: {before:?}");
        if let Some(refusal) = again {
            assert_eq!(refusal.code, "55000", "{call}: {refusal}");
            told += 1;
        }
        dropped += before.iter().filter(|part| !once.contains(part)).count();
        let has_now: bool = session.one(&format!(
            "SELECT count(*) = 0 FROM mint.partition_plan('{parent}', '{every}', 1, zone => '{zone}', keep => {keep}) WHERE command IS NOT NULL"
        ));
        assert!(has_now, "{call}: {before:?}");
    }
}

/// Partitions of one layout, and a call with another: none is dropped.
#[test]
fn another_layout_drops_nothing() {
    let server = Server::start("partitions of another layout");
    let mut session = server.connect("postgres");
    session.run("SET client_min_messages = warning");
    for (number, layout) in LAYOUTS.into_iter().enumerate() {
        session.run("DROP TABLE IF EXISTS message; CREATE TABLE message (id bigint) PARTITION BY RANGE (id)");
        session.run(&format!("CALL mint.partition_maintain('message', '1 day', 3, '{layout}', since => now() - interval '12 days')"));
        for other in LAYOUTS {
            let dropped: i64 = session.one(&format!(
                "SELECT count(*) FROM mint.partition_plan('message', '1 day', 3, '{other}', keep => '5 days') WHERE command LIKE '%DROP TABLE%'"
            ));
            assert_eq!(
                dropped > 0,
                layout == other,
                "{layout} as {other}: {dropped}"
            );
        }
        // Neither are they when calls have made partitions of another one, under other names.
        let other = LAYOUTS[(number + 3) % LAYOUTS.len()];
        let before = partitions(&mut session, "message");
        for _ in 0..3 {
            let call = format!(
                "CALL mint.partition_maintain('message', '25 hours', 3, '{other}', keep => '2 days')"
            );
            let _ = session.try_run(&call);
        }
        let after = partitions(&mut session, "message");
        assert!(
            before.iter().all(|part| after.contains(part)),
            "{layout} as {other}: {before:?}, {after:?}"
        );
        assert!(after.len() > before.len(), "{layout} as {other}");
    }
}

/// Days of a zone follow each other without a gap and without an overlap, also where a midnight or a day does not exist.
#[test]
fn days_follow_each_other_in_every_zone() {
    let server = Server::start("zones");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE message (id bigint DEFAULT snowflake_next_id(0, 'tso')) PARTITION BY RANGE (id)");
    let zones: Vec<String> = session.column(
        "SELECT name FROM pg_timezone_names WHERE name ~ '^(Africa/Cairo|America/(Sao_Paulo|Santiago|Havana|St_Johns|New_York)|Asia/(Beirut|Gaza|Tehran|Amman)|Atlantic/Azores|Australia/Lord_Howe|Europe/(Berlin|London)|Pacific/Apia)$'",
    );
    assert!(zones.len() > 10, "{zones:?}");
    for zone in zones {
        let odd: Vec<String> = session.column(&format!(
            "SELECT concat_ws(' ', name, since, until, before) FROM (
                SELECT name, since, until, lag(until) OVER (ORDER BY since) AS before
                FROM mint.partition_plan('message', '1 day', 1, zone => '{zone}', since => '2010-06-01') WHERE command LIKE '%CREATE TABLE%'
            ) AS p WHERE NOT until - since BETWEEN '23 hours' AND '25 hours' OR before <> since"
        ));
        assert_eq!(odd, Vec::<String>::new(), "{zone}");
    }
}

/// A reader has the table for long. Missing partitions are made at once, dropping is tried again until the reader ends, and no client
/// waits longer than `lock_timeout`.
#[test]
fn a_reader_delays_nobody() {
    let server = Server::build("partitions beside a reader").alone().start();
    let mut session = server.connect("postgres");
    session.run("SET client_min_messages = warning");
    session.run("CREATE TABLE kind (id int PRIMARY KEY); INSERT INTO kind VALUES (1)");
    session.run("CREATE TABLE message (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5, 'twitter'), kind int DEFAULT 1 REFERENCES kind) PARTITION BY RANGE (id)");
    session.run(
        "CALL mint.partition_maintain('message', '1 day', 1, since => now() - interval '20 days')",
    );
    let is_over = AtomicBool::new(false);
    let (longest, made) = thread::scope(|scope| {
        let client = scope.spawn(|| {
            let mut client = server.connect("postgres");
            let mut longest = Duration::ZERO;
            while !is_over.load(Ordering::Relaxed) {
                let began = Instant::now();
                client.run("INSERT INTO message DEFAULT VALUES");
                longest = longest.max(began.elapsed());
            }
            longest
        });
        let mut reader = server.connect("postgres");
        reader.run("BEGIN; SELECT count(*) FROM message");
        let began = Instant::now();
        session.run("CALL mint.partition_maintain('message', '1 day', 8)");
        let made = began.elapsed();
        let keeper = scope.spawn(|| {
            server.run("CALL mint.partition_maintain('message', '1 day', 8, keep => '10 days', retries => 100)");
        });
        thread::sleep(Duration::from_secs(count(30, 5)));
        assert!(!keeper.is_finished());
        reader.run("COMMIT");
        keeper.join().expect("old partitions are dropped");
        is_over.store(true, Ordering::Relaxed);
        (client.join().expect("rows are inserted"), made)
    });
    assert!(made < Duration::from_secs(1), "{made:?}");
    assert!(longest < Duration::from_millis(500), "{longest:?}");
    let left = partitions(&mut session, "message").len();
    assert!((19..=20).contains(&left), "{left} partitions");
}

/// Calls at the same time make nothing twice and fail for nobody. The owner that a table gets meanwhile ends a call.
#[test]
fn calls_at_the_same_time_share_the_work() {
    let server = Server::start("calls at the same time");
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE one LOGIN; CREATE ROLE other; GRANT ALL ON SCHEMA public TO one; SET ROLE one; CREATE TABLE message (id bigint DEFAULT snowflake_next_id(5, 'twitter')) PARTITION BY RANGE (id); RESET ROLE");
    // One after the other: what the first makes for the past is what the second drops.
    for call in ["since => now() - interval '10 days'", "keep => '7 days'"] {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    server.connect_as("one", "postgres").run(&format!(
                        "CALL mint.partition_maintain('message', '1 day', 30, {call})"
                    ));
                });
            }
        });
    }
    // Queries that follow each other without a pause lock the table before its partitions.
    let is_over = AtomicBool::new(false);
    let end = thread::scope(|scope| {
        scope.spawn(|| {
            let mut reader = server.connect("postgres");
            while !is_over.load(Ordering::Relaxed) {
                reader.run("SELECT count(*) FROM message WHERE id % 2 = 1");
            }
        });
        let mut other = server.connect_as("one", "postgres");
        let end =
            other.try_run("CALL mint.partition_maintain('message', '1 day', 30, keep => '5 days')");
        is_over.store(true, Ordering::Relaxed);
        end
    });
    assert!(end.is_ok(), "{end:?}");
    let left = partitions(&mut session, "message").len();
    assert!((36..=37).contains(&left), "{left} partitions");
    let call = "CALL mint.partition_maintain('message', '1 day', 30, keep => '2 days')";
    let then = "ALTER TABLE message OWNER TO other";
    let refusal = run_beside_lock(&server, &mut session, "message", "one", call, then).unwrap_err();
    assert_eq!(refusal.code, "42501", "{refusal}");
}

/// Runs a call that waits for the table that the session has locked. Then the session runs statements and commits.
#[rustfmt::skip]
fn run_beside_lock(server: &Server, session: &mut Session, held: &str, role: &str, call: &str, then: &str) -> Result<(), Refusal> {
    session.run(&format!("BEGIN; LOCK TABLE ONLY {held}"));
    thread::scope(|scope| {
        let call = scope.spawn(|| server.connect_as(role, "postgres").try_run(call));
        let waits = "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted";
        server.until("the call waits", || session.one(waits));
        session.run(&format!("{then}; COMMIT"));
        call.join().expect("the call ends")
    })
}

/// While a call waits, a partition of now gets the name of the old one, or another table the name of the parent. The call drops
/// neither. Where the lock is kept, it ends after its attempts, and what it has made stays. The next call drops what is old.
#[test]
fn names_and_locks_of_others_drop_nothing() {
    // A call that waits for ever ends with another error.
    let conf = "statement_timeout = 30s\nsearch_path = 'shop, public'";
    let server = Server::build("names and locks").conf(conf).start();
    let mut session = server.connect("postgres");
    let year: i32 = session.one("SELECT extract(year FROM now() AT TIME ZONE 'UTC')::int");
    let old = format!("message_{}", year - 2);
    let rename =
        format!("ALTER TABLE {old} RENAME TO a; ALTER TABLE message_{year} RENAME TO {old}");
    let table = "CREATE SCHEMA shop; CREATE TABLE shop.message (id bigint DEFAULT snowflake_next_id(5, 'twitter')) PARTITION BY RANGE (id)";
    let replace = format!(
        "ALTER SCHEMA shop RENAME TO a; {table}; CREATE TABLE shop.{old} PARTITION OF shop.message DEFAULT; INSERT INTO shop.message VALUES (1)"
    );
    for place in 0..6 {
        session.run(&format!("DROP SCHEMA IF EXISTS a, shop CASCADE; {table}"));
        session.run("CALL mint.partition_maintain('shop.message', '1 year', since => now() - interval '2 years')");
        session.run("INSERT INTO shop.message DEFAULT VALUES");
        let oid: u32 = session.one("SELECT 'shop.message'::regclass::oid");
        let parts =
            format!("SELECT inhrelid FROM pg_inherits WHERE inhparent = {oid} ORDER BY 1 DESC");
        let before: Vec<u32> = session.column(&parts);
        let held = format!("shop.{}", if place % 2 == 0 { "message" } else { &old });
        let mut call = format!(
            "CALL mint.partition_maintain({oid}, '1 year', keep => '1 year', lock_timeout => '1 hour')"
        );
        if place < 4 {
            let then = if place < 2 { &rename } else { &replace };
            let end = run_beside_lock(&server, &mut session, &held, "postgres", &call, then);
            assert!(end.is_ok(), "{held}: {then}: {end:?}");
            assert_eq!(session.column::<u32>(&parts), before, "{held}: {then}");
        } else {
            session.run(&format!("BEGIN; LOCK TABLE ONLY {held}"));
            call = call.replace("'1 hour'", "'0.3 s', retries => 3, ahead => 4");
            server.refused(&call, "55P03");
            session.run("COMMIT");
            let made = session.column::<u32>(&parts).len() - before.len();
            assert_eq!(made, 2 * (place % 2), "{held}");
        }
        let rows: i64 = session.one("SELECT count(*) FROM shop.message");
        assert_eq!(rows, 1, "{held}");
        session.run(&call);
        // The newest is created first, and so the oldest has the highest OID of a call.
        let left: Vec<u32> = session.column(&parts);
        assert!(
            left.ends_with(&before[1..]) && !left.contains(&before[0]),
            "{held}"
        );
    }
}
