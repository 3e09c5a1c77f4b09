//! A cluster that changes: workers join, leave and come back, shards move, a standby is promoted, the coordinator is down.

use mint_cluster::citus::cluster::Cluster;
use mint_cluster::load::sessions::while_minting;
use mint_cluster::{count, or_skip};

const TABLE: &str = "CREATE TABLE ev (id bigint NOT NULL DEFAULT snowflake_next('twitter'), tenant bigint NOT NULL, PRIMARY KEY (tenant, id));
    SELECT create_distributed_table('ev', 'tenant')";
/// From each node, to all shards.
const INSERT: &str = "INSERT INTO ev (tenant) SELECT n FROM generate_series(1, 200) AS n";

/// Inserts from some of the nodes. Returns the number of rows.
fn insert(cluster: &Cluster, places: &[usize]) -> usize {
    for &place in places {
        let mut session = cluster.session(place);
        session.run(INSERT);
        // From shards, so on the workers.
        session.run("INSERT INTO ev (tenant) SELECT tenant FROM ev ORDER BY tenant LIMIT 200");
    }
    400 * places.len()
}

#[test]
fn shards_move_and_workers_come_and_go() {
    let mut cluster = or_skip!(Cluster::start("moved shards", 2));
    cluster.run(TABLE);
    let mut rows = insert(&cluster, &[0, 1, 2]);
    // A third worker takes a part of the shards, and generates ids at once.
    let third = cluster.add_worker();
    rows += insert(&cluster, &[third]);
    cluster.rebalance();
    rows += insert(&cluster, &[0, 1, 2, third]);
    cluster.assert_unique("ev", "id", rows);
    assert_eq!(cluster.shards_of("ev", "id", "twitter"), [0, 1, 2, 3]);

    // It leaves: its rows keep the ids, and its number stays its own.
    cluster.remove_node(third);
    rows += insert(&cluster, &[0, 1, 2]);
    cluster.assert_unique("ev", "id", rows);
    // Added again, it is a worker of a new group.
    cluster.add_node(third);
    cluster.wait_for_metadata();
    assert_eq!(cluster.group(third), 4);
    cluster.rebalance();
    rows += insert(&cluster, &[0, 1, 2, third]);
    cluster.assert_unique("ev", "id", rows);
}

#[test]
fn rows_are_inserted_while_shards_move() {
    let mut cluster = or_skip!(Cluster::start("moves under load", 2));
    cluster.run(TABLE);
    let third = cluster.add_worker();
    let insert = "INSERT INTO ev (tenant) SELECT (random() * 1000)::bigint FROM generate_series(1, 20) RETURNING id";
    let mut records = while_minting(cluster.node(1), 2, insert, || {
        for _ in 0..count(4, 1) {
            cluster.rebalance();
            cluster.run(&format!(
                "SELECT citus_drain_node('{}', 5432, 'block_writes')",
                cluster.node(third).socket().display()
            ));
            cluster.run(&format!(
                "SELECT citus_set_node_property('{}', 5432, 'shouldhaveshards', true)",
                cluster.node(third).socket().display()
            ));
        }
    });
    let ids: Vec<Vec<i64>> = records
        .iter_mut()
        .map(|record| std::mem::take(&mut record.ids))
        .collect();
    mint_cluster::assert_unique(&ids);
    let rows = ids.iter().map(Vec::len).sum();
    cluster.assert_unique("ev", "id", rows);
}

#[test]
fn a_killed_worker_comes_back() {
    let cluster = or_skip!(Cluster::start("a killed worker", 2));
    cluster.run(TABLE);
    let mut rows = 0;
    for _ in 0..count(5, 2) {
        rows += insert(&cluster, &[0, 1, 2]);
        cluster.node(2).lose_power();
    }
    rows += insert(&cluster, &[0, 1, 2]);
    cluster.assert_unique("ev", "id", rows);
}

#[test]
fn a_standby_of_a_worker_is_promoted() {
    let mut cluster = or_skip!(Cluster::start("a promoted worker", 2));
    cluster.run(TABLE);
    let mut rows = insert(&cluster, &[0, 1, 2]);
    for _ in 0..count(3, 1) {
        let standby = cluster.standby_of(1);
        cluster.fail_over(1, standby);
        // It has the group of the node that it replaces.
        assert_eq!(cluster.group(1), 1);
        rows += insert(&cluster, &[0, 1, 2]);
        cluster.assert_unique("ev", "id", rows);
    }
    assert_eq!(cluster.shards_of("ev", "id", "twitter"), [0, 1, 2]);
}

#[test]
fn workers_continue_without_the_coordinator() {
    let cluster = or_skip!(Cluster::start("without coordinator", 2));
    cluster.run(TABLE);
    let mut rows = insert(&cluster, &[0, 1, 2]);
    cluster.node(0).cut_power();
    rows += insert(&cluster, &[1, 2]);
    cluster.node(0).start_again();
    rows += insert(&cluster, &[0, 1, 2]);
    cluster.assert_unique("ev", "id", rows);
}
