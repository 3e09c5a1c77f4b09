//! A registry in a cluster that makes a tenant of each new schema, and nodes of the cluster that lease from it.

use mint_cluster::citus::cluster::{Cluster, Number};
use mint_cluster::{extension_folder, or_skip, say};

const SETTINGS: [&str; 3] = [
    "citus.enable_schema_based_sharding = on",
    "pg_mint.node = 'auto'",
    "pg_mint.registry = 'registry'",
];

/// The registry is on the coordinator, which leases from itself.
fn start(name: &str) -> Option<Cluster> {
    let cluster = Cluster::start_with(name, 2, Number::Unset, &SETTINGS)?;
    if !extension_folder().join("dblink.control").exists() {
        say(format!("SKIPPED {name}: this server tree has no dblink"));
        return None;
    }
    cluster.run("SELECT mint.registry_create()");
    // Each node has a foreign server of its own making, as Citus sends only some of it.
    for mut session in cluster.sessions() {
        session
            .run("SET citus.enable_ddl_propagation = off; CREATE EXTENSION IF NOT EXISTS dblink");
        session.run(&format!(
            "CREATE SERVER registry FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '{}', port '5432', dbname 'postgres', connect_timeout '3')",
            cluster.node(0).socket().display()
        ));
        session.run("CREATE USER MAPPING FOR postgres SERVER registry OPTIONS (user 'postgres')");
    }
    Some(cluster)
}

#[test]
fn nodes_lease_from_a_registry_in_the_cluster() {
    let cluster = or_skip!(start("a registry in a cluster"));
    let mut session = cluster.session(0);
    let distributed: Vec<String> = session.column(
        "SELECT logicalrelid::text FROM pg_dist_partition WHERE logicalrelid::text LIKE 'mint.registry%' ORDER BY 1",
    );
    assert!(
        distributed.is_empty(),
        "tables of the registry are distributed: {distributed:?}"
    );
    session.run("SET citus.enable_schema_based_sharding = off");
    session.run(
        "CREATE TABLE ev (id bigint NOT NULL DEFAULT snowflake_next('twitter'), tenant bigint)",
    );
    session.run("SELECT create_distributed_table('ev', 'tenant')");
    let insert = "INSERT INTO ev (tenant) SELECT n FROM generate_series(1, 200) AS n";
    for mut session in cluster.sessions() {
        // The first lease takes as long as the registry waits.
        cluster
            .node(0)
            .until_minted(|| session.try_one::<i64>("SELECT snowflake_next('twitter')"));
        session.run(insert);
        session.run("INSERT INTO ev (tenant) SELECT tenant FROM ev LIMIT 200");
    }
    // Moving shards of tenants leaves the registry where it is.
    cluster.rebalance();
    for mut session in cluster.sessions() {
        session.run(insert);
    }
    cluster.assert_unique("ev", "id", 3 * 600);
    let shards = cluster.shards_of("ev", "id", "twitter");
    assert_eq!(shards.len(), 3, "each node has leased one: {shards:?}");
    let leased: i64 = session.one("SELECT count(*) FROM mint.registry_leases WHERE node_bits = 10");
    assert_eq!(leased, 3);
}

/// A shard that a node lists is its own, and that of no other.
#[test]
fn a_listed_shard_is_of_one_node() {
    let cluster = or_skip!(start("a listed shard"));
    cluster.run("SET citus.enable_schema_based_sharding = off; CREATE TABLE ev (id bigint NOT NULL DEFAULT snowflake_next_id(5, 'twitter'), tenant bigint)");
    cluster.run("SELECT create_distributed_table('ev', 'tenant')");
    let mut sessions = cluster.sessions();
    sessions[1].set_for_server("pg_mint.own_shards", "'5, 100-163'");
    for shard in [5, 100, 163] {
        let call = format!("SELECT snowflake_next_id({shard}, 'twitter')");
        cluster
            .node(1)
            .until_minted(|| sessions[1].try_one::<i64>(&call));
        for other in [0, 2] {
            let refusal = sessions[other].refused(&call, "55000");
            refusal.assert_message("does not belong");
        }
    }
    // The own group is nothing here, where the registry grants all.
    for (group, session) in sessions.iter_mut().enumerate() {
        let refusal = session.refusal(&format!("SELECT snowflake_next_id({group}, 'twitter')"));
        refusal.assert_message("does not belong");
    }
    // Values of the node of the session; then a default that both workers evaluate.
    let values = "INSERT INTO ev (tenant) SELECT n FROM generate_series(1, 200) AS n";
    sessions[1].run(values);
    for other in [0, 2] {
        sessions[other].refused(values, "55000");
    }
    sessions[1].refused("INSERT INTO ev (tenant) SELECT tenant FROM ev", "55000");
    cluster.assert_unique("ev", "id", 200);
    assert_eq!(cluster.shards_of("ev", "id", "twitter"), [5]);
}
