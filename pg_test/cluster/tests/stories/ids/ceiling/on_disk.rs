//! The ceiling on disk: its cost, the privileges on its sequence, and copies, dumps, drops and setval of it.

use super::assert_behind_ceiling;
use mint_cluster::load::sessions::while_minting;
use mint_cluster::{Server, Session, assert_ascending, assert_unique, count};
use std::thread::sleep;
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id(7)";
const MANY: &str = "SELECT snowflake_next_id(7) FROM generate_series(1, 1000)";
/// More ids than the layout has in a second.
const FAR: &str = "SELECT snowflake_next_ids(8, 40000, 'sonyflake')";
const SET_BACK: &str = "ceiling of this database was set back and has been raised again";

/// Sleeps for longer than a window of the ceiling.
fn outlast_the_window() {
    sleep(Duration::from_millis(800));
}

fn writes(session: &mut Session) -> i64 {
    session.one("SELECT writes FROM mint.ceilings WHERE database = current_database() ORDER BY value DESC LIMIT 1")
}

fn wal(session: &mut Session) -> i64 {
    session.one("SELECT (pg_current_wal_lsn() - '0/0')::bigint")
}

#[test]
fn the_ceiling_is_written_twice_a_second_while_minting_and_never_while_idle() {
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
    // A slow machine can have minted for longer than `span`, so the elapsed time is measured.
    let seconds = begun.elapsed().as_secs() as i64;
    assert!(
        (span.as_secs() as i64..=seconds * 4 + 2).contains(&written),
        "{written} writes in {seconds} s"
    );
    // Its WAL record has 133 bytes; the server writes other records as well.
    assert!(
        logged < 4_096 * (seconds + 2),
        "{logged} bytes in {seconds} s"
    );

    let idle = writes(&mut watch);
    sleep(Duration::from_secs(count(5, 1)));
    assert_eq!(writes(&mut watch), idle, "written while idle");
}

/// A disk takes longer to write than a ceiling lasts. Ids come all the same, and a call can be canceled.
#[test]
fn a_disk_slower_than_the_window_stops_nobody() {
    let server = Server::build("a slow disk")
        .conf("commit_delay = 100000")
        .conf("commit_siblings = 0")
        .conf("pg_mint.ceiling_window = '100ms'")
        .durable()
        .start();
    let mut session = server.connect("postgres");
    session.run("SET statement_timeout = '3s'");
    let ids: Vec<i64> = (0..5)
        .map(|_| {
            sleep(Duration::from_millis(400));
            session.one(NEXT)
        })
        .collect();
    assert_ascending(&ids);
    // The first write of a session does not know how slow it is, and is not enough.
    for _ in 0..3 {
        outlast_the_window();
        let mut session = server.connect("postgres");
        session.run("SET statement_timeout = '50ms'");
        let refusal = session.refused(NEXT, "57014");
        assert!(refusal.after < Duration::from_secs(2), "{refusal}");
    }
}

