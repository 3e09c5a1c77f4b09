//! Queries have the same rows with and without what the planner derives.

use mint_cluster::{Rng, Server, Session, count, say};

/// Makes random tables, ids, conditions and queries, and runs each query both ways.
const GENERATOR: &str = concat!(
    include_str!("generator.sql"),
    include_str!("comparison.sql")
);
/// Queries on one pair of tables.
const QUERIES: usize = 200;

/// Random queries of random tables, ids of which some are not of the layout, layouts, conditions and kinds of plan: as
/// many as `MINT_QUERIES` says. Estimates of rows are the same where no time is known, and rarely worse where one is.
#[test]
fn rows_and_estimates_are_the_same_with_derived_bounds() {
    let given = std::env::var("MINT_QUERIES")
        .ok()
        .and_then(|text| text.parse().ok());
    let rounds = given.unwrap_or_else(|| count(20_000, 5_000)) / QUERIES;
    let mut rng = Rng::from_environment();
    let first = rng.below(1_000_000);
    let server = Server::start("rows with derived bounds");
    let databases = ["postgres", "other"];
    server.create_database("other");
    let tallies: Vec<Vec<i64>> = std::thread::scope(|scope| {
        let work = databases.iter().enumerate().map(|(number, database)| {
            let server = &server;
            scope.spawn(move || {
                let mut session = server.connect(database);
                session.run(GENERATOR);
                session.run("SET client_min_messages = error");
                for round in (number..rounds).step_by(databases.len()) {
                    let seed = (first + round) % 1_000_000;
                    session.run(&format!("SELECT differ.run({seed} / 1000000.0, {QUERIES})"));
                }
                let differences: Vec<String> = session.column(
                    "SELECT format(E'seed %s\\n%s\\n%s\\noff: %s\\non:  %s', seed, query, settings, off_result, on_result)
                     FROM differ.difference LIMIT 3",
                );
                assert!(differences.is_empty(), "{}", differences.join("\n\n"));
                let parts = [
                    "queries", "same rows", "with rows", "refused off only", "compared plans", "other plans",
                    "compared estimates", "better estimates", "worse estimates",
                ];
                parts
                    .map(|part| session.one(&format!("SELECT n FROM differ.tally WHERE outcome = '{part}'")))
                    .to_vec()
            })
        });
        let running: Vec<_> = work.collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, Vec<i64>>| {
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        running.into_iter().map(join).collect()
    });
    let total = |part: usize| tallies.iter().map(|tally| tally[part]).sum::<i64>();
    let [queries, same, with_rows, refused, compared, other] = [0, 1, 2, 3, 4, 5].map(total);
    let [estimates, better, worse] = [6, 7, 8].map(total);
    say(format!(
        "{queries} queries: {same} with the same rows, {with_rows} with any; {refused} refused for a foreign id without \
         derived bounds only, and with them as if it had no time; {other} of {compared} plans differ; \
         {estimates} estimates of times that are not known are the same, of those that are {better} are eight times as \
         near with bounds, and {worse} without"
    ));
    // The generator still makes queries that say something. 55 % of the plans differ, and by chance 49 % of 500.
    assert!(
        (same + refused) * 10 > queries * 9,
        "{same} + {refused} of {queries}"
    );
    assert!(same * 10 > queries * 5, "{same} of {queries}");
    assert!(with_rows * 10 > queries * 4, "{with_rows} of {queries}");
    assert!(other * 10 > compared * 4, "{other} of {compared}");
    assert!(
        better > worse * 10,
        "{better} better, {worse} worse estimates"
    );
}

/// The random queries find a bound that is off by a tick: each of the four functions, replaced by its neighbor.
#[test]
fn a_bound_that_is_off_by_a_tick_is_found() {
    let server = Server::start("wrong bounds");
    let mut rng = Rng::from_environment();
    let mut session = server.connect("postgres");
    session.run(GENERATOR);
    session.run("SET client_min_messages = error");
    let replace = |session: &mut Session, name: &str, by: &str| {
        session.run(&format!(
            "CREATE OR REPLACE FUNCTION {name}(at timestamptz, layout snowflake_layout DEFAULT 'instagram') RETURNS bigint
             IMMUTABLE STRICT PARALLEL SAFE COST 1 LANGUAGE c AS '$libdir/pg_mint', '{by}_wrapper'"
        ));
    };
    for (name, wrong) in [
        ("snowflake_min", "snowflake_min_after"),
        ("mint.snowflake_min_after", "snowflake_min"),
        ("snowflake_max", "snowflake_max_before"),
        ("mint.snowflake_max_before", "snowflake_max"),
    ] {
        replace(&mut session, name, wrong);
        let is_found = (0..50).any(|_| {
            let seed = rng.below(1_000_000);
            session.one::<i32>(&format!("SELECT differ.run({seed} / 1000000.0, 100)")) > 0
        });
        replace(&mut session, name, name.trim_start_matches("mint."));
        assert!(is_found, "{name} off by a tick is not found");
    }
}

/// The random queries find a column of `snowflake_decode` that is another one where the planner inlines it.
#[test]
fn a_wrong_column_is_found() {
    let server = Server::start("wrong column");
    let mut rng = Rng::from_environment();
    let mut session = server.connect("postgres");
    session.run(GENERATOR);
    session.run("SET client_min_messages = error");
    let inlined: String = session.one(
        "SELECT pg_get_functiondef('mint.snowflake_decode_inlined(bigint, snowflake_layout)'::regprocedure)",
    );
    let other = inlined.replace(
        "snowflake_sequence(id, layout)",
        "snowflake_sequence(id, layout) + 1",
    );
    assert_ne!(other, inlined);
    session.run(&other);
    let is_found = (0..400).any(|_| {
        let seed = rng.below(1_000_000);
        session.run(&format!("SELECT differ.run({seed} / 1000000.0, 30)"));
        session.one::<bool>(
            "SELECT EXISTS (SELECT FROM differ.difference WHERE query LIKE '%snowflake_decode%')",
        )
    });
    assert!(is_found, "a wrong column is not found");
}

/// A condition that stays beside its bounds, as something else of the database needs it, is not tested for ids without a
/// time: also where a bound is NULL, as ids cannot have that time, and where the end is left to another condition's bound.
#[test]
fn a_condition_that_stays_is_not_tested_for_ids_without_a_time() {
    let server = Server::start("ids without a time");
    let mut session = server.connect("postgres");
    let layout = "'time:44 seq:4 shard:13 unit:10ms epoch:2015-01-01T00:00:00Z'";
    session.run(&format!(
        "CREATE TABLE by_time (id bigint) PARTITION BY RANGE (snowflake_time(id, {layout}));
         CREATE TABLE event (id bigint, n int) PARTITION BY RANGE (id);
         CREATE TABLE event_1 PARTITION OF event FOR VALUES FROM (0) TO (snowflake_min('2026-02-01Z', {layout})) PARTITION BY RANGE (id);
         CREATE TABLE event_11 PARTITION OF event_1 DEFAULT;
         CREATE TABLE event_2 PARTITION OF event DEFAULT;
         INSERT INTO event SELECT snowflake_min('2026-01-01Z'::timestamptz + n * interval '1 hour', {layout}), n FROM generate_series(0, 1000) n;
         INSERT INTO event VALUES (-7, 1), (9223372036854775807, 1), (2305843009213693952, 1), (NULL, 1);
         CREATE FUNCTION at(timestamptz) RETURNS timestamptz STABLE LANGUAGE plpgsql AS $$ BEGIN RETURN $1; END $$"
    ));
    for (rows, condition) in [
        (1, "% BETWEEN at('2026-01-02Z') AND at('2026-01-02Z')"),
        (0, "% BETWEEN at('0001-01-01Z') AND at('0001-01-01Z')"),
        (0, "% > at('infinity')"),
        (0, "% < at('0001-01-01Z')"),
        (8, "% < at('2026-01-01 07:30Z')"),
        (8, "% < at('2026-01-01 07:30Z') AND % >= at('2026-01-01Z')"),
        (8, "% >= at('2026-01-01Z') AND % < at('2026-01-01 07:30Z')"),
        (1, "% < at('2026-01-01 07:30Z') AND % = at('2026-01-01Z')"),
        (24, "% < at('2026-01-02Z')::date"),
        (
            1,
            "% BETWEEN at('2026-01-02Z')::date AND at('2026-01-02Z')::date",
        ),
        (
            1,
            "% <= at('2026-01-01Z') AND (%, n) <= (at('2026-01-01Z'), 1)",
        ),
        (
            2,
            "% < at('2026-01-01 02:00Z') AND (%, n) < (at('2026-01-01 02:00Z'), 1) AND % >= at('2026-01-01Z')::timestamp",
        ),
        (
            2,
            "% < at('2026-01-02 01:30Z') AND % <@ tstzrange(at('2026-01-02Z'), at('2026-01-02 01:30Z'))",
        ),
    ] {
        let query = format!(
            "SELECT count(*) FROM event WHERE {}",
            condition.replace('%', &format!("snowflake_time(id, {layout})"))
        );
        let plan = session.explain(&query);
        let stays = plan.contains("snowflake_time(") || plan.contains("Subplans Removed: 2");
        assert!(stays, "{plan}");
        assert_eq!(session.one::<i64>(&query), rows, "{query}\n{plan}");
        session.run("SET pg_mint.time_predicates = off");
        session.refused(&query, "22003");
        session.run("RESET pg_mint.time_predicates");
    }
}
