//! Crashes of every kind, with correct and wrong clocks afterwards. No id is issued twice, committed or not.

use mint_cluster::load::ledger::LANES;
use mint_cluster::load::sessions::while_asking;
use mint_cluster::torture::{Clock, Fault, Torture};
use mint_cluster::{Ledger, Server, Session, assert_unique, count};
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id(7)";

/// Keeps the WAL writer idle, so that only sessions flush.
const LAZY: &str = "wal_writer_delay = 10s";

/// Inflicts faults one after another under load.
fn go_through(name: &str, conf: &[&str], faults: &[(Fault, Clock)], times: usize) {
    if times == 0 {
        return;
    }
    let mut torture = Torture::begin(name, conf);
    for _ in 0..times {
        for &(fault, clock) in faults {
            torture.survive(fault, clock);
        }
    }
}

#[test]
fn no_kill_repeats_an_id() {
    let faults = [
        (Fault::KillSession, Clock::SecondBack),
        (Fault::StopImmediate, Clock::HourBack),
        (Fault::KillPostmaster, Clock::SecondBack),
        (Fault::PowerCut, Clock::ForwardThenBack),
        (Fault::StopFast, Clock::DayBack),
        (Fault::Recreation, Clock::SecondBack),
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
    let steps: Vec<_> = Clock::ALL
        .iter()
        .map(|&clock| (Fault::None, clock))
        .collect();
    go_through("steps", &[], &steps, count(3, 1));
}

/// The first id of a start is below the ceiling on disk, even in a transaction that writes nothing and never commits.
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
    // Makes the extension durable; the story is about its ids.
    server.run("CHECKPOINT");
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

/// The disk hangs, then the machine fails. Sessions mint up to the ceiling on disk and not past it, however many wait
/// to raise it.
#[test]
fn nothing_past_the_ceiling_is_issued_before_it_is_on_disk() {
    let server = Server::build("a disk that hangs")
        .conf("max_wal_size = '64MB'")
        .durable()
        .start();
    let mut ledger = Ledger::default();
    // The frozen writer can hold a lock that keeps the others from minting at all.
    let reached = (0..12).any(|_| {
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
        below < 0.05
    });
    assert!(reached, "the sessions never came to the ceiling");
}

/// Minting does not need to wait after a restart: the ceiling is less far ahead than ids can be.
#[test]
fn minting_continues_as_soon_as_the_server_is_back() {
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
    assert!(typical < Duration::from_millis(500), "{waits:?}");
    assert_unique([&all]);
}
