//! Plans of fresh sessions, preloaded libraries, standbys, parallel workers, and cached plans.

use mint_cluster::{Server, Session};

const TABLE: &str = "CREATE TABLE event (id bigint PRIMARY KEY, n int);
    INSERT INTO event SELECT snowflake_encode(timestamptz '2026-01-01Z' + n * interval '1 minute', 5, 0), n
    FROM generate_series(0, 20000) n;
    ANALYZE event";
const LAST_HOUR: &str =
    "SELECT count(*) FROM event WHERE snowflake_time(id) > timestamptz '2026-01-14 20:20Z'";

fn plan(session: &mut Session, sql: &str) -> String {
    session
        .column::<String>(&format!("EXPLAIN (COSTS OFF) {sql}"))
        .join("\n")
}

/// The first statement of a session already has the bounds, with and without preloading.
#[test]
fn the_first_statement_of_a_session_uses_the_index() {
    for preload in [false, true] {
        let server = Server::build("first statement").preload(preload).start();
        server.run(TABLE);
        let first = plan(&mut server.connect("postgres"), LAST_HOUR);
        assert!(first.contains("Index Cond: (id >= "), "{first}");
        let rows: i64 = server.one(LAST_HOUR);
        assert_eq!(rows, 60);
        // The default of all sessions; a session has its own.
        let mut admin = server.connect("postgres");
        admin.set_for_server("pg_mint.time_predicates", "off");
        let without = plan(&mut server.connect("postgres"), LAST_HOUR);
        assert!(!without.contains("Index Cond"), "{without}");
        let mut session = server.connect("postgres");
        session.run("SET pg_mint.time_predicates = on");
        let with = plan(&mut session, LAST_HOUR);
        assert!(with.contains("Index Cond"), "{with}");
    }
}

/// A plan in the cache stays as it is until the server makes a new one, and is right meanwhile.
#[test]
fn a_cached_plan_stays_until_it_is_made_again() {
    let server = Server::start("cached plans");
    let mut session = server.connect("postgres");
    session.run(TABLE);
    session.run(&format!(
        "SET plan_cache_mode = force_generic_plan; SET pg_mint.time_predicates = off;
        PREPARE last AS {LAST_HOUR}"
    ));
    assert_eq!(session.one::<i64>("EXECUTE last"), 60);
    session.run("SET pg_mint.time_predicates = on");
    let old = plan(&mut session, "EXECUTE last");
    assert!(!old.contains("Index Cond"), "{old}");
    assert_eq!(session.one::<i64>("EXECUTE last"), 60);
    session.run("CREATE INDEX ON event (n)");
    let new = plan(&mut session, "EXECUTE last");
    assert!(new.contains("Index Cond"), "{new}");
    assert_eq!(session.one::<i64>("EXECUTE last"), 60);
    // A subquery that is evaluated once.
    let once = "SELECT count(*) FROM event WHERE snowflake_time(id) > (SELECT max(at) FROM (VALUES (timestamptz '2026-01-14 20:20Z')) t (at))";
    let once_plan = plan(&mut session, once);
    assert!(
        once_plan.contains("Index Cond: (id >= mint.snowflake_min_after("),
        "{once_plan}"
    );
    assert_eq!(session.one::<i64>(once), 60);
}

/// Parallel workers scan the range, and a standby plans as its primary.
#[test]
fn parallel_workers_and_standbys_use_the_index() {
    let primary = Server::start("primary of plans");
    let mut session = primary.connect("postgres");
    session.run(TABLE);
    let standby = primary.standby("standby of plans");
    primary.wait_for(&standby);
    let mut there = standby.connect("postgres");
    for session in [&mut session, &mut there] {
        session.run(
            "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
             SET min_parallel_index_scan_size = 0; SET enable_seqscan = off; SET enable_bitmapscan = off;
             SET max_parallel_workers_per_gather = 2; SET plan_cache_mode = force_generic_plan;
             PREPARE since(timestamptz) AS SELECT count(n) FROM event WHERE snowflake_time(id) > $1",
        );
        let since = "EXECUTE since('2026-01-02Z')";
        let parallel = plan(session, since);
        assert!(parallel.contains("Parallel Index Scan"), "{parallel}");
        assert!(
            parallel.contains("Index Cond: (id >= mint.snowflake_min_after($1"),
            "{parallel}"
        );
        assert_eq!(session.one::<i64>(since), 20_000 - 1_440);
        session.run("RESET ALL");
        let last = plan(session, LAST_HOUR);
        assert!(last.contains("Index Cond: (id >= "), "{last}");
    }
    // A cursor fetches from the range.
    there.run("BEGIN; DECLARE c CURSOR FOR SELECT id FROM event WHERE snowflake_time(id) > timestamptz '2026-01-14 20:20Z'; MOVE 50 IN c");
    assert_eq!(there.column::<i64>("FETCH ALL FROM c").len(), 10);
}

