//! Throughput and latency while many sessions mint at once.

use crate::candidates::{APART, Candidate, QUICK_START, ROOMY};
use crate::chart::{self, Line};
use crate::report::{self, Report, Table, number};
use crate::scale::Scale;
use crate::stats::{Spread, percentile};
use mint_cluster::Server;
use postgres::NoTls;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, OnceLock};
use std::time::{Duration, Instant};

pub const CLIENTS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    throughput(server, scale, report);
    latency(server, scale, report);
}

/// Returns the calls of sessions, each with the type of its ids.
fn forms(server: &Server) -> Vec<(Candidate, &'static str)> {
    let mut session = server.connect("postgres");
    let ours = Candidate::ours;
    let theirs = Candidate::theirs;
    let forms = [
        (ours(QUICK_START, QUICK_START), "bigint"),
        (
            ours(
                "snowflake, one lane",
                &format!("snowflake_next_id(1, {ROOMY})"),
            ),
            "bigint",
        ),
        (ours("snowflake, a lane each", APART), "bigint"),
        (ours("uuid_v7", "uuid_v7()"), "uuid"),
        (ours("objectid", "objectid()"), "objectid"),
        (
            ours("segment_next", "segment_next('bench_segment')"),
            "bigint",
        ),
        (theirs("nextval", "nextval('bench_plain')"), "bigint"),
        (
            theirs("nextval, CACHE 1000", "nextval('bench_cached')"),
            "bigint",
        ),
        (theirs("gen_random_uuid", "gen_random_uuid()"), "uuid"),
    ];
    forms
        .into_iter()
        .filter(|(form, _)| form.try_out(&mut session).is_ok())
        .collect()
}

/// Returns the columns of a table: a first one, and one for each number of sessions.
pub fn columns(first: &str) -> Vec<String> {
    std::iter::once(first.to_owned())
        .chain(CLIENTS.iter().map(usize::to_string))
        .collect()
}

/// The row of clients that ask for their ids one by one.
pub const ONE_IN_A_QUERY: &str = "snowflake_next_id(5), one in a query";

/// Ids of a query of [`throughput`].
pub const BATCH: u32 = 5_000;

/// Measures million ids per second of each form, by number of sessions.
fn rates(
    server: &Server,
    forms: &[(Candidate, &str)],
    span: Duration,
    rounds: u32,
) -> Vec<[Spread; CLIENTS.len()]> {
    let mut rates = vec![[const { Vec::new() }; CLIENTS.len()]; forms.len()];
    let mut session = server.connect("postgres");
    for round in 0..rounds {
        report::progress(&format!("  round {} of {rounds}", round + 1));
        // The ids that a shard of the default layout can issue ahead of the clock, before what it has in each second.
        session.one::<i64>(&format!(
            "SELECT count({QUICK_START}) FROM generate_series(1, 3000000)"
        ));
        for ((form, _), rates) in forms.iter().zip(&mut rates) {
            for (&clients, rates) in CLIENTS.iter().zip(rates) {
                rates.push(million_per_second(server, clients, span, form));
            }
        }
    }
    rates
        .iter()
        .map(|rates| rates.each_ref().map(|rates| Spread::of(rates)))
        .collect()
}

/// Returns the million ids per second of so many sessions together.
pub fn million_per_second(
    server: &Server,
    clients: usize,
    span: Duration,
    form: &Candidate,
) -> f64 {
    let query = format!(
        "SELECT count({}) FROM (SELECT generate_series(1, {BATCH}) OFFSET 0) AS s",
        form.expression()
    );
    let clients = run(server, clients, span, &query);
    clients.iter().map(Client::queries_per_second).sum::<f64>() * f64::from(BATCH) / 1e6
}

fn throughput(server: &Server, scale: Scale, report: &mut Report) {
    let rounds = scale.pick(5, 3);
    let forms = forms(server);
    let span = Duration::from_millis(scale.pick(1_000, 200));
    let spreads = rates(server, &forms, span, rounds);
    let widest = spreads
        .iter()
        .flatten()
        .map(|rate| rate.noise() / rate.median * 100.0)
        .fold(0.0, f64::max);
    let columns = columns("generator");
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new(
        "sessions",
        "Ids per second, all sessions together",
        &format!(
            "In millions, by number of sessions, on a machine with {} cores. `{QUICK_START}` is one shard of the default layout, \
             which has 1.02 million a second however many sessions use it, once the ids of the 2 s ahead of the clock are used \
             up, and a little more with many sessions, as no id is used while they connect; in the other rows, the layout has room. Each session asks for {BATCH} ids in a query, again and again, and in the last row for one; a single one leaves its core idle between \
             queries, so that two have more than twice as many. Median of \
             {rounds} rounds; half the distance between their quartiles is at most {widest:.0} % of it.",
            std::thread::available_parallelism().map_or(0, usize::from)
        ),
        &columns,
    );
    let mut lines = Vec::new();
    for ((form, _), rates) in forms.iter().zip(&spreads) {
        let mut cells = vec![form.name.to_owned()];
        cells.extend(rates.iter().map(|rate| number(rate.median)));
        table.row(&cells);
        let points = CLIENTS.iter().zip(rates);
        lines.push(Line::new(
            form.name,
            points
                .map(|(&clients, rate)| (clients as f64, rate.median))
                .collect(),
        ));
    }
    // A client that asks for its ids one by one pays for each round trip.
    let mut cells = vec![ONE_IN_A_QUERY.to_owned()];
    cells.extend(CLIENTS.iter().map(|&clients| {
        let clients = run(server, clients, span, &format!("SELECT {QUICK_START}"));
        let rate = clients.iter().map(Client::queries_per_second).sum::<f64>();
        format!("{:.3}", rate / 1e6)
    }));
    table.row(&cells);
    chart::lines(
        &report.place("sessions.svg"),
        "Ids per second",
        ("sessions", "million ids per second, all together"),
        &lines,
    );
    table.note(
        "With `nextval, CACHE 1000`, each session takes a thousand values at once, so values of different sessions are \
         not in order, and sessions rarely wait for each other. The ids of one lane are in order, because all sessions \
         change one word of shared memory, which moves from core to core. A lane for each session, or \
         `pg_mint.session_cache`, avoids that.",
    );
    table.chart("sessions.svg", "Ids per second");
    report.add(table);
}

