//! Time predicates on tables of a cluster: shards are pruned as before, each shard's index is used, and the rows are those
//! of the same statement without them.

use mint_cluster::citus::cluster::{Cluster, Number};
use mint_cluster::{Rng, Session, count, or_skip};

/// Plans of workers are by their own settings, and tables of a test are too small for an index.
const INDEXES: [&str; 2] = ["enable_seqscan = off", "enable_bitmapscan = off"];

/// Tables by what distributes them.
#[rustfmt::skip]
const TABLES: [(&str, &str); 4] = [
    ("hashed", "SELECT create_distributed_table('hashed', 'tenant')"),
    ("by_id", "SELECT create_distributed_table('by_id', 'id')"),
    ("reference", "SELECT create_reference_table('reference')"),
    ("parts", "SELECT create_distributed_table('parts', 'tenant')"),
];

/// Rows of 100 days, one for each seventh of an hour or so.
const ROWS: &str = "SELECT snowflake_encode(timestamptz '2026-01-01' + n * interval '8 min', n % 3, 0, 'twitter'), n % 50, uuid_v7(timestamptz '2026-01-01' + n * interval '8 min')
    FROM generate_series(1, 18000) AS n";

fn filled_cluster(name: &str) -> Option<Cluster> {
    let cluster = Cluster::start_with(name, 2, Number::Group, &INDEXES)?;
    for (table, distribute) in TABLES {
        let partitioned = match table {
            "parts" => "PARTITION BY RANGE (id)",
            _ => "",
        };
        let key = if table == "by_id" { "id" } else { "tenant, id" };
        cluster.run(&format!(
            "CREATE TABLE {table} (id bigint, tenant bigint, uuid uuid, PRIMARY KEY ({key})) {partitioned};
             CREATE INDEX ON {table} (id); CREATE INDEX ON {table} (uuid)"
        ));
        cluster.run(distribute);
        if table == "parts" {
            cluster.run(
                "DO $$ BEGIN FOR month IN 1..5 LOOP EXECUTE format('CREATE TABLE parts_%s PARTITION OF parts FOR VALUES FROM (%s) TO (%s)', month,
                     snowflake_min(make_timestamptz(2026, month, 1, 0, 0, 0), 'twitter'),
                     snowflake_min(make_timestamptz(2026, month + 1, 1, 0, 0, 0), 'twitter')); END LOOP; END $$",
            );
        }
        cluster.run(&format!("INSERT INTO {table} {ROWS}"));
        cluster.run(&format!("ANALYZE {table}"));
    }
    Some(cluster)
}

/// The plan with all tasks, which has the plan of each shard.
fn plan(session: &mut Session, sql: &str) -> String {
    session.run("SET citus.explain_all_tasks = on");
    session
        .column::<String>(&format!("EXPLAIN (COSTS OFF) {sql}"))
        .join("\n")
}

/// The rows of a query with the setting on or off, on all nodes.
fn rows(session: &mut Session, sql: &str, setting: &str) -> Vec<String> {
    session.run("BEGIN; SET LOCAL citus.propagate_set_commands = 'local'");
    session.run(&format!("SET LOCAL pg_mint.time_predicates = {setting}"));
    let rows = session.column(sql);
    session.run("COMMIT");
    rows
}

#[test]
fn each_shard_uses_its_index() {
    let cluster = or_skip!(filled_cluster("indexes of shards"));
    for mut session in cluster.sessions() {
        for (table, _) in TABLES {
            for column in ["snowflake_time(id, 'twitter')", "uuid_v7_time(uuid)"] {
                let when = "> timestamptz '2026-03-15'";
                let plan = plan(
                    &mut session,
                    &format!("SELECT count(*) FROM {table} WHERE {column} {when}"),
                );
                let tasks = plan.matches("->  Task\n").count();
                assert_eq!(tasks, if table == "reference" { 1 } else { 8 }, "{plan}");
                let conditions = plan.matches("Index Cond: ").count();
                assert!(
                    conditions >= tasks,
                    "{table}: {conditions} of {tasks}\n{plan}"
                );
                if table == "parts" && column.starts_with("snowflake") {
                    assert!(
                        !plan.contains("on parts_1_") && !plan.contains("on parts_2_"),
                        "{plan}"
                    );
                }
            }
        }
        // One tenant, one shard.
        let one = "SELECT count(*) FROM hashed WHERE tenant = 7 AND snowflake_time(id, 'twitter') > timestamptz '2026-03-15'";
        let one = plan(&mut session, one);
        assert!(one.contains("Task Count: 1\n"), "{one}");
        assert!(one.contains("Index Cond: "), "{one}");
    }
}

#[test]
fn the_rows_are_the_same_on_and_off() {
    let cluster = or_skip!(filled_cluster("the same rows"));
    let mut rng = Rng::from_environment();
    let mut found = 0;
    for round in 0..count(60, 12) {
        let mut session = cluster.session(round % cluster.count());
        let (table, _) = rng.pick(&TABLES);
        let start = format!(
            "timestamptz '2026-01-01' + interval '{} min'",
            rng.below(150_000)
        );
        let end = format!("{start} + interval '{} min'", rng.below(20_000));
        let column = rng.pick(&["snowflake_time(id, 'twitter')", "uuid_v7_time(uuid)"]);
        let condition = match rng.below(4) {
            0 => format!("{column} > {start}"),
            1 => format!("{column} <= {end}"),
            2 => format!("{column} BETWEEN {start} AND {end}"),
            _ => format!("{column} >= {start} AND {column} < {end} AND tenant < 25"),
        };
        let sql = format!("SELECT id || ' ' || uuid FROM {table} WHERE {condition} ORDER BY id");
        let off = rows(&mut session, &sql, "off");
        assert_eq!(rows(&mut session, &sql, "on"), off, "{sql}");
        found += off.len();
    }
    assert!(found > 1_000, "only {found} rows");
}