/// Returns the rows that the planner expects, for each that there is.
fn guess_ratio(session: &mut Session, condition: &str) -> f64 {
    let query = format!("SELECT * FROM skewed WHERE {condition}");
    let guess = expected_rows(session, &query, "rows=");
    let rows: i64 = session.one(&format!("SELECT count(*) FROM ({query}) s"));
    guess / rows as f64
}

/// The planner's guess of one-sided and two-sided ranges is within a factor of two, where the ids crowd at the end. The server
/// takes the middle of a part of the histogram for UUIDs and ObjectIDs, so that theirs holds for spans that are longer; a
/// shorter one uses the index all the same, and larger statistics bring its guess nearer.
#[test]
fn estimates_are_within_a_factor_of_two() {
    let server = Server::start("estimates");
    let mut session = server.connect("postgres");
    session.run(
        "SET timezone = 'UTC';
         CREATE TABLE skewed AS
         SELECT snowflake_encode(at, n % 1000, n / 1000) AS id, uuid_v7(at) AS v7, objectid_min(at) AS object
         FROM (SELECT n, timestamptz '2025-01-01' + interval '365 days' * ((n / 100000.0) ^ 0.2) AS at FROM generate_series(1, 100000) n) s;
         CREATE UNIQUE INDEX ON skewed (id); CREATE INDEX ON skewed (v7); CREATE INDEX ON skewed (object DESC); ANALYZE skewed",
    );
    let within_two = |session: &mut Session, conditions: &[String]| {
        for condition in conditions {
            let ratio = guess_ratio(session, condition);
            assert!((0.5..2.0).contains(&ratio), "{condition}: {ratio}");
        }
    };
    let short = |time: &str, between: &str| {
        [
            format!("{time} >= '2025-12-31 22:00'"),
            format!("{time} BETWEEN '2025-12-13 06:10' AND '2025-12-13 06:40'"),
            format!("{between}'2025-11-15 12:00', '2025-11-15 14:00')"),
        ]
    };
    for (time, between) in [
        ("snowflake_time(id)", "snowflake_between(id, "),
        ("uuid_v7_time(v7)", "uuid_v7_between(v7, "),
        ("objectid_time(object)", "objectid_between(object, "),
    ] {
        let long = [
            format!("{time} >= '2025-12-01'"),
            format!("{time} < '2025-09-01'"),
            format!("{time} >= date '2025-12-01' + 5"),
            format!("{time} >= '2025-11-01' AND {time} < '2025-11-20'"),
            format!(
                "'2025-12-01' < {time} AND {time} <= timestamptz '2025-12-10' + age(now(), now())"
            ),
            format!("{time} BETWEEN '2025-12-01' AND '2025-12-03'"),
            format!("{between}'2025-12-01', '2025-12-03')"),
        ];
        within_two(&mut session, &long);
        let short = short(time, between);
        for condition in &short {
            let plan = plan(
                &mut session,
                &format!("SELECT * FROM skewed WHERE {condition}"),
            );
            assert!(plan.contains("Index"), "{plan}");
        }
        if time.starts_with("snowflake") {
            within_two(&mut session, &short);
            within_two(
                &mut session,
                &[
                    format!("{time} >= timestamptz '2025-12-31 23:20' + age(now(), now())"),
                    format!("{time} < '2025-05-12'"),
                    format!("NOT {between}'2025-12-31 22:00', 'infinity')"),
                ],
            );
        }
    }
    session.run(
        "ALTER TABLE skewed ALTER v7 SET STATISTICS 1000, ALTER object SET STATISTICS 1000; ANALYZE skewed",
    );
    for time in ["uuid_v7_time(v7)", "objectid_time(object)"] {
        let condition = format!("{time} >= '2025-12-31 22:00'");
        let ratio = guess_ratio(&mut session, &condition);
        assert!((0.2..2.0).contains(&ratio), "{condition}: {ratio}");
    }
}

/// Returns the rows that the planner expects of the first node of a plan that matches.
fn expected_rows(session: &mut Session, query: &str, node: &str) -> f64 {
    let lines: Vec<String> = session.column(&format!("EXPLAIN {query}"));
    let line = lines.iter().find(|line| line.contains(node));
    line.and_then(|line| line.split("rows=").nth(1))
        .and_then(|rest| rest.split(' ').next()?.parse().ok())
        .unwrap_or_else(|| panic!("{node} in {lines:?}"))
}

/// A condition that stays beside its bounds is not counted, also where a function that the planner calls makes a plan of
/// its own meanwhile.
#[test]
fn plans_within_plans_are_estimated_alike() {
    let server = Server::start("plans within plans");
    let mut session = server.connect("postgres");
    session.run(
        "SET timezone = 'UTC'; SET jit = off;
         CREATE TABLE a AS SELECT uuid_v7(timestamptz '2026-01-01' + n * interval '1 minute') AS id, n FROM generate_series(1, 20000) n;
         CREATE TABLE b AS SELECT * FROM a;
         CREATE INDEX ON a (id); CREATE INDEX ON b (id); ANALYZE a, b;
         CREATE FUNCTION first() RETURNS timestamptz STABLE LANGUAGE plpgsql AS $$
         BEGIN RETURN (SELECT '2026-01-01'::timestamptz FROM b WHERE uuid_v7_time(id) < '2026-01-02' LIMIT 1); END $$",
    );
    let query = "SELECT * FROM a JOIN b USING (n) WHERE uuid_v7_time(a.id) > first() AND uuid_v7_time(b.id) < '2026-01-08'";
    for at in ["first()", "'2026-01-01'"] {
        let query = query.replace("first()", at);
        let rows = expected_rows(&mut session, &query, " on b ");
        assert!((8000.0..12_000.0).contains(&rows), "{at}: {rows}");
    }
}