/// After the sequence is set back, the next raise writes the higher value again and logs that.
#[test]
fn a_sequence_set_back_is_raised_again() {
    let server = Server::start_with_clock("set back");
    let mut session = server.connect("postgres");
    let mut all: Vec<i64> = session.column(MANY);
    let tamperings = [
        "SELECT setval('mint.time_ceiling', 5, false)",
        "ALTER SEQUENCE mint.time_ceiling INCREMENT 2 RESTART WITH 5",
        "SELECT setval('mint.time_ceiling', 5)",
        "ALTER SEQUENCE mint.time_ceiling RESTART",
    ];
    for (times, tampering) in tamperings.iter().take(count(4, 2)).enumerate() {
        server.run(tampering);
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

/// The higher value is the previous ceiling, not the time of the lane that raises it: other lanes can be ahead.
#[test]
fn a_rewritten_sequence_still_covers_lanes_that_are_ahead() {
    let server = Server::start_with_clock("rewritten");
    let mut session = server.connect("postgres");
    let mut all: Vec<i64> = session.column(FAR);
    session.run("ALTER SEQUENCE mint.time_ceiling RESTART WITH 5");
    session.run(NEXT);
    assert_eq!(server.log().matches(SET_BACK).count(), 1);
    server.crash_with_the_clock_back();
    let mut session = server.connect("postgres");
    all.extend(server.until_minted(|| session.try_column::<i64>(FAR)));
    assert_ascending(&all);
}

/// An open transaction that alters the sequence blocks sessions that must raise the ceiling, as with `nextval`.
#[test]
fn sessions_wait_for_an_open_alter_sequence() {
    let server = Server::start("an open ALTER");
    let mut session = server.connect("postgres");
    let mut all: Vec<i64> = vec![session.one(NEXT)];
    for end in ["ROLLBACK", "COMMIT"] {
        let mut other = server.connect("postgres");
        other.run("BEGIN; ALTER SEQUENCE mint.time_ceiling RESTART WITH 5");
        other.refused("SAVEPOINT here; SELECT snowflake_next_id(7)", "55000");
        other.run("ROLLBACK; BEGIN; ALTER SEQUENCE mint.time_ceiling RESTART WITH 5");
        outlast_the_window();
        session.run("SET lock_timeout = '100ms'");
        session.refused(NEXT, "55P03");
        other.run(end);
        session.run("RESET lock_timeout");
        all.push(session.one(NEXT));
    }
    assert_eq!(server.log().matches(SET_BACK).count(), 1);
    assert_ascending(&all);
}

/// A dump carries the ceiling, so that a server whose clock is behind repeats no id of the dump.
#[test]
fn a_restored_dump_repeats_nothing_of_its_origin() {
    let server = Server::start_with_clock("a dump");
    let mut session = server.connect("postgres");
    let mut owner = server.owned_database("owner", "shop");
    owner.run("CREATE EXTENSION pg_mint");
    owner.run("CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_next_id(7), n int)");
    owner.run("INSERT INTO item (n) SELECT generate_series(1, 1000)");
    let dump = server.dump("owner", "shop");

    // Without its lanes and its database, the server is like another one.
    drop(owner);
    session.run("DROP DATABASE shop");
    drop(session);
    server.crash_with_the_clock_back();
    let mut owner = server.owned_database("owner", "shop");
    server.restore("owner", "shop", &dump);
    let insert = "INSERT INTO item (n) SELECT generate_series(1001, 2000)";
    owner.run(insert);
    let all: Vec<i64> = owner.column("SELECT id FROM item ORDER BY n");
    assert_ascending(&all);

    // With the clock an hour behind, minting is refused.
    drop(owner);
    server.cut_power();
    server.set_clock("-3600");
    server.start_again();
    let refusal = server.connect_as("owner", "shop").refusal(insert);
    assert_behind_ceiling(&refusal);
}

/// A data-only restore into a database that mints sets its ceiling back; the next raise corrects that.
#[test]
fn a_data_only_restore_sets_the_ceiling_back_until_the_next_raise() {
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

/// Only the owner of a database may read and set its ceiling, which dump and restore need.
#[test]
fn only_owners_access_the_ceiling() {
    let server = Server::build("owners").start_empty();
    server.run("CREATE ROLE app LOGIN");
    let mut owner = server.owned_database("owner", "shop");
    owner.run("CREATE EXTENSION pg_mint");
    let mut app = server.connect_as("app", "shop");
    assert!(app.one::<i64>(NEXT) > 0);
    for sql in [
        "SELECT last_value FROM mint.time_ceiling",
        "SELECT setval('mint.time_ceiling', 1)",
        "SELECT nextval('mint.time_ceiling')",
        "ALTER SEQUENCE mint.time_ceiling RESTART",
        "DROP SEQUENCE mint.time_ceiling",
        "SELECT * FROM mint.ceilings",
        "SELECT mint.reset_ceiling(now())",
    ] {
        app.refused(sql, "42501");
    }
    assert!(owner.one::<i64>("SELECT last_value FROM mint.time_ceiling") > 1_600_000_000_000_000);
    owner.refused("SELECT mint.reset_ceiling(now())", "42501");
    owner.refused("ALTER SEQUENCE mint.time_ceiling RESTART", "42501");
}

/// A wrong clock that was accepted by mistake raises the ceiling far ahead. A superuser resets it.
#[test]
fn a_poisoned_ceiling_is_reset() {
    let server = Server::start_with_clock("poisoned");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE item (id bigint)");
    let good: i64 = session.one(NEXT);
    server.set_clock("+1y");
    session.refused(NEXT, "58000");
    session.run("SELECT mint.accept_clock()");
    let _poisoned: i64 = session.one(NEXT);

    server.set_clock("+0");
    let reset = "SELECT mint.reset_ceiling(now())";
    let refusal = session.refusal(NEXT);
    refusal.assert_message("behind the last id");
    let refusal = session.refused(reset, "55006");
    refusal.assert_detail("shard 7");

    // The ceiling outlives a clean restart and a crash.
    server.restart();
    server.lose_power();
    let mut session = server.connect("postgres");
    let refusal = session.refusal(NEXT);
    assert_behind_ceiling(&refusal);
    refusal.assert_hint("mint.reset_ceiling");
    session.refused("SELECT mint.reset_ceiling('infinity')", "22023");

    session.run(reset);
    let again: i64 = session.one(NEXT);
    let soon: bool = session.one(&format!(
        "SELECT snowflake_time({again}) < clock_timestamp() + interval '10 s'"
    ));
    assert!(soon, "still in the future");
    assert_ascending(&[good, again]);
    server.lose_power();
    assert_ascending(&[again, server.one(NEXT)]);
}

/// Each step of the clock is logged once.
#[test]
fn steps_of_the_clock_are_logged() {
    let server = Server::start_with_clock("steps in the log");
    let mut session = server.connect("postgres");
    session.run(NEXT);
    for (clock, said) in [
        ("-600", "system clock stepped back by 600 s"),
        ("+0", "system clock stepped forward by 600 s"),
        ("+300", "system clock stepped forward by 300 s"),
    ] {
        server.set_clock(clock);
        server.until(said, || {
            // A call that waits or raises the ceiling checks the clock, even if it is refused.
            let _ = session.try_one::<i64>(NEXT);
            server.log().contains(said)
        });
        assert_eq!(server.log().matches(said).count(), 1, "{said}");
    }
}
