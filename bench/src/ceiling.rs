//! Cost of the durable ceiling: throughput, WAL, and time after a crash.

use crate::candidates::{Candidate, QUICK_START, ROOMY};
use crate::per_call;
use crate::report::{self, Report, Table, number};
use crate::scale::Scale;
use mint_cluster::{Server, Session};
use std::time::{Duration, Instant};

/// The default of pg_mint.ceiling_window.
const WINDOW: &str = "500ms";

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    let mut session = server.connect("postgres");
    let mut table = Table::new(
        "ceiling",
        "What the ceiling costs",
        "One session generates ids without a pause. The ceiling, a timestamp on disk that all ids are below, cannot \
         be switched off, because ids would repeat after a crash. `uuid_v7` has no ceiling, so its row shows what is \
         written without one. A call only compares the id with a bound in memory. With a longer window, the ceiling \
         is written less often, and the wait [after a crash](#time-to-the-first-id-after-a-crash) is longer.",
        &[
            "generator", "window", "ns per id", "lower quartile", "upper quartile", "writes",
            "WAL bytes a second",
        ],
    );
    // Writes what other sections have left, so that it is not counted.
    session.run("CHECKPOINT");
    let snowflake = Candidate::ours(
        "snowflake_next_id",
        &format!("snowflake_next_id(3, {ROOMY})"),
    );
    let uuid = Candidate::ours("uuid_v7", "uuid_v7()");
    for (candidate, window) in [
        (&uuid, "none"),
        (&snowflake, "100ms"),
        (&snowflake, WINDOW),
        (&snowflake, "10s"),
    ] {
        report::progress(&format!("  window {window}"));
        if window != "none" {
            session.set_for_server("pg_mint.ceiling_window", &format!("'{window}'"));
        }
        table.row(&row(&mut session, candidate, window, scale));
    }
    report.add(table);
    settle(server, &mut session);
    crash(server, scale, report);
}

/// Measures one candidate under one window.
fn row(session: &mut Session, candidate: &Candidate, window: &str, scale: Scale) -> [String; 7] {
    let span = Duration::from_secs(scale.pick(20, 2));
    let rounds = scale.pick(11, 5);
    let cost = per_call::net(
        session,
        std::slice::from_ref(candidate),
        scale.pick(1_000_000, 200_000),
        rounds,
    )[0];
    let written = "SELECT (pg_current_wal_insert_lsn() - '0/0')::float8";
    let writes = "SELECT coalesce(sum(writes), 0)::bigint FROM mint.ceilings";
    // First, as it scans catalogs and can prune their pages, which writes WAL.
    let moved: i64 = session.one(writes);
    let before: f64 = session.one(written);
    let began = Instant::now();
    while began.elapsed() < span {
        session.run(&format!(
            "SELECT count({}) FROM (SELECT generate_series(1, 200000) OFFSET 0) AS s",
            candidate.expression()
        ));
    }
    let seconds = began.elapsed().as_secs_f64();
    let bytes = session.one::<f64>(written) - before;
    [
        candidate.name.to_owned(),
        window.to_owned(),
        cost.shown(),
        number(cost.quartiles.0),
        number(cost.quartiles.1),
        (session.one::<i64>(writes) - moved).to_string(),
        number(bytes / seconds),
    ]
}

/// Restores the default window, with no ceiling ahead of the clock.
fn settle(server: &Server, session: &mut Session) {
    session.set_for_server("pg_mint.ceiling_window", &format!("'{WINDOW}'"));
    server.until("the clock has passed the ceiling", || {
        session.one("SELECT bool_and(value < clock_timestamp()) FROM mint.ceilings")
    });
}

/// Measures the time from `kill -9` of a session under load to the first answer, and to the first id.
fn crash(server: &Server, scale: Scale, report: &mut Report) {
    let mut table = Table::new(
        "crash",
        "Time to the first id after a crash",
        "While a session generates ids, another one is killed by `kill -9`. Milliseconds until the server answers \
         again, and until a new session has its first id. Ids continue above the ceiling, but at most `max_ahead` (2 \
         s) ahead of the clock: with the default window of 500 ms immediately, with one of 10 s after a wait for the \
         clock.",
        &["window", "round", "first answer", "first id"],
    );
    for (window, rounds) in [(WINDOW, scale.pick(9, 2)), ("10s", scale.pick(3, 1))] {
        report::progress(&format!("  crash, window {window}"));
        let mut session = server.connect("postgres");
        session.set_for_server("pg_mint.ceiling_window", &format!("'{window}'"));
        drop(session);
        for round in 1..=rounds {
            let [answered, minted] = first_id(server);
            table.row(&[
                window.to_owned(),
                round.to_string(),
                number(answered.as_secs_f64() * 1e3),
                number(minted.as_secs_f64() * 1e3),
            ]);
        }
    }
    report.add(table);
}

fn first_id(server: &Server) -> [Duration; 2] {
    let next = format!("SELECT {QUICK_START}");
    let victim = server.connect("postgres");
    let mut killed = Instant::now();
    std::thread::scope(|scope| {
        let mut minting = server.connect("postgres");
        let next = &next;
        scope.spawn(move || while minting.try_one::<i64>(next).is_ok() {});
        std::thread::sleep(Duration::from_millis(1_000));
        killed = Instant::now();
        server.kill9(victim.pid);
    });
    let mut session = server.connect("postgres");
    let answered = killed.elapsed();
    session.one::<i64>(&next);
    [answered, killed.elapsed()]
}
