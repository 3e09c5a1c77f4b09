//! Every statement that inserts into a distributed table, from every node: where its ids come from, and none twice.

use mint_cluster::citus::cluster::{Cluster, Number};
use mint_cluster::{Session, or_skip};

const SCHEMA: &str = "CREATE TABLE src (author bigint PRIMARY KEY, topic bigint NOT NULL);
    CREATE TABLE ev (id bigint NOT NULL DEFAULT snowflake_next('twitter'), tenant bigint NOT NULL, note text, PRIMARY KEY (tenant, id));
    CREATE TABLE copies (LIKE ev INCLUDING ALL)";
const DISTRIBUTION: &str = "SELECT create_distributed_table('src', 'author');
    SELECT create_distributed_table('ev', 'tenant', colocate_with := 'src');
    SELECT create_distributed_table('copies', 'tenant', colocate_with := 'ev');
    INSERT INTO src SELECT n, n % 97 FROM generate_series(1, 1000) AS n";

/// The ways in which Citus carries out an INSERT ... SELECT, and such statements. With a default that is volatile, it never
/// sends one to shards as a whole.
#[rustfmt::skip]
const SELECTS: [(&str, &str); 6] = [
    ("repartition", "INSERT INTO ev (tenant) SELECT topic FROM src"),
    // Its rows stay on their shards.
    ("repartition", "INSERT INTO ev (tenant) SELECT author FROM src"),
    ("pull to coordinator", "INSERT INTO ev (tenant) SELECT author FROM src ORDER BY author LIMIT 1000"),
    (
        "pull to coordinator",
        "INSERT INTO ev (tenant) SELECT author FROM src UNION SELECT author + 1000000 FROM src WHERE false",
    ),
    (
        "pull to coordinator",
        "INSERT INTO ev (tenant) WITH picked AS MATERIALIZED (SELECT author FROM src) SELECT author FROM picked",
    ),
    ("pull to coordinator", "INSERT INTO ev (tenant) SELECT n FROM generate_series(1, 1000) AS n"),
];

fn cluster(name: &str, number: Number) -> Option<Cluster> {
    let cluster = Cluster::start_with(name, 2, number, &[])?;
    cluster.run(SCHEMA);
    cluster.run(DISTRIBUTION);
    Some(cluster)
}

/// The shard of a single id.
fn shard(session: &mut Session, id: i64) -> i32 {
    session.one(&format!("SELECT snowflake_shard({id}, 'twitter')"))
}

/// Inserts in every way on each node. Returns the number of rows.
fn insert_everywhere(cluster: &Cluster) -> usize {
    let mut rows = 0;
    for (place, mut session) in cluster.sessions().into_iter().enumerate() {
        let group = cluster.group(place);
        let ids: Vec<i64> = [
            "INSERT INTO ev (tenant) VALUES (1) RETURNING id",
            "INSERT INTO ev (tenant) VALUES (1), (2), (3), (4), (5) RETURNING id",
            "INSERT INTO ev (id, tenant) VALUES (snowflake_next('twitter'), 6) RETURNING id",
            "INSERT INTO ev (tenant) VALUES (7) ON CONFLICT DO NOTHING RETURNING id",
            "WITH added AS (INSERT INTO ev (tenant) VALUES (8) RETURNING id) SELECT id FROM added",
        ]
        .iter()
        .flat_map(|sql| session.column::<i64>(sql))
        .collect();
        session.run("PREPARE one(bigint) AS INSERT INTO ev (tenant) VALUES ($1)");
        for tenant in 0..10 {
            session.run(&format!("EXECUTE one({tenant})"));
        }
        session
            .try_copy_in(
                "COPY ev (tenant) FROM STDIN",
                &b"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n".repeat(100),
            )
            .expect("COPY");
        // A value that the session's own node has evaluated.
        for &id in &ids {
            assert_eq!(shard(&mut session, id), group, "an id of VALUES");
        }
        rows += ids.len() + 10 + 1_000;
        for (method, insert) in SELECTS {
            let plan = session
                .column::<String>(&format!("EXPLAIN {insert}"))
                .join("\n");
            assert!(
                plan.contains(&format!("method: {method}")),
                "{insert}\n{plan}"
            );
            session.run(insert);
            rows += 1_000;
        }
    }
    rows
}

fn every_statement(name: &str, number: Number) {
    let cluster = or_skip!(cluster(name, number));
    let mut rows = insert_everywhere(&cluster);
    cluster.assert_unique("ev", "id", rows);
    assert_eq!(cluster.shards_of("ev", "id", "twitter"), [0, 1, 2]);

    // The third method, a statement sent to the shards: the rows keep their ids.
    let mut session = cluster.session(1);
    let pushed = "INSERT INTO copies SELECT * FROM ev";
    let plan = session
        .column::<String>(&format!("EXPLAIN {pushed}"))
        .join("\n");
    assert!(!plan.contains("INSERT/SELECT method"), "{plan}");
    session.run(pushed);
    cluster.assert_unique("copies", "id", rows);

    // A worker evaluates these calls for each row of its shards.
    session.run("INSERT INTO ev (id, tenant) SELECT snowflake_next('twitter'), author FROM src");
    session.run("INSERT INTO ev (tenant) SELECT tenant FROM copies");
    rows = 2 * rows + 1_000;
    cluster.assert_unique("ev", "id", rows);
    let drawn: Vec<i64> = session.column("SELECT snowflake_next('twitter') FROM src");
    mint_cluster::assert_unique([&drawn]);
}

#[test]
fn every_statement_with_a_number_on_each_node() {
    every_statement("statements with numbers", Number::Group);
}

#[test]
fn every_statement_with_the_group() {
    every_statement("statements with the group", Number::Citus);
}

#[test]
fn every_statement_without_a_setting() {
    every_statement("statements without a setting", Number::Unset);
}
