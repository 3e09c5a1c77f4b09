//! The ceiling of the server, in a file: what databases with one shard have of each other after a restart.

use super::assert_behind_ceiling;
use mint_cluster::{Server, assert_unique, count};
use std::fs;
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id(8, 'sonyflake')";
/// More ids than the layout has in a second.
const FAR: &str = "SELECT snowflake_next_ids(8, 40000, 'sonyflake')";
const FILE: &str = "pg_mint.ceiling";
const DAY: i64 = 86_400;

/// The databases of a server.
const DATABASES: [&str; 3] = ["postgres", "other", "third"];

fn with_databases(name: &str) -> Server {
    let server = Server::build_with_clock(name).durable().start();
    DATABASES[1..]
        .iter()
        .for_each(|name| server.create_database(name));
    server
}

/// Returns by how many seconds the time in the file is ahead of a server's clock.
fn seconds_ahead(server: &Server) -> i64 {
    let text = fs::read_to_string(server.file(FILE)).expect("the file can be read");
    let (_, time) = text.split_once(": ").expect("the file has a time");
    server.one(&format!(
        "SELECT {} / 1000000 - extract(epoch FROM clock_timestamp())::bigint",
        time.trim().trim_start_matches('0')
    ))
}

/// Each database generates ids ahead of the clock, and the next one begins as soon as the server is up again, by a clock that was
/// set back a second.
#[test]
fn databases_with_one_shard_repeat_nothing() {
    let server = with_databases("databases with one shard");
    let deaths: [fn(&Server); 4] = [
        Server::stop_fast,
        Server::stop_immediate,
        Server::kill9_postmaster,
        Server::cut_power,
    ];
    let mut ids: Vec<i64> = Vec::new();
    for round in 0..count(5, 1) {
        for (number, death) in deaths.iter().enumerate() {
            let database = DATABASES[(number + round) % DATABASES.len()];
            ids.extend(server.connect(database).column::<i64>(FAR));
            death(&server);
            server.set_clock(&format!("-{}", number + 1));
            server.start_again();
        }
        server.set_clock("+0");
    }
    ids.extend(server.connect("other").column::<i64>(FAR));
    assert_unique([&ids]);
}

/// The clock is set back while the server is down: what one database has issued, no other one issues again.
#[test]
fn no_database_repeats_ids_of_a_clock_that_is_set_back() {
    let server = with_databases("one shard and a clock set back");
    let mut ids: Vec<i64> = vec![server.one(NEXT)];
    server.stop_fast();
    server.set_clock("-3600");
    server.start_again();
    for name in DATABASES {
        assert_behind_ceiling(&server.connect(name).refusal(NEXT));
    }
    // Also one that was made since.
    server.create_database("new");
    assert_behind_ceiling(&server.connect("new").refusal(NEXT));
    server.set_clock("+0");
    for name in DATABASES.into_iter().chain(["new"]) {
        ids.push(server.connect(name).one(NEXT));
    }
    assert_unique([&ids]);
}

/// An extension that is made again has no ceiling of its own, and the server has one.
#[test]
fn an_extension_that_is_made_again_after_a_restart_repeats_nothing() {
    let server = with_databases("made again after a restart");
    let mut session = server.connect("other");
    let mut ids: Vec<i64> = session.column(FAR);
    session.run("DROP EXTENSION pg_mint");
    server.crash();
    let mut session = server.connect("other");
    session.run("BEGIN; CREATE EXTENSION IF NOT EXISTS pg_mint");
    ids.extend(session.column::<i64>(FAR));
    // The transaction is lost, and with it the page.
    server.crash();
    let mut session = server.connect("other");
    session.run("CREATE EXTENSION pg_mint");
    ids.extend(session.column::<i64>(FAR));
    assert_unique([&ids]);
}

