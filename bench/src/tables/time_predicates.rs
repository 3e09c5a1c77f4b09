//! The last day of a year by the time of the id, in the ways that it can be written, with warm and with cold caches.

use crate::chart::{self, Axis, Bar};
use crate::report::{self, Report, Table, number};
use crate::scale::Scale;
use crate::stats::{Spread, ratio};
use mint_cluster::{Server, Session};
use std::process::Command;
use std::time::Instant;

/// Rows of a full run; `MINT_BENCH_ROWS` is another number.
const ROWS: usize = 25_000_000;

struct Form {
    name: &'static str,
    condition: &'static str,
    /// True if bounds of the id are derived.
    derives: bool,
    ours: bool,
    table: &'static str,
}

const NATURAL: &str = "snowflake_time(id) >= '2025-12-31' AND snowflake_time(id) < '2026-01-01'";
const BY_HAND: &str =
    "id >= snowflake_min('2025-12-31') AND id <= mint.snowflake_max_before('2026-01-01')";
const NAMES: [&str; 2] = ["snowflake_time(id)", "range of ids by hand"];

const fn form(name: &'static str, condition: &'static str, table: &'static str) -> Form {
    Form {
        name,
        condition,
        derives: true,
        ours: true,
        table,
    }
}

/// In each table, what the others are compared with comes last.
const FORMS: [Form; 6] = [
    Form {
        derives: false,
        ours: false,
        ..form(
            "snowflake_time(id), derived bounds off",
            NATURAL,
            "bench_year",
        )
    },
    Form {
        ours: false,
        ..form(
            "index on a timestamp column",
            "at >= '2025-12-31' AND at < '2026-01-01'",
            "bench_year",
        )
    },
    form(NAMES[0], NATURAL, "bench_year"),
    form(NAMES[1], BY_HAND, "bench_year"),
    form(NAMES[0], NATURAL, "bench_months"),
    form(NAMES[1], BY_HAND, "bench_months"),
];

impl Form {
    /// Returns the name of the table in the results.
    fn kind(&self) -> &str {
        if self.table == "bench_year" {
            "plain"
        } else {
            "12 partitions"
        }
    }

    /// Returns the milliseconds of the query.
    fn time(&self, session: &mut Session) -> f64 {
        session.run(if self.derives {
            "SET pg_mint.time_predicates = on"
        } else {
            "SET pg_mint.time_predicates = off"
        });
        let begun = Instant::now();
        session.one::<Option<f64>>(&format!(
            "SELECT sum(amount) FROM {} WHERE {}",
            self.table, self.condition
        ));
        begun.elapsed().as_secs_f64() * 1e3
    }
}

fn fill(session: &mut Session, rows: usize) {
    session.run(&format!(
        "SET timezone = 'UTC';
         CREATE UNLOGGED TABLE bench_year (id bigint, at timestamptz, amount float8);
         INSERT INTO bench_year
         SELECT snowflake_encode(at, (n % 8)::int, n % 1024), at, n
         FROM (SELECT n, timestamptz '2025-01-01' + interval '365 days' * (n / {rows}.0) AS at FROM generate_series(0, {rows} - 1) AS n) AS s;
         ALTER TABLE bench_year ADD PRIMARY KEY (id);
         CREATE INDEX ON bench_year (at);
         CREATE TABLE bench_months (LIKE bench_year) PARTITION BY RANGE (id)"
    ));
    for create in session.column::<String>(
        "SELECT format('CREATE UNLOGGED TABLE bench_months_%s PARTITION OF bench_months FOR VALUES FROM (%s) TO (%s)',
                       to_char(month, 'MM'), snowflake_min(month), snowflake_min(month + interval '1 month'))
         FROM generate_series(timestamptz '2025-01-01', '2025-12-01', '1 month') AS month",
    ) {
        session.run(&create);
    }
    session.run("INSERT INTO bench_months SELECT * FROM bench_year");
    session.run("ALTER TABLE bench_months ADD PRIMARY KEY (id)");
    session.run("VACUUM ANALYZE bench_year, bench_months");
}

