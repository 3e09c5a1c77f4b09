//! What the durable ceiling costs: throughput, WAL, and time after a crash.

use crate::candidates::{Candidate, ROOMY};
use crate::per_call;
use crate::report::{self, Report, Table, number};
use crate::{Scale, Server};
use std::time::{Duration, Instant};

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    let mut session = server.connect("postgres");
    let span = Duration::from_secs(scale.pick(60, 4));
    let mut table = Table::new(
        "ceiling",
        "What the ceiling costs",
        "One session mints without a pause. A uuid_v7 comes from a lane that has no ceiling, and shows what the machine \
         writes without one. The ceiling cannot be switched off; with a window of 10 s it hardly moves.",
        &["window", "ns per id", "writes", "WAL bytes a second"],
    );
    for window in ["100ms", "500ms", "10s"] {
        report::progress(&format!("  window {window}"));
        session.set_for_server("pg_mint.ceiling_window", &format!("'{window}'"));
        let mut candidates = vec![Candidate {
            name: "lane",
            call: format!("snowflake_next_id(3, {ROOMY})"),
            ours: true,
        }];
        let costs = per_call::net(&mut session, &mut candidates, 1_000_000, scale.pick(9, 3));
        let written = "SELECT (pg_current_wal_insert_lsn() - '0/0')::float8";
        let writes = "SELECT sum(writes)::bigint FROM pg_mint_ceilings";
        session.run("CHECKPOINT");
        std::thread::sleep(Duration::from_millis(500));
        let before: f64 = session.one(written);
        let moved: i64 = session.one(writes);
        let began = Instant::now();
        while began.elapsed() < span {
            session.run(&format!("SELECT count(snowflake_next_id(3, {ROOMY})) FROM (SELECT generate_series(1, 200000) OFFSET 0) AS s"));
        }
        let seconds = began.elapsed().as_secs_f64();
        let bytes = session.one::<f64>(written) - before;
        table.row(&[
            window.to_owned(),
            number(costs[0].1.median),
            (session.one::<i64>(writes) - moved).to_string(),
            number(bytes / seconds),
        ]);
    }
    session.run("ALTER SYSTEM RESET pg_mint.ceiling_window");
    session.run("SELECT pg_reload_conf()");
    report.add(table);
    crash(server, scale, report);
}

/// From `kill -9` of a session under load to the first answer, and to the first id.
fn crash(server: &Server, scale: Scale, report: &mut Report) {
    let mut table = Table::new(
        "crash",
        "Time to the first id after a crash",
        "Milliseconds from `kill -9` of a session, with others minting, until the server answers, and until it has \
         minted, in a session that connects for it.",
        &["round", "first answer", "first id"],
    );
    for round in 0..scale.pick(5, 1) {
        let next = format!("SELECT snowflake_next_id(4, {ROOMY})");
        let victim = server.connect("postgres");
        let mut killed = Instant::now();
        std::thread::scope(|scope| {
            let mut minting = server.connect("postgres");
            scope.spawn(move || while minting.try_one::<i64>(&next).is_ok() {});
            std::thread::sleep(Duration::from_millis(300));
            killed = Instant::now();
            server.kill9(victim.pid);
        });
        let answered = killed.elapsed();
        let mut session = server.connect("postgres");
        session.one::<i64>(&format!("SELECT snowflake_next_id(4, {ROOMY})"));
        let minted = killed.elapsed();
        table.row(&[
            (round + 1).to_string(),
            number(answered.as_secs_f64() * 1e3),
            number(minted.as_secs_f64() * 1e3),
        ]);
    }
    report.add(table);
}
