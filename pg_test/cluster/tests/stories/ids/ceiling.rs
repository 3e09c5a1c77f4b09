//! The ceiling on disk: what it costs, who may touch its sequence, and what becomes of it when it is copied, dumped,
//! dropped or set back.

use super::assert_behind_ceiling;
use mint_cluster::load::sessions::while_minting;
use mint_cluster::{Server, Session, assert_ascending, assert_unique, count, say};
use std::thread::sleep;
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id(7)";
const MANY: &str = "SELECT snowflake_next_id(7) FROM generate_series(1, 1000)";
/// More than a second's worth of ids.
const FAR: &str = "SELECT snowflake_next_ids(8, 40000, 'sonyflake')";
const SET_BACK: &str = "was set back, and has been raised again";

/// Longer than a window.
fn outlast_the_window() {
    sleep(Duration::from_millis(800));
}

fn writes(session: &mut Session) -> i64 {
    session.one("SELECT writes FROM pg_mint_ceilings WHERE database = current_database() ORDER BY value DESC LIMIT 1")
}

fn wal(session: &mut Session) -> i64 {
    session.one("SELECT (pg_current_wal_lsn() - '0/0')::bigint")
}

#[test]
fn it_is_written_about_twice_a_second_while_minting_and_never_while_idle() {
    let server = Server::start("busy and idle");
    let mut watch = server.connect("postgres");
    let span = Duration::from_secs(count(60, 3));
    let mut minted = Vec::new();
    let (mut written, mut logged) = (0, 0);
    let begun = Instant::now();
    minted.extend(while_minting(&server, 2, NEXT, || {
        server.until_minted(|| watch.try_one::<i64>(NEXT));
        let before = (writes(&mut watch), wal(&mut watch));
        sleep(span);
        written = writes(&mut watch) - before.0;
        logged = wal(&mut watch) - before.1;
    }));
    // Slower machines may have gone on for longer than they were asked to, which is why both ends are measured.
    let seconds = begun.elapsed().as_secs() as i64;
    say(format!(
        "{} ids in {seconds} s: {written} writes of the ceiling, {logged} bytes of WAL",
        minted.iter().map(|record| record.ids.len()).sum::<usize>()
    ));
    assert!(
        (span.as_secs() as i64..=seconds * 4 + 2).contains(&written),
        "{written} writes in {seconds} s"
    );
    // A record of it is 133 bytes; others are the server's own.
    assert!(
        logged < 4_096 * (seconds + 2),
        "{logged} bytes in {seconds} s"
    );

    let idle = writes(&mut watch);
    sleep(Duration::from_secs(count(5, 1)));
    assert_eq!(writes(&mut watch), idle, "written while idle");
}

/// Somebody sets the sequence back: the next raise writes the higher value again, and says so.
#[test]
fn a_sequence_set_back_is_raised_again() {
    let Some(server) = Server::start_with_clock("set back") else {
        return;
    };
    let mut session = server.connect("postgres");
    let mut all: Vec<i64> = session.column(MANY);
    let tamperings = [
        "SELECT setval('pg_mint_time_ceiling', 5, false)",
        "ALTER SEQUENCE pg_mint_time_ceiling INCREMENT 2 RESTART WITH 5",
        "SELECT setval('pg_mint_time_ceiling', 5)",
        "ALTER SEQUENCE pg_mint_time_ceiling RESTART",
    ];
    for (times, tampering) in tamperings.iter().take(count(4, 2)).enumerate() {
        server.connect("postgres").run(tampering);
        outlast_the_window();
        all.extend(session.column::<i64>(MANY));
        assert_eq!(
            server.log().matches(SET_BACK).count(),
            times + 1,
            "{tampering}"
        );
        server.crash_with_the_clock_back();
        session = server.connect("postgres");
        all.extend(session.column::<i64>(MANY));
        server.set_clock("+0");
    }
    assert_unique([&all]);
    assert_ascending(&all);
}

