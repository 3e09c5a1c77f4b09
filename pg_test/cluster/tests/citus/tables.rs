//! Kinds of tables in a cluster, and kinds of ids as distribution columns: rows from every node, and none of their ids twice.

use mint_cluster::citus::cluster::Cluster;
use mint_cluster::or_skip;

/// Inserts rows from each node, by VALUES and by INSERT ... SELECT, into a table with the columns id and tenant. Returns
/// their number.
fn fill(cluster: &Cluster, table: &str) -> usize {
    for mut session in cluster.sessions() {
        session.run(&format!(
            "INSERT INTO {table} (tenant) VALUES (1), (2), (3)"
        ));
        session.run(&format!(
            "INSERT INTO {table} (tenant) SELECT n FROM generate_series(1, 200) AS n"
        ));
    }
    // Each row again: from shards, where the table has them.
    cluster.run(&format!(
        "INSERT INTO {table} (tenant) SELECT tenant FROM {table}"
    ));
    2 * 203 * cluster.count()
}

#[test]
fn kinds_of_tables() {
    let cluster = or_skip!(Cluster::start("kinds of tables", 3));
    let columns = "(id bigint NOT NULL DEFAULT snowflake_next('twitter'), tenant bigint NOT NULL)";
    #[rustfmt::skip]
    let cases = [
        ("hashed", "SELECT create_distributed_table('hashed', 'tenant')"),
        ("by_append", "SELECT create_distributed_table('by_append', NULL)"),
        ("reference", "SELECT create_reference_table('reference')"),
        ("of_citus", "SELECT citus_add_local_table_to_metadata('of_citus')"),
    ];
    for (table, distribute) in cases {
        cluster.run(&format!("CREATE TABLE {table} {columns}"));
        cluster.run(distribute);
        let rows = fill(&cluster, table);
        cluster.assert_unique(table, "id", rows);
    }
    // Every node has the same rows of a reference table: the value was sent, not the call.
    let mut copies = cluster
        .sessions()
        .into_iter()
        .map(|mut session| session.column::<i64>("SELECT id FROM reference ORDER BY id"));
    let first = copies.next().expect("a node");
    assert!(copies.all(|copy| copy == first));

    // Local tables of each node.
    for mut session in cluster.sessions() {
        session.run(
            "CREATE TEMP TABLE own (id bigint DEFAULT snowflake_next('twitter'), tenant bigint)",
        );
        session.run("INSERT INTO own (tenant) SELECT tenant FROM hashed");
        session.run("INSERT INTO hashed (tenant) SELECT tenant FROM own");
        let ids: i64 = session.one("SELECT count(DISTINCT id) - count(*) FROM own");
        assert_eq!(ids, 0);
    }
    let rows: i64 = cluster.session(0).one("SELECT count(*) FROM hashed");
    cluster.assert_unique("hashed", "id", rows as usize);
}

#[test]
fn a_column_with_a_default_is_added() {
    let cluster = or_skip!(Cluster::start("added columns", 2));
    cluster
        .run("CREATE TABLE old (tenant bigint); SELECT create_distributed_table('old', 'tenant')");
    cluster.run("INSERT INTO old SELECT n FROM generate_series(1, 3000) AS n");
    for (column, call) in [
        ("plain", "snowflake_next('twitter')"),
        ("of_server", "snowflake_next_id()"),
    ] {
        cluster.run(&format!(
            "ALTER TABLE old ADD COLUMN {column} bigint NOT NULL DEFAULT {call}"
        ));
        cluster.assert_unique("old", column, 3_000);
    }
    // Each worker has evaluated the call for the rows of its shards.
    assert_eq!(cluster.shards_of("old", "plain", "twitter"), [1, 2]);
    cluster.run("ALTER TABLE old ADD COLUMN uuid uuid DEFAULT uuid_v7(), ADD COLUMN object objectid DEFAULT objectid()");
    cluster.assert_unique("old", "uuid", 3_000);
    cluster.assert_unique("old", "object", 3_000);
    // New rows, whose values the session's node evaluates.
    for mut session in cluster.sessions() {
        session.run("INSERT INTO old (tenant) SELECT n FROM generate_series(1, 100) AS n");
    }
    for column in ["plain", "of_server", "uuid", "object"] {
        cluster.assert_unique("old", column, 3_300);
    }
}

/// A table distributed by the tenant, whose partitions are ranges of ids.
const PARTITIONED: &str =
    "CREATE TABLE parts (id bigint NOT NULL DEFAULT snowflake_next('twitter'), tenant bigint NOT NULL, PRIMARY KEY (tenant, id))
         PARTITION BY RANGE (id);
     SELECT create_distributed_table('parts', 'tenant')";