/// Returns a session of a server that has read nothing yet, and whether the operating system has not either.
fn cold_session(server: &Server, form: &Form) -> (Session, bool) {
    server.stop_fast();
    let _ = Command::new("sync").status();
    let emptied = std::fs::write("/proc/sys/vm/drop_caches", "3").is_ok();
    server.start_again();
    let mut session = server.connect("postgres");
    session.run("SET timezone = 'UTC'");
    // The catalogs and the library are not what is measured.
    session.run(&format!(
        "EXPLAIN SELECT sum(amount) FROM {} WHERE {}",
        form.table, form.condition
    ));
    (session, emptied)
}

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    let given = std::env::var("MINT_BENCH_ROWS").ok();
    let rows = given
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| scale.pick(ROWS, 1_000_000));
    let mut session = server.connect("postgres");
    report::progress(&format!("  {rows} rows"));
    fill(&mut session, rows);
    let mut times = [const { Vec::new() }; FORMS.len()];
    for round in 0..=scale.pick(11, 5) {
        for (form, times) in FORMS.iter().zip(&mut times) {
            // The first round fills the caches. A scan of the whole table takes long.
            if form.derives || round < 4 {
                let again = if form.derives { 3 } else { 1 };
                let took = (0..again).map(|_| form.time(&mut session));
                let took = took.fold(f64::INFINITY, f64::min);
                if round > 0 {
                    times.push(took);
                }
            }
        }
    }
    drop(session);
    let mut times_cold = [const { Vec::new() }; FORMS.len()];
    let mut emptied = true;
    for round in 0..scale.pick(7, 2) {
        report::progress(&format!("  cold caches, round {}", round + 1));
        for (form, times) in FORMS.iter().zip(&mut times_cold) {
            if form.derives {
                let (mut session, is_empty) = cold_session(server, form);
                emptied &= is_empty;
                times.push(form.time(&mut session));
            }
        }
    }
    let mut table = Table::new(
        "time_predicates",
        "The last day of a year",
        &format!(
            "Milliseconds of `SELECT sum(amount)` of the last of 365 days in a table of {rows} rows. Medians of the rounds, each the best of three, and of \
             the ratios of each round to the range by hand. Warm: with the caches as full as they get. Cold: the first query after \
             a start of the server{}, with the catalogs read.",
            if emptied {
                " and with no file in the operating system's cache"
            } else {
                ""
            }
        ),
        &[
            "table", "condition", "ms", "lower quartile", "upper quartile", "of the range by hand",
            "cold, ms", "cold, of the range by hand",
        ],
    );
    let mut bars = Vec::new();
    for (place, form) in FORMS.iter().enumerate() {
        let hand = FORMS
            .iter()
            .rposition(|other| other.table == form.table)
            .unwrap_or(place);
        let spread = Spread::of(&times[place]);
        let to_hand =
            |times: &[Vec<f64>]| format!("{:.2}", ratio(&times[place], &times[hand]).median);
        let [median_cold, ratio_cold] = if form.derives {
            [
                number(Spread::of(&times_cold[place]).median),
                to_hand(&times_cold),
            ]
        } else {
            [const { String::new() }; 2]
        };
        table.row(&[
            form.kind().to_owned(),
            form.name.to_owned(),
            number(spread.median),
            number(spread.quartiles.0),
            number(spread.quartiles.1),
            to_hand(&times),
            median_cold,
            ratio_cold,
        ]);
        if form.table == FORMS[0].table {
            bars.push(Bar {
                name: form.name.to_owned(),
                value: spread.median,
                label: number(spread.median),
                ours: form.ours,
            });
        }
    }
    chart::bars(
        &report.place("time_predicates.svg"),
        "The last day of a year",
        Axis::Log("milliseconds, log scale"),
        &bars,
    );
    table.chart("time_predicates.svg", "The last day of a year");
    server
        .connect("postgres")
        .run("DROP TABLE bench_year, bench_months");
    report.add(table);
}