/// The higher value is the one that was there, not what the lane needs that happens to raise it: others may be ahead.
#[test]
fn a_rewritten_sequence_still_covers_lanes_that_are_ahead() {
    let Some(server) = Server::start_with_clock("rewritten") else {
        return;
    };
    let mut session = server.connect("postgres");
    let mut all: Vec<i64> = session.column(FAR);
    session.run("ALTER SEQUENCE pg_mint_time_ceiling RESTART WITH 5");
    session.run(NEXT);
    assert_eq!(server.log().matches(SET_BACK).count(), 1);
    server.crash_with_the_clock_back();
    let mut session = server.connect("postgres");
    all.extend(server.until_minted(|| session.try_column::<i64>(FAR)));
    assert_ascending(&all);
}

/// Made anew, a ceiling begins above the old one, also when no id is minted before the crash.
#[test]
fn an_extension_made_anew_remembers() {
    let Some(server) = Server::start_with_clock("remembers") else {
        return;
    };
    let mut session = server.connect("postgres");
    let mut all: Vec<i64> = session.column(MANY);
    session.run("DROP EXTENSION pg_mint; CREATE EXTENSION pg_mint");
    server.crash_with_the_clock_back();
    all.extend(server.connect("postgres").column::<i64>(MANY));
    assert_ascending(&all);
}

/// Until it ends, a transaction that alters the sequence holds up whoever must raise the ceiling, as with `nextval`.
#[test]
fn an_open_alter_sequence_is_waited_for() {
    let server = Server::start("an open ALTER");
    let mut session = server.connect("postgres");
    let mut all: Vec<i64> = vec![session.one(NEXT)];
    for end in ["ROLLBACK", "COMMIT"] {
        let mut other = server.connect("postgres");
        other.run("BEGIN; ALTER SEQUENCE pg_mint_time_ceiling RESTART WITH 5");
        let refusal = other.refusal("SAVEPOINT here; SELECT snowflake_next_id(7)");
        assert_eq!(refusal.code, "55000", "{refusal}");
        other.run("ROLLBACK; BEGIN; ALTER SEQUENCE pg_mint_time_ceiling RESTART WITH 5");
        outlast_the_window();
        session.run("SET lock_timeout = '100ms'");
        assert_eq!(session.refusal(NEXT).code, "55P03");
        other.run(end);
        session.run("RESET lock_timeout");
        all.push(session.one(NEXT));
    }
    assert_eq!(server.log().matches(SET_BACK).count(), 1);
    assert_ascending(&all);
}

/// ALTER and DROP EXTENSION while others mint: they mint on, or are told that it is gone.
#[test]
fn the_extension_is_moved_and_made_anew_under_load() {
    let Some(server) = Server::build_with_clock("made anew") else {
        return;
    };
    let server = server.conf("pg_mint.ceiling_window = '100ms'").start();
    let mut all: Vec<i64> = Vec::new();
    for round in 0..count(5, 1) {
        let records = while_minting(&server, 3, NEXT, || {
            let mut session = server.connect("postgres");
            session.run(&format!("CREATE SCHEMA other{round}"));
            sleep(Duration::from_millis(200));
            session.run(&format!("ALTER EXTENSION pg_mint SET SCHEMA other{round}"));
            sleep(Duration::from_millis(200));
            session.run("ALTER EXTENSION pg_mint SET SCHEMA public");
            sleep(Duration::from_millis(200));
            session.run("DROP EXTENSION pg_mint");
            session.run("CREATE EXTENSION pg_mint");
            sleep(Duration::from_millis(200));
        });
        for refusal in records.iter().flat_map(|record| &record.refusals) {
            assert!(
                ["42883", "42704", "42P01", "55000"].contains(&refusal.code.as_str()),
                "{refusal}"
            );
        }
        let mut ids: Vec<i64> = records.into_iter().flat_map(|record| record.ids).collect();
        ids.sort_unstable();
        assert!(all.last() < ids.first(), "{:?} again", ids.first());
        all.extend(ids);
        server.crash_with_the_clock_back();
        all.push(server.connect("postgres").one(NEXT));
        server.set_clock("+0");
    }
    assert_unique([&all]);
    assert_ascending(&all);
}