fn latency(server: &Server, scale: Scale, report: &mut Report) {
    let span = Duration::from_millis(scale.pick(1_000, 250));
    let rounds = scale.pick(5, 1);
    let mut table = Table::new(
        "latency",
        "Latency of an INSERT",
        &format!(
            "Microseconds from the client's call to the answer, for `INSERT INTO t DEFAULT VALUES` with the id as the only \
             column, its primary key, in an unlogged table. The clients run on the same machine. Medians of the percentiles of \
             {rounds} rounds in which all take turns, in which what else the machine does decides little; and the maximum of all rounds, in which it decides. \
             A single session and its client wait for each other, and the wake-up of an idle core takes longer than the INSERT."
        ),
        &["default", "sessions", "p50", "p99", "p99.9", "max"],
    );
    let forms = forms(server);
    let mut taken = vec![[const { Vec::new() }; CLIENTS.len()]; forms.len()];
    let mut session = server.connect("postgres");
    for round in 0..rounds {
        report::progress(&format!("  INSERT, round {} of {rounds}", round + 1));
        for ((form, column), taken) in forms.iter().zip(&mut taken) {
            // The pages that the form before has written must not be written during this one.
            session.run("CHECKPOINT");
            for (&clients, taken) in CLIENTS.iter().zip(taken) {
                session.run(&format!(
                    "DROP TABLE IF EXISTS bench_latency;
                     CREATE UNLOGGED TABLE bench_latency (id {column} PRIMARY KEY DEFAULT {})",
                    form.expression()
                ));
                let insert = "INSERT INTO bench_latency DEFAULT VALUES";
                let all: Vec<f64> = run(server, clients, span, insert)
                    .into_iter()
                    .flat_map(|client| client.taken)
                    .map(|each| each.as_nanos() as f64 / 1e3)
                    .collect();
                taken.push([50.0, 99.0, 99.9, 100.0].map(|share| percentile(&all, share)));
            }
        }
    }
    let mut lines = Vec::new();
    for ((form, _), taken) in forms.iter().zip(&taken) {
        let mut points = Vec::new();
        for (&clients, taken) in CLIENTS.iter().zip(taken) {
            let all = |place: usize| taken.iter().map(|round| round[place]).collect::<Vec<f64>>();
            let [p50, p99, p999] = [0, 1, 2].map(|place| percentile(&all(place), 50.0));
            let mut cells = vec![form.name.to_owned(), clients.to_string()];
            cells.extend([p50, p99, p999, percentile(&all(3), 100.0)].map(number));
            table.row(&cells);
            points.push((clients as f64, p99));
        }
        lines.push(Line::new(form.name, points));
    }
    chart::lines(
        &report.place("latency.svg"),
        "99th percentile of the latency of an INSERT",
        ("sessions", "microseconds"),
        &lines,
    );
    table.chart("latency.svg", "99th percentile of the latency of an INSERT");
    report.add(table);
}

/// The work of a client.
struct Client {
    /// The times of its queries.
    taken: Vec<Duration>,
    /// From the common start to its last answer, with the time in which it had no core.
    until: Duration,
}

impl Client {
    fn queries_per_second(&self) -> f64 {
        self.taken.len() as f64 / self.until.as_secs_f64()
    }
}

/// Runs a query in each client again and again within the span.
fn run(server: &Server, clients: usize, span: Duration, query: &str) -> Vec<Client> {
    let common = OnceLock::new();
    let start = Barrier::new(clients + 1);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..clients)
            .map(|_| {
                let (start, stop, common) = (&start, &stop, &common);
                scope.spawn(move || {
                    let mut session = server
                        .config("postgres", "postgres")
                        .connect(NoTls)
                        .expect("a session");
                    let statement = session.prepare(query).expect("a statement");
                    // Warms up.
                    for _ in 0..3 {
                        session.execute(&statement, &[]).expect("an answer");
                    }
                    let mut taken = Vec::with_capacity(1 << 16);
                    start.wait();
                    let start = common.get_or_init(Instant::now);
                    while !stop.load(Ordering::Relaxed) {
                        let began = Instant::now();
                        session.execute(&statement, &[]).expect("an answer");
                        taken.push(began.elapsed());
                    }
                    Client {
                        taken,
                        until: start.elapsed(),
                    }
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