/// One database generates ids with a clock that is a day ahead. A reset in any database is one for the server.
#[test]
fn a_reset_lowers_the_ceiling_of_the_server() {
    let server = with_databases("a reset for the server");
    server.stop_fast();
    server.set_clock("+1d");
    server.start_again();
    let _: i64 = server.one(NEXT);
    server.stop_fast();
    server.set_clock("+0");
    server.start_again();
    // Also before the first call.
    let health = "SELECT status FROM mint.health() WHERE check_name = 'clock'";
    let mut third = server.connect("third");
    for _ in 0..2 {
        assert_eq!(third.one::<String>(health), "critical");
        let refusal = third.refusal(NEXT);
        assert_behind_ceiling(&refusal);
        let words = "the ceiling of this server (file \"pg_mint.ceiling\")";
        refusal.assert_message(words);
    }
    assert!(seconds_ahead(&server) > DAY - 600);

    server
        .connect("other")
        .run("SELECT mint.reset_ceiling(now())");
    for _ in 0..2 {
        for name in ["third", "other"] {
            let _: i64 = server.connect(name).one(NEXT);
        }
        let _: i64 = third.one(NEXT);
        assert!(seconds_ahead(&server) < 10, "{}", seconds_ahead(&server));
        // Its own ids are a day ahead.
        let refusal = server.refusal(NEXT);
        assert_behind_ceiling(&refusal);
        let words = "the ceiling of this database";
        refusal.assert_message(words);
        server.restart();
        third = server.connect("third");
    }
    let mut session = server.connect("postgres");
    session.run("SELECT mint.reset_ceiling(now())");
    let _: i64 = session.one(NEXT);
}

/// Sessions of another database have bounds of a longer window than that of the reset. No database repeats what they issue.
#[test]
fn a_reset_covers_what_other_databases_can_still_issue() {
    let server = with_databases("bounds of a longer window");
    let mut session = server.connect("postgres");
    session.set_for_server("pg_mint.ceiling_window", "'10s'");
    let mut other = server.connect("other");
    let mut ids: Vec<i64> = vec![other.one(NEXT)];
    session.set_for_server("pg_mint.ceiling_window", "'100ms'");
    session.run("SELECT mint.reset_ceiling(now())");
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(4) {
        ids.push(other.one(NEXT));
    }
    server.stop_immediate();
    server.set_clock("-8");
    server.start_again();
    if let Ok(more) = server.connect("postgres").try_column::<i64>(FAR) {
        ids.extend(more);
    }
    assert_unique([&ids]);
}

/// A ceiling that somebody sets far ahead keeps no other database from generating ids.
#[test]
fn a_ceiling_that_is_set_far_ahead_is_that_of_one_database() {
    let server = with_databases("a ceiling set far ahead");
    let _: i64 = server.one(NEXT);
    for far in ["last_value + 86400000000", "9223372036854775807"] {
        server.run(&format!(
            "SELECT setval('mint.time_ceiling', {far}) FROM mint.time_ceiling"
        ));
        server.until("the ceiling is seen", || {
            server.connect("postgres").try_one::<i64>(NEXT).is_err()
        });
        server.restart();
        server
            .refused(NEXT, "58000")
            .assert_hint("mint.reset_ceiling");
        assert!(seconds_ahead(&server) < 10, "{}", seconds_ahead(&server));
        let _: i64 = server.connect("other").one(NEXT);
        server.run("SELECT mint.reset_ceiling(now())");
        let _: i64 = server.one(NEXT);
    }
}

/// Bytes that somebody has added to the file while the server runs are cut off, or the next start could not read it.
#[test]
fn a_file_that_is_too_long_is_cut() {
    let server = with_databases("a file that is too long");
    let mut session = server.connect("postgres");
    let _: i64 = session.one(NEXT);
    let path = server.file(FILE);
    let whole = fs::read(&path).expect("the file can be read").len();
    fs::write(&path, [b'x'; 100]).expect("the file can be written");
    server.until("the file has its length", || {
        let _: i64 = session.one(NEXT);
        fs::read(&path).expect("the file can be read").len() == whole
    });
    server.restart();
    let _: i64 = server.one(NEXT);
}
