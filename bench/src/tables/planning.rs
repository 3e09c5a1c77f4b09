//! Planning of statements without a condition on the time of an id, in a session that has pg_mint and in one that has not.

use crate::report::{Report, Table, number};
use crate::scale::Scale;
use crate::stats::{Spread, ratio};
use mint_cluster::{Server, Session};

const STATEMENTS: [(&str, &str); 4] = [
    ("by the key", "SELECT * FROM bench_plan WHERE id = 7"),
    (
        "by a range of the key",
        "SELECT count(*) FROM bench_plan WHERE id BETWEEN 5 AND 9",
    ),
    (
        "by the time of a column",
        "SELECT count(*) FROM bench_plan WHERE at > now() - interval '1 day'",
    ),
    (
        "join of three",
        "SELECT count(*) FROM bench_plan a JOIN bench_plan b USING (id) JOIN bench_plan c USING (id) WHERE a.at < b.at",
    ),
];

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE bench_plan (id bigint PRIMARY KEY, at timestamptz);
         INSERT INTO bench_plan SELECT n, now() FROM generate_series(1, 10000) AS n;
         CREATE FUNCTION bench_planning(statement text, times int) RETURNS float8 LANGUAGE plpgsql AS $$
         DECLARE began timestamptz; taken float8[];
         BEGIN
             FOR n IN 1..times LOOP
                 began := clock_timestamp();
                 EXECUTE 'EXPLAIN ' || statement;
                 taken[n] := extract(epoch FROM clock_timestamp() - began) * 1e6;
             END LOOP;
             RETURN (SELECT sum(each) / count(*) FROM unnest(taken) AS each
                     WHERE each <= (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY each) FROM unnest(taken) AS each));
         END $$",
    );
    session.run("VACUUM ANALYZE bench_plan");
    let [mut without, mut with] = [0, 1].map(|_| server.connect("postgres"));
    // The hooks are there from the first condition on.
    with.run("EXPLAIN SELECT * FROM bench_plan WHERE snowflake_time(id) > now()");
    let times = scale.pick(2_000, 500);
    let rounds = scale.pick(41, 7);
    let mut table = Table::new(
        "planning",
        "Planning without a condition on the time of an id",
        &format!(
            "Microseconds of `EXPLAIN`, which parses, analyzes and plans a statement, in a session that has not loaded pg_mint \
             and in one that has, and has used such a condition: the mean of the faster half of {times}. The sessions take turns; \
             medians of {rounds} rounds, and of the ratios of each round."
        ),
        &[
            "statement", "without, us", "with, us", "more, %", "lower quartile", "upper quartile",
        ],
    );
    for (name, statement) in STATEMENTS {
        let call = format!("SELECT bench_planning($${statement}$$, {times})");
        let time = |session: &mut Session| session.one::<f64>(&call);
        let (mut all_without, mut all_with) = (Vec::new(), Vec::new());
        // The first round fills the caches.
        for round in 0..=rounds {
            let (one, other) = if round % 2 == 0 {
                let one = time(&mut without);
                (one, time(&mut with))
            } else {
                let other = time(&mut with);
                (time(&mut without), other)
            };
            if round > 0 {
                all_without.push(one);
                all_with.push(other);
            }
        }
        let more = ratio(&all_with, &all_without);
        let percent = |ratio: f64| format!("{:+.1}", (ratio - 1.0) * 100.0);
        table.row(&[
            name.to_owned(),
            number(Spread::of(&all_without).median),
            number(Spread::of(&all_with).median),
            percent(more.median),
            percent(more.quartiles.0),
            percent(more.quartiles.1),
        ]);
    }
    session.run("DROP TABLE bench_plan; DROP FUNCTION bench_planning");
    report.add(table);
}
