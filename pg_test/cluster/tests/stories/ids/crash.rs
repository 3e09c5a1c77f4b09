//! The server dies, in every way, and the clock may be wrong when it is back. No id is issued twice, also of those
//! that a client was given and never committed.

use mint_cluster::load::ledger::LANES;
use mint_cluster::load::sessions::while_asking;
use mint_cluster::torture::{Clock, Fault, Torture};
use mint_cluster::{Ledger, Server, Session, assert_ascending, assert_unique, count, say};
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id(7)";

/// The log writer does not come by: what is on disk was flushed by whoever needed it.
const LAZY: &str = "wal_writer_delay = 10s";

/// Faults of all kinds, one after another, under load.
fn go_through(name: &str, conf: &[&str], faults: &[(Fault, Clock)], times: usize) {
    if times == 0 {
        return;
    }
    let Some(mut torture) = Torture::begin(name, conf) else {
        return;
    };
    for _ in 0..times {
        for &(fault, clock) in faults {
            torture.survive(fault, clock);
        }
    }
    say(format!("{name}:\n{}", torture.end()));
}

#[test]
fn no_kill_repeats_an_id() {
    let faults = [
        (Fault::KillSession, Clock::SecondBack),
        (Fault::StopImmediate, Clock::HourBack),
        (Fault::KillPostmaster, Clock::SecondBack),
        (Fault::PowerCut, Clock::ForwardThenBack),
        (Fault::StopFast, Clock::DayBack),
    ];
    let conf = [
        "synchronous_commit = off",
        "pg_mint.ceiling_window = '100ms'",
    ];
    go_through("kills", &conf[..1], &faults, 1);
    go_through("kills, a small window", &conf[1..], &faults, count(5, 0));
}

#[test]
fn no_step_of_the_clock_under_load_repeats_an_id() {
    let steps = Clock::ALL.map(|clock| (Fault::None, clock));
    go_through("steps", &[], &steps, count(3, 1));
}

/// What is seen is on disk: the very first id of a start, in a transaction that writes nothing and never commits.
#[test]
fn an_id_is_on_disk_before_it_is_seen() {
    let server = Server::build("the first id")
        .conf(LAZY)
        .conf("synchronous_commit = off")
        .durable()
        .start();
    let deaths: [fn(&Server, &Session); 3] = [
        |server, _| server.stop_immediate(),
        |server, _| server.kill9_postmaster(),
        |server, session| {
            server.kill9(session.pid);
            server.stop_immediate();
        },
    ];
    // The extension is there for good; its ids are what this is about.
    server.connect("postgres").run("CHECKPOINT");
    let mut ledger = Ledger::default();
    for _ in 0..count(5, 1) {
        for death in deaths {
            let mut session = server.connect("postgres");
            session.run("BEGIN READ ONLY");
            for (number, lane) in LANES.iter().enumerate() {
                ledger.enter_one(number, session.one(&lane.one()));
            }
            death(&server, &session);
            server.start_again();
            ledger.assert_was_on_disk(&server);
        }
    }
}

/// `nextval` promises less: a value that was seen and not committed may come again. Here for comparison.
#[test]
fn plain_nextval_repeats_what_was_not_committed() {
    let server = Server::build("nextval").conf(LAZY).durable().start();
    server.connect("postgres").run("CREATE SEQUENCE plain");
    // The log writer may come by just then, once.
    let repeated = (0..5).any(|_| {
        let mut session = server.connect("postgres");
        session.run("BEGIN");
        let minted: i64 = session.one(NEXT);
        let seen: i64 = session.one("SELECT nextval('plain')");
        server.kill9(session.pid);
        let mut session = server.connect("postgres");
        let again: i64 = session.one("SELECT nextval('plain')");
        assert_ascending(&[minted, session.one(NEXT)]);
        again == seen
    });
    assert!(repeated, "nextval was not seen to repeat a value");
}

/// The disk hangs, then the machine goes down. Sessions mint up to the ceiling that is on disk, and not past it,
/// however many wait to raise it.
#[test]
fn nothing_past_the_ceiling_is_issued_before_it_is_on_disk() {
    let server = Server::build("a disk that hangs")
        .conf("max_wal_size = '64MB'")
        .durable()
        .start();
    let mut ledger = Ledger::default();
    // The writer that is frozen may by chance hold a lock that keeps the others from minting at all.
    let reached = (0..5).any(|_| {
        let mut records = while_asking(&server.place(), &Ledger::statements(), || {
            server.until("the server mints", || {
                server.connect("postgres").try_one::<i64>(NEXT).is_ok()
            });
            std::thread::sleep(Duration::from_millis(300));
            server.while_wal_hangs(|| {
                std::thread::sleep(Duration::from_millis(1_500));
                server.cut_power();
            });
        });
        ledger.enter(&mut records);
        server.start_again();
        ledger.assert_was_on_disk(&server);
        let below = ledger.below_floor(&server);
        say(format!(
            "the last id before a disk hung: {below} s below the ceiling"
        ));
        below < 0.05
    });
    assert!(reached, "the sessions never came to the ceiling");
}

/// Who starts again need not wait: the ceiling is nearer than ids may run ahead.
#[test]
fn minting_goes_on_as_soon_as_the_server_does() {
    let server = Server::build("back again").alone().durable().start();
    let mut all: Vec<i64> = Vec::new();
    let mut waits = Vec::new();
    for _ in 0..count(9, 3) {
        let records = while_asking(&server.place(), &[NEXT, NEXT, NEXT], || {
            std::thread::sleep(Duration::from_millis(500));
            server.kill9_any();
            let begun = Instant::now();
            server.until_minted(|| server.place().try_connect()?.try_one::<i64>(NEXT));
            waits.push(begun.elapsed());
        });
        all.extend(records.into_iter().flat_map(|record| record.ids));
    }
    waits.sort_unstable();
    let typical = waits[waits.len() / 2];
    say(format!(
        "from the server's return to the first id: {waits:?}"
    ));
    assert!(typical < Duration::from_millis(500), "{waits:?}");
    assert_unique([&all]);
}