/// The ends of an index in another order than that of the type are not taken for its first and last value.
#[test]
fn an_index_in_another_order_does_not_mislead() {
    let server = Server::start("other order");
    let mut session = server.connect("postgres");
    session.run(
        "SET timezone = 'UTC';
         CREATE FUNCTION reverse_cmp(uuid, uuid) RETURNS int IMMUTABLE STRICT LANGUAGE sql RETURN uuid_cmp($2, $1);
         CREATE OPERATOR CLASS reverse_ops FOR TYPE uuid USING btree AS
         OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 reverse_cmp(uuid, uuid);
         CREATE TABLE reversed AS SELECT uuid_v7(timestamptz '2026-01-01' + n * interval '1 minute') AS id FROM generate_series(1, 20000) n;
         CREATE INDEX ON reversed (id reverse_ops); ANALYZE reversed",
    );
    for condition in [
        "uuid_v7_time(id) < '2026-01-01 01:30'",
        "uuid_v7_time(id) > '2026-01-14 20:00'",
    ] {
        let query = format!("SELECT * FROM reversed WHERE {condition}");
        let rows = expected_rows(&mut session, &query, "reversed");
        let found: i64 = session.one(&format!("SELECT count(*) FROM reversed WHERE {condition}"));
        let ratio = rows / found as f64;
        assert!(
            (0.5..2.0).contains(&ratio),
            "{condition}: {rows} for {found}"
        );
    }
}

/// A CHECK of the version lets the time of all versions be a range: by this extension's function or the server's own.
#[test]
fn a_check_of_the_version_counts_by_either_function() {
    let server = Server::start("a check of the version");
    let mut session = server.connect("postgres");
    let has_own: bool = session.one("SELECT current_setting('server_version_num')::int >= 170000");
    let mut checks = vec![
        ("uuid_version_of(id) = 7", true),
        ("7 = uuid_version_of(id)", true),
        ("uuid_version_of(id) = '7'", true),
        // A cast is stored as a call, and nothing of a constraint is evaluated.
        ("uuid_version_of(id) = 7::smallint", false),
        ("uuid_version_of(id) = 6", false),
        ("uuid_version_of(id) >= 7", false),
    ];
    if has_own {
        checks.extend([
            ("uuid_extract_version(id) = 7", true),
            ("uuid_extract_version(id) = '7'", true),
            ("7 = uuid_extract_version(id)", true),
            ("uuid_extract_version(id) = 4", false),
            ("uuid_extract_version(id) <> 7", false),
        ]);
    }
    for (check, is_range) in checks {
        session.run(&format!(
            "CREATE TABLE item (id uuid PRIMARY KEY, CHECK ({check}))"
        ));
        let last_hour = "SELECT * FROM item WHERE uuid_time(id) > now() - interval '1 hour'";
        let found = plan(&mut session, last_hour).contains("Index Cond: (id >= ");
        assert_eq!(
            found,
            is_range,
            "{check}: {}",
            plan(&mut session, last_hour)
        );
        session.run("DROP TABLE item");
    }
}

/// A part of an OR that keeps the other one from being evaluated still does, for parts of a table as well.
#[test]
fn a_part_of_a_condition_guards_another() {
    let server = Server::start("guards");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE event (id bigint NOT NULL) PARTITION BY RANGE (id);
         CREATE TABLE event_1 PARTITION OF event FOR VALUES FROM (0) TO (snowflake_min('2026-02-01Z'));
         CREATE TABLE event_2 PARTITION OF event DEFAULT;
         INSERT INTO event SELECT snowflake_min('2026-01-01Z'::timestamptz + n * interval '1 hour') FROM generate_series(1, 1000) n;
         CREATE INDEX ON event (id); ANALYZE event;
         PREPARE since(text) AS SELECT count(*) FROM event WHERE ($1 IN ('', 'all') OR snowflake_time(id) >= $1::timestamptz);
         SET plan_cache_mode = force_generic_plan",
    );
    for (since, rows) in [("", 1000), ("all", 1000), ("2026-02-01Z", 257)] {
        let found: i64 = session.one(&format!("EXECUTE since('{since}')"));
        assert_eq!(found, rows, "{since}");
        let found: Vec<i64> = session.column(&format!(
            "SELECT (SELECT count(*) FROM event WHERE since IN ('', 'all') OR snowflake_time(id) >= since::timestamptz)
             FROM (VALUES ('{since}'), ('{since}')) f(since)"
        ));
        assert_eq!(found, [rows, rows], "{since}");
    }
}