#[test]
fn a_distributed_table_has_partitions() {
    let cluster = or_skip!(Cluster::start("partitions", 2));
    cluster.run(PARTITIONED);
    // The partitions are distributed when they are created, and their bounds are ids.
    for day in 0..3 {
        let bound = |day: i32| -> i64 {
            cluster.session(0).one(&format!(
                "SELECT snowflake_min(date_trunc('day', now()) + interval '{} day', 'twitter')",
                day - 1
            ))
        };
        cluster.run(&format!(
            "CREATE TABLE part_{day} PARTITION OF parts FOR VALUES FROM ({}) TO ({})",
            bound(day),
            bound(day + 1)
        ));
    }
    let rows = fill(&cluster, "parts");
    cluster.assert_unique("parts", "id", rows);
    let plan = cluster
        .session(1)
        .column::<String>("EXPLAIN (COSTS OFF) SELECT count(*) FROM parts WHERE snowflake_time(id, 'twitter') < date_trunc('day', now())")
        .join("\n");
    // Each shard's server leaves out the partitions of other days.
    let is_read = |day: &i32| plan.contains(&format!("on part_{day}_"));
    let read: Vec<i32> = (0..3).filter(is_read).collect();
    assert_eq!(read, [0], "{plan}");
}

/// Citus distributes what `CREATE TABLE ... PARTITION OF` makes, so there is no plan for its tables.
#[test]
fn a_plan_of_partitions_is_refused() {
    let cluster = or_skip!(Cluster::start("a plan of partitions", 2));
    cluster.run(PARTITIONED);
    let refusal = cluster
        .session(0)
        .refusal("SELECT mint.partition_plan('parts', '1 day', 2, 'twitter')");
    assert_eq!(refusal.code, "0A000", "{refusal}");
    assert!(
        refusal.message.ends_with("which Citus has distributed"),
        "{refusal}"
    );
}

#[test]
fn schemas_are_distributed() {
    let cluster = or_skip!(Cluster::start("distributed schemas", 2));
    let mut rows = 0;
    for tenant in 0..4 {
        cluster
            .session(0)
            .run("SET citus.enable_schema_based_sharding = on");
        let mut session = cluster.session(0);
        session.run("SET citus.enable_schema_based_sharding = on");
        session.run(&format!("CREATE SCHEMA tenant{tenant}"));
        session.run(&format!(
            "CREATE TABLE tenant{tenant}.ev (id bigint PRIMARY KEY DEFAULT snowflake_next('twitter'), tenant bigint)"
        ));
        rows += fill(&cluster, &format!("tenant{tenant}.ev"));
    }
    let all = "(SELECT id FROM tenant0.ev UNION ALL SELECT id FROM tenant1.ev UNION ALL SELECT id FROM tenant2.ev UNION ALL SELECT id FROM tenant3.ev) AS ev";
    cluster.assert_unique(all, "id", rows);
}

#[test]
fn ids_are_distribution_columns() {
    let cluster = or_skip!(Cluster::start("distribution columns", 2));
    for (table, kind, call) in [
        ("of_bigint", "bigint", "snowflake_next('twitter')"),
        ("of_uuid", "uuid", "uuid_v7()"),
        ("of_objectid", "objectid", "objectid()"),
    ] {
        cluster.run(&format!(
            "CREATE TABLE {table} (id {kind} PRIMARY KEY DEFAULT {call}, tenant bigint);
             SELECT create_distributed_table('{table}', 'id')"
        ));
        let rows = fill(&cluster, table);
        cluster.assert_unique(table, "id", rows);
        for mut session in cluster.sessions() {
            // One shard has an id, and every node finds it.
            let one: String = session.one(&format!("SELECT id::text FROM {table} LIMIT 1"));
            let sought = format!("SELECT tenant FROM {table} WHERE id = '{one}'");
            let plan = session
                .column::<String>(&format!("EXPLAIN {sought}"))
                .join("\n");
            assert!(plan.contains("Task Count: 1"), "{plan}");
            session.one::<i64>(&sought);
        }
        // All shards have rows: the ids are spread.
        let fewest: i64 = cluster.session(0).one(&format!(
            "SELECT min(result::bigint) FROM run_command_on_shards('{table}', 'SELECT count(*) FROM %s')"
        ));
        assert!(
            fewest > rows as i64 / 8 / 3,
            "{table}: a shard has {fewest} of {rows}"
        );
        // Binary and as text, between nodes.
        let mut other = cluster.session(1);
        cluster.run(&format!("CREATE TABLE {table}_copy (LIKE {table}); SELECT create_distributed_table('{table}_copy', 'id')"));
        other.run(&format!("INSERT INTO {table}_copy SELECT * FROM {table}"));
        cluster.assert_unique(&format!("{table}_copy"), "id", rows);
    }
}
