//! The last day of a year by the time of the id, in the ways that it can be written.

use crate::chart::{self, Axis, Bar};
use crate::report::{self, Report, Table, number};
use crate::scale::Scale;
use crate::stats::Spread;
use mint_cluster::{Server, Session};
use std::time::Instant;

/// Rows of a full run; `MINT_BENCH_ROWS` is another number.
const ROWS: usize = 25_000_000;

struct Form {
    name: &'static str,
    condition: &'static str,
    /// Whether bounds of the id are derived.
    derives: bool,
    ours: bool,
}

const FORMS: [Form; 4] = [
    Form {
        name: "snowflake_time(id), derived bounds off",
        condition: "snowflake_time(id) >= '2025-12-31' AND snowflake_time(id) < '2026-01-01'",
        derives: false,
        ours: false,
    },
    Form {
        name: "snowflake_time(id)",
        condition: "snowflake_time(id) >= '2025-12-31' AND snowflake_time(id) < '2026-01-01'",
        derives: true,
        ours: true,
    },
    Form {
        name: "range of ids by hand",
        condition: "id >= snowflake_min('2025-12-31') AND id <= snowflake_max_before('2026-01-01')",
        derives: false,
        ours: true,
    },
    Form {
        name: "index on a timestamp column",
        condition: "at >= '2025-12-31' AND at < '2026-01-01'",
        derives: false,
        ours: false,
    },
];

fn fill(session: &mut Session, rows: usize) {
    session.run(&format!(
        "SET timezone = 'UTC';
         CREATE UNLOGGED TABLE bench_year (id bigint, at timestamptz, amount float8);
         INSERT INTO bench_year
         SELECT snowflake_encode(at, (n % 8)::int, n % 1024), at, n
         FROM (SELECT n, timestamptz '2025-01-01' + interval '365 days' * (n / {rows}.0) AS at FROM generate_series(0, {rows} - 1) AS n) AS s;
         ALTER TABLE bench_year ADD PRIMARY KEY (id);
         CREATE INDEX ON bench_year (at)"
    ));
    session.run("VACUUM ANALYZE bench_year");
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
    let mut planned = [const { Vec::new() }; FORMS.len()];
    for round in 0..=scale.pick(9, 5) {
        for (place, form) in FORMS.iter().enumerate() {
            session.run(if form.derives {
                "SET pg_mint.time_predicates = on"
            } else {
                "SET pg_mint.time_predicates = off"
            });
            let query = format!(
                "SELECT sum(amount) FROM bench_year WHERE {}",
                form.condition
            );
            let begun = Instant::now();
            session.one::<Option<f64>>(&query);
            let took = begun.elapsed().as_secs_f64() * 1e3;
            let begun = Instant::now();
            for _ in 0..100 {
                session.run(&format!("EXPLAIN {query}"));
            }
            let planning = begun.elapsed().as_secs_f64() * 1e4;
            // The first round fills the caches.
            if round > 0 {
                times[place].push(took);
                planned[place].push(planning);
            }
        }
    }
    let mut table = Table::new(
        "time_predicates",
        "The last day of a year",
        &format!(
            "Milliseconds of `SELECT sum(amount)` of the last of 365 days in a table of {rows} rows, and microseconds of its \
             `EXPLAIN`. Median of the rounds, with the caches as full as they get."
        ),
        &[
            "condition", "ms", "lower quartile", "upper quartile", "of the range by hand",
            "us to plan",
        ],
    );
    let spreads = times.map(|times| Spread::of(&times));
    let hand = spreads[2].median;
    let mut bars = Vec::new();
    for ((form, spread), planned) in FORMS.iter().zip(spreads).zip(planned) {
        table.row(&[
            form.name.to_owned(),
            number(spread.median),
            number(spread.quartiles.0),
            number(spread.quartiles.1),
            format!("{:.2}", spread.median / hand),
            number(Spread::of(&planned).median),
        ]);
        bars.push(Bar {
            name: form.name.to_owned(),
            value: spread.median,
            label: number(spread.median),
            ours: form.ours,
        });
    }
    chart::bars(
        &report.place("time_predicates.svg"),
        "The last day of a year",
        Axis::Log("milliseconds, log scale"),
        &bars,
    );
    table.chart("time_predicates.svg", "The last day of a year");
    session.run("DROP TABLE bench_year");
    report.add(table);
}
