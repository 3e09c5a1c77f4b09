//! The forms of conditions on the time of an id that people write, with and without what the planner derives.

use crate::report::{self, Report, Table, number};
use crate::scale::Scale;
use crate::stats::Spread;
use mint_cluster::{Server, Session};
use std::time::Instant;

/// The columns selected from the table, and the rest of the query. `{d}` is a time 30 days before the end.
#[rustfmt::skip]
const FORMS: [(&str, &str); 8] = [
    ("sum(user_id) FROM bench_natural", "WHERE snowflake_time(id) >= {d} AND snowflake_time(id) < {d} + interval '1 day'"),
    ("sum(user_id) FROM bench_natural, snowflake_decode(id)", "WHERE at >= {d} AND at < {d} + interval '1 day'"),
    ("snowflake_time(id) FROM bench_natural", "WHERE snowflake_time(id) < {d} ORDER BY id DESC LIMIT 10"),
    ("user_id FROM bench_natural", "WHERE snowflake_time(id) <= {d} AND (snowflake_time(id), user_id) < ({d}, 5) ORDER BY id DESC LIMIT 10"),
    ("sum(user_id) FROM bench_natural", "WHERE snowflake_time(id) BETWEEN {d} AND {d} + interval '1 day'"),
    ("sum(user_id) FROM bench_natural", "WHERE snowflake_time(id)::date = ({d})::date"),
    ("sum(user_id) FROM bench_natural", "WHERE date_trunc('day', snowflake_time(id)) = date_trunc('day', {d})"),
    ("sum(user_id) FROM bench_natural", "WHERE age({d} + interval '30 days', snowflake_time(id)) < interval '1 day'"),
];

const LAST_MONTH: &str = "timestamptz '2025-12-01'";

fn fill(session: &mut Session, rows: usize) {
    session.run(&format!(
        "SET timezone = 'UTC';
         CREATE UNLOGGED TABLE bench_natural (id bigint, user_id int);
         INSERT INTO bench_natural
         SELECT snowflake_encode(timestamptz '2024-12-31' + interval '365 days' * (n / {rows}.0), (n % 8)::int, n % 1024), n % 1000
         FROM generate_series(0, {rows} - 1) AS n;
         ALTER TABLE bench_natural ADD PRIMARY KEY (id)"
    ));
    session.run("VACUUM ANALYZE bench_natural");
}

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    let rows = scale.pick(5_000_000, 500_000);
    let mut session = server.connect("postgres");
    fill(&mut session, rows);
    let mut table = Table::new(
        "natural_forms",
        "Ways to write a condition on the time",
        &format!(
            "Milliseconds of queries of a table of {rows} rows of a year, with `pg_mint.time_predicates` off and on; median \
             of three, with the caches as full as they get. `d` is a day of the last month. The last three are served \
             in neither case: [what to write instead](../../docs/guides/time-ranges.md#write-instead)."
        ),
        &["query", "off, ms", "on, ms", "off / on"],
    );
    for (from, rest) in FORMS {
        let query = format!("SELECT {from} {}", rest.replace("{d}", LAST_MONTH));
        report::progress(&format!("  {query}"));
        let [off, on] = ["off", "on"].map(|setting| {
            session.run(&format!("SET pg_mint.time_predicates = {setting}"));
            // The first round fills the caches.
            session.run(&query);
            let took = (0..3).map(|_| {
                let begun = Instant::now();
                session.run(&query);
                begun.elapsed().as_secs_f64() * 1e3
            });
            Spread::of(&took.collect::<Vec<_>>()).median
        });
        table.row(&[
            format!(
                "`{}`",
                query
                    .replace(LAST_MONTH, "d")
                    .replace("bench_natural", "t")
                    .trim_end()
            ),
            number(off),
            number(on),
            format!("{:.1}", off / on),
        ]);
    }
    session.run("DROP TABLE bench_natural");
    report.add(table);
}
