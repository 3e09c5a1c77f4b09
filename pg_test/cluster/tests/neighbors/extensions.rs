//! Extensions of databases, each with the work that it is for.

use crate::orders::Extension;
use crate::row::Neighbor;
use mint_cluster::{Server, Session};
use std::time::{Duration, Instant};

/// Waits for a condition of a query.
#[track_caller]
pub fn until(session: &mut Session, what: &str, query: &str, longest: Duration) {
    let deadline = Instant::now() + longest;
    while !session.one::<bool>(query) {
        assert!(Instant::now() < deadline, "{what}: not after {longest:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn pg_stat_statements() {
    let what = "calls with different shards and times are one statement each";
    Extension::new("pg_stat_statements", what, "pg_stat_statements")
        .preloaded("")
        .run(|_, session| {
            session.run("SELECT pg_stat_statements_reset()");
            for shard in 1..=5 {
                session.run(&format!("SELECT snowflake_next_id({shard})"));
                session.run(&format!(
                    "SELECT count(*) FROM item WHERE snowflake_time(id) > '2026-01-0{shard}'"
                ));
            }
            let calls: Vec<i64> = session
                .column("SELECT calls FROM pg_stat_statements WHERE query LIKE 'SELECT snowflake_next_id(%' OR query LIKE '%snowflake_time(id) > %'");
            assert_eq!(calls, [5, 5]);        });
}

#[test]
fn pgaudit() {
    let what = "an insert by our default, and the change of that default, are in the log";
    Extension::new("pgaudit", what, "pgaudit")
        .preloaded("")
        .run(|server, session| {
            session.run("SET pgaudit.log = 'write, function, ddl'; SET pgaudit.log_relation = on");
            session.run("INSERT INTO item (body) VALUES ('audited')");
            session.run("ALTER TABLE item ALTER id SET DEFAULT snowflake_next_id(6)");
            let log = server.log();
            for entry in [
                "WRITE,INSERT,TABLE,public.item",
                "DDL,ALTER TABLE,TABLE,public.item",
            ] {
                assert!(log.contains(entry), "{entry}:\n{log}");
            }
        });
}

#[test]
fn hypopg() {
    let what = "a condition on the time of an id would use a hypothetical index";
    Extension::new("hypopg", what, "hypopg")
        .run(|_, session| {
            session.run(
                "CREATE TABLE plain AS SELECT snowflake_encode(now() - n * interval '1 minute', 5, 0) AS id FROM generate_series(1, 20000) AS n;
                 ANALYZE plain; SELECT hypopg_create_index('CREATE INDEX ON plain (id)')",
            );
            let plan: Vec<String> = session.column("EXPLAIN SELECT * FROM plain WHERE snowflake_time(id) > now() - interval '5 minutes'");
            let plan = plan.join("\n");
            assert!(plan.contains("btree_plain_id"), "{plan}");
            assert!(
                plan.contains("Index Cond: (id >= mint.snowflake_min_after("),
                "{plan}"
            );
            session.run("SELECT hypopg_reset()");        });
}

#[test]
fn pg_hint_plan() {
    let what = "a hint decides the scan of a condition on the time of an id";
    Extension::new("pg_hint_plan", what, "pg_hint_plan")
        .preloaded("")
        .run(|_, session| {
            for (hint, scan) in [
                ("SeqScan(item)", "Seq Scan on"),
                ("IndexScan(item item_pkey)", "Index Scan using item_pkey"),
            ] {
                let plan = session.explain(&format!("SELECT body FROM item WHERE snowflake_time(id) > now() - interval '1 hour' /*+ {hint} */"));
                let hinted: Vec<String> = session.column(&format!("/*+ {hint} */ EXPLAIN (COSTS OFF) SELECT body FROM item WHERE snowflake_time(id) > now() - interval '1 hour'"));
                assert!(hinted.join("\n").contains(scan), "{hinted:?}\n{plan}");
            }
        });
}

#[test]
fn postgis() {
    let what = "a query by place and by the time of the id";
    Extension::new("PostGIS", what, "postgis")
        .run(|_, session| {
            session.run(
                "CREATE TABLE visit (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), place geometry(Point, 4326));
                 CREATE INDEX ON visit USING gist (place);
                 INSERT INTO visit (place) SELECT ST_SetSRID(ST_MakePoint(n % 100, n / 100), 4326) FROM generate_series(0, 9999) AS n",
            );
            let found: i64 = session.one(
                "SELECT count(DISTINCT id) FROM visit WHERE place && ST_MakeEnvelope(10, 10, 19, 19, 4326) AND snowflake_time(id) > now() - interval '1 hour'",
            );
            assert_eq!(found, 100);        });
}

#[test]
fn pgvector() {
    let what = "the nearest rows of the last hour by the time of the id";
    Extension::new("pgvector", what, "vector")
        .run(|_, session| {
            session.run(
                "CREATE TABLE embedding (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), at vector(2), n int);
                 INSERT INTO embedding (at, n) SELECT ARRAY[n, n]::vector, n FROM generate_series(1, 1000) AS n;
                 CREATE INDEX ON embedding USING hnsw (at vector_l2_ops)",
            );
            let nearest: i32 = session.one(
                "SELECT n FROM embedding WHERE snowflake_time(id) > now() - interval '1 hour' ORDER BY at <-> '[500.2, 500.2]' LIMIT 1",
            );
            assert_eq!(nearest, 500);        });
}

/// Jobs in a background worker of the database, where the extension can be alone: both orders are in one server.
#[test]
fn pg_cron() {
    let neighbor = Neighbor {
        name: "pg_cron",
        what: "jobs of every minute insert by our default and call mint.partition_maintain as the owner",
    };
    if !neighbor.is_there("pg_cron") {
        return;
    }
    let build = |name: &str| {
        Server::build(name).conf(
            "shared_preload_libraries = 'pg_cron, pg_mint'\ncron.use_background_workers = on\nmax_worker_processes = 20",
        )
    };
    let server = build("pg_cron").start_empty();
    let mut session = server.connect("postgres");
    session.run("CREATE EXTENSION pg_mint; CREATE EXTENSION pg_cron; DROP EXTENSION pg_mint");
    session.run(
        "CREATE EXTENSION pg_mint;
         CREATE TABLE reading (id bigint PRIMARY KEY DEFAULT snowflake_next_id(3), body text) PARTITION BY RANGE (id)",
    );
    // The owner cannot log in, and the sessions of a worker become the owner.
    session.run(
        "CREATE ROLE keeper; CREATE ROLE worker LOGIN IN ROLE keeper; ALTER ROLE worker SET role = 'keeper';
         ALTER TABLE reading OWNER TO keeper; GRANT ALL ON SCHEMA public TO keeper;
         SELECT cron.schedule('plan', '* * * * *', $$CALL mint.partition_maintain('reading', '1 day', 3)$$);
         UPDATE cron.job SET username = 'worker' WHERE jobname = 'plan';
         SELECT cron.schedule('rows', '* * * * *', $$INSERT INTO reading (body) VALUES ('by cron')$$)",
    );
    until(
        &mut session,
        "the job has run",
        "SELECT count(*) > 0 FROM reading",
        Duration::from_secs(150),
    );
    let count: (i64, i64) = (
        session.one("SELECT count(*) FROM pg_inherits WHERE inhparent = 'reading'::regclass"),
        session.one(
            "SELECT count(*) FROM reading WHERE snowflake_time(id) > now() - interval '2 minutes'",
        ),
    );
    assert!(count.0 >= 4 && count.1 >= 1, "{count:?}");
    let version: String =
        session.one("SELECT extversion FROM pg_extension WHERE extname = 'pg_cron'");
    // Its jobs are rows of a table of the extension, which the dump has; the other server runs them as well.
    let other = build("pg_cron, restored").start_empty();
    other.run("CREATE ROLE keeper; CREATE ROLE worker LOGIN IN ROLE keeper");
    other.restore("postgres", "postgres", &server.dump("postgres", "postgres"));
    let jobs: i64 = other.one("SELECT count(*) FROM cron.job WHERE jobname = 'plan'");
    assert_eq!(jobs, 1);
    neighbor.works(&version);
}

/// A library without an extension.
#[test]
fn auto_explain() {
    let neighbor = Neighbor {
        name: "auto_explain",
        what: "the plan of a condition on the time of an id is in the log, with its bounds",
    };
    let server = Server::build("auto_explain")
        .conf(
            "shared_preload_libraries = 'auto_explain, pg_mint'\nauto_explain.log_min_duration = 0",
        )
        .start();
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5)); SET enable_seqscan = off; SET enable_bitmapscan = off");
    session.run("INSERT INTO item SELECT FROM generate_series(1, 1000)");
    let count: i64 = session
        .one("SELECT count(*) FROM item WHERE snowflake_time(id) > now() - interval '1 hour'");
    assert_eq!(count, 1000);
    let log = server.log();
    assert!(
        log.contains("Index Cond: (id >= mint.snowflake_min_after("),
        "{log}"
    );
    let version: String = session.one("SELECT current_setting('server_version')");
    neighbor.works(version.split(' ').next().unwrap_or_default());
}
