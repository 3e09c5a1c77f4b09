//! Throughput and latency while many sessions mint at once.

use crate::candidates::ROOMY;
use crate::chart::{self, Line};
use crate::report::{self, Report, Table, number};
use crate::stats::percentile;
use crate::{Scale, Server};
use postgres::NoTls;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const CLIENTS: [usize; 6] = [1, 2, 4, 8, 16, 32];

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    throughput(server, scale, report);
    latency(server, scale, report);
}

/// What the clients of one form call; `{}` is the client's number.
fn forms(server: &Server) -> Vec<(&'static str, String)> {
    let mut session = server.connect("postgres");
    let forms = [
        (
            "snowflake, one lane",
            format!("snowflake_next_id(1, {ROOMY})"),
        ),
        (
            "snowflake, a lane each",
            format!("snowflake_next_id({{}} & 15, {ROOMY})"),
        ),
        ("uuid_v7", "uuid_v7()".to_owned()),
        ("objectid", "objectid()".to_owned()),
        ("segment_next", "segment_next('bench_segment')".to_owned()),
        ("nextval", "nextval('bench_plain')".to_owned()),
        ("gen_random_uuid", "gen_random_uuid()".to_owned()),
    ];
    forms
        .into_iter()
        .filter(|(_, call)| {
            let call = call.replace("{}", "1");
            session
                .try_one::<i64>(&format!("SELECT count({call})"))
                .is_ok()
        })
        .collect()
}

fn throughput(server: &Server, scale: Scale, report: &mut Report) {
    const BATCH: u32 = 1_000;
    let span = Duration::from_millis(scale.pick(3_000, 400));
    let mut table = Table::new(
        "sessions",
        "Ids per second, all sessions together",
        "Each session asks for 1000 ids in a query, again and again. In millions.",
        &["generator", "1", "2", "4", "8", "16", "32"],
    );
    let mut lines = Vec::new();
    for (name, call) in forms(server) {
        report::progress(&format!("  {name}"));
        let points: Vec<(f64, f64)> = CLIENTS
            .iter()
            .map(|&clients| {
                let query = |client: usize| {
                    let call = call.replace("{}", &client.to_string());
                    format!("SELECT count({call}) FROM (SELECT generate_series(1, {BATCH}) OFFSET 0) AS s")
                };
                let taken = run(server, clients, span, query);
                let queries: usize = taken.iter().map(Vec::len).sum();
                let ids = queries as f64 * f64::from(BATCH);
                (clients as f64, ids / span.as_secs_f64() / 1e6)
            })
            .collect();
        let mut cells = vec![name.to_owned()];
        cells.extend(points.iter().map(|point| number(point.1)));
        table.row(&cells);
        lines.push(Line::new(name, points));
    }
    chart::lines(
        &report.place("sessions.svg"),
        "Ids per second",
        ("sessions", "million ids per second, all together"),
        &lines,
    );
    table.chart("sessions.svg");
    report.add(table);
}

fn latency(server: &Server, scale: Scale, report: &mut Report) {
    let span = Duration::from_millis(scale.pick(4_000, 600));
    let mut table = Table::new(
        "latency",
        "Latency of an INSERT",
        "Microseconds from the client's call to the answer, for `INSERT INTO t DEFAULT VALUES` with the id as the \
         only column, its primary key, and `synchronous_commit = off`.",
        &["default", "sessions", "p50", "p99", "p99.9", "max"],
    );
    for (name, call) in forms(server) {
        for clients in [1, 8, 32] {
            let column = if name.contains("uuid") {
                "uuid"
            } else if name == "objectid" {
                "objectid"
            } else {
                "bigint"
            };
            let mut session = server.connect("postgres");
            session.run(&format!(
                "DROP TABLE IF EXISTS bench_latency;
                 CREATE UNLOGGED TABLE bench_latency (id {column} PRIMARY KEY DEFAULT {})",
                call.replace("{}", "1")
            ));
            let taken: Vec<f64> = run(server, clients, span, |_| {
                "INSERT INTO bench_latency DEFAULT VALUES".to_owned()
            })
            .into_iter()
            .flatten()
            .map(|each| each.as_nanos() as f64 / 1e3)
            .collect();
            let share = |share| number(percentile(&taken, share));
            table.row(&[
                name.to_owned(),
                clients.to_string(),
                share(50.0),
                share(99.0),
                share(99.9),
                share(100.0),
            ]);
        }
    }
    report.add(table);
}

/// How long each query of each client took.
fn run(
    server: &Server,
    clients: usize,
    span: Duration,
    query: impl Fn(usize) -> String + Sync,
) -> Vec<Vec<Duration>> {
    let start = Barrier::new(clients + 1);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..clients)
            .map(|client| {
                let (start, stop, query) = (&start, &stop, &query);
                scope.spawn(move || {
                    let mut session = server
                        .config("postgres", "postgres")
                        .connect(NoTls)
                        .expect("a session");
                    let statement = session.prepare(&query(client)).expect("a statement");
                    let mut taken = Vec::with_capacity(1 << 16);
                    session.execute(&statement, &[]).expect("an answer");
                    start.wait();
                    while !stop.load(Ordering::Relaxed) {
                        let began = Instant::now();
                        session.execute(&statement, &[]).expect("an answer");
                        taken.push(began.elapsed());
                    }
                    taken
                })
            })
            .collect();
        start.wait();
        std::thread::sleep(span);
        stop.store(true, Ordering::Relaxed);
        running
            .into_iter()
            .map(|client| client.join().expect("a client"))
            .collect()
    })
}