/// A copy of a database goes on above what the original had issued, whatever the clock.
#[test]
fn a_copied_database_takes_its_ceiling_along() {
    let Some(server) = Server::start_with_clock("a template") else {
        return;
    };
    server.create_database("original");
    let mut all: Vec<i64> = server.connect("original").column(MANY);
    server
        .connect("postgres")
        .run("CREATE DATABASE copy TEMPLATE original");
    // One server: they share its lanes.
    for database in ["copy", "original", "copy"] {
        all.extend(server.connect(database).column::<i64>(MANY));
    }
    assert_ascending(&all);
    server.connect("postgres").run("DROP DATABASE original");
    server.crash_with_the_clock_back();
    all.extend(server.connect("copy").column::<i64>(MANY));
    // A database of the same name begins anew, and the server's lanes do not.
    server.create_database("original");
    all.extend(server.connect("original").column::<i64>(MANY));
    assert_unique([&all]);
    assert_ascending(&all);
}

/// A dump carries the ceiling: on a server whose clock is behind, what came with it is not issued again.
#[test]
fn a_restored_dump_repeats_nothing_of_its_origin() {
    let Some(server) = Server::start_with_clock("a dump") else {
        return;
    };
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE owner LOGIN");
    session.run("CREATE DATABASE shop OWNER owner");
    let mut owner = server.connect_as("owner", "shop");
    owner.run("CREATE EXTENSION pg_mint");
    owner.run("CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_next_id(7), n int)");
    owner.run("INSERT INTO item (n) SELECT generate_series(1, 1000)");
    let dump = server.dump("owner", "shop");

    // What follows is as on another server: its lanes are new, and its databases.
    drop(owner);
    session.run("DROP DATABASE shop");
    drop(session);
    server.crash_with_the_clock_back();
    server
        .connect("postgres")
        .run("CREATE DATABASE shop OWNER owner");
    server.restore("owner", "shop", &dump);
    let mut owner = server.connect_as("owner", "shop");
    let insert = "INSERT INTO item (n) SELECT generate_series(1001, 2000)";
    owner.run(insert);
    let all: Vec<i64> = owner.column("SELECT id FROM item ORDER BY n");
    assert_ascending(&all);

    // And an hour behind it is refused.
    drop(owner);
    server.cut_power();
    server.set_clock("-3600");
    server.start_again();
    let refusal = server.connect_as("owner", "shop").refusal(insert);
    assert_behind_ceiling(&refusal);
}

/// Data alone, put into a database that mints, sets its ceiling back, which is seen and mended.
#[test]
fn a_restore_of_data_alone_sets_it_back_for_a_moment() {
    let server = Server::start("data only");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE item (id bigint DEFAULT snowflake_next_id(7))");
    session.run("INSERT INTO item SELECT FROM generate_series(1, 10)");
    let dump = server.dump_data("postgres", "postgres");
    outlast_the_window();
    let before: i64 = session.one(NEXT);
    server.restore("postgres", "postgres", &dump);
    outlast_the_window();
    let after: i64 = session.one(NEXT);
    assert_ascending(&[before, after]);
    assert_eq!(server.log().matches(SET_BACK).count(), 1);
    assert_eq!(session.one::<i64>("SELECT count(*) FROM item"), 20);
}

/// The owner of a database may read and set it, which dump and restore need. Nobody else may.
#[test]
fn only_owners_touch_it() {
    let server = Server::build("owners").start_empty();
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE owner LOGIN; CREATE ROLE app LOGIN");
    session.run("CREATE DATABASE shop OWNER owner");
    let mut owner = server.connect_as("owner", "shop");
    owner.run("CREATE EXTENSION pg_mint");
    let mut app = server.connect_as("app", "shop");
    assert!(app.one::<i64>(NEXT) > 0);
    for sql in [
        "SELECT last_value FROM pg_mint_time_ceiling",
        "SELECT setval('pg_mint_time_ceiling', 1)",
        "SELECT nextval('pg_mint_time_ceiling')",
        "ALTER SEQUENCE pg_mint_time_ceiling RESTART",
        "DROP SEQUENCE pg_mint_time_ceiling",
        "SELECT * FROM pg_mint_ceilings",
        "SELECT pg_mint_reset_ceiling(now())",
    ] {
        assert_eq!(app.refusal(sql).code, "42501", "{sql}");
    }
    assert!(
        owner.one::<i64>("SELECT last_value FROM pg_mint_time_ceiling") > 1_600_000_000_000_000
    );
    assert_eq!(
        owner.refusal("SELECT pg_mint_reset_ceiling(now())").code,
        "42501"
    );
    assert_eq!(
        owner
            .refusal("ALTER SEQUENCE pg_mint_time_ceiling RESTART")
            .code,
        "42501"
    );
}

/// A clock was wrong, was confirmed by mistake, and has poisoned the ceiling. A superuser resets it.
#[test]
fn a_poisoned_ceiling_is_reset() {
    let Some(server) = Server::start_with_clock("poisoned") else {
        return;
    };
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE item (id bigint)");
    let good: i64 = session.one(NEXT);
    server.set_clock("+1y");
    assert_eq!(session.refusal(NEXT).code, "58000");
    session.run("SELECT pg_mint_accept_clock()");
    let _poisoned: i64 = session.one(NEXT);

    server.set_clock("+0");
    let reset = "SELECT pg_mint_reset_ceiling(now())";
    let refusal = session.refusal(NEXT);
    assert!(refusal.message.contains("behind the last id"), "{refusal}");
    let refusal = session.refusal(reset);
    assert_eq!(refusal.code, "55006", "{refusal}");
    assert!(refusal.detail.contains("node 7"), "{refusal}");

    // Neither a clean restart nor a crash makes it forget.
    server.restart();
    server.cut_power();
    server.start_again();
    let mut session = server.connect("postgres");
    let refusal = session.refusal(NEXT);
    assert_behind_ceiling(&refusal);
    assert!(refusal.hint.contains("pg_mint_reset_ceiling"), "{refusal}");
    assert_eq!(
        session
            .refusal("SELECT pg_mint_reset_ceiling('infinity')")
            .code,
        "22023"
    );

    session.run(reset);
    let again: i64 = session.one(NEXT);
    let soon: bool = session.one(&format!(
        "SELECT snowflake_time({again}) < clock_timestamp() + interval '10 s'"
    ));
    assert!(soon, "still in the future");
    assert_ascending(&[good, again]);
    server.cut_power();
    server.start_again();
    assert_ascending(&[again, server.connect("postgres").one(NEXT)]);
}

/// Each step of the clock that is seen is in the log, once.
#[test]
fn steps_of_the_clock_are_logged() {
    let Some(server) = Server::start_with_clock("steps in the log") else {
        return;
    };
    let mut session = server.connect("postgres");
    session.run(NEXT);
    for (clock, said) in [
        ("-600", "the clock stepped back by 600 s"),
        ("+0", "the clock stepped forward by 600 s"),
        ("+300", "the clock stepped forward by 300 s"),
    ] {
        server.set_clock(clock);
        server.until(said, || {
            // Refused or not: whoever waits, or raises the ceiling, looks.
            let _ = session.try_one::<i64>(NEXT);
            server.log().contains(said)
        });
        assert_eq!(server.log().matches(said).count(), 1, "{said}");
    }
}
