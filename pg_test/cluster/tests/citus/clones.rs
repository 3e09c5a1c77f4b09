//! Clones of a worker: each has the group of its node until the cluster's metadata says that it has one of its own.

use mint_cluster::citus::cluster::Cluster;
use mint_cluster::load::sessions::{Record, while_minting};
use mint_cluster::{Session, or_skip};

const IDS: &str = "SELECT snowflake_next('twitter') FROM generate_series(1, 20)";

#[track_caller]
fn assert_uncertain(session: &mut Session) {
    for call in [
        "SELECT snowflake_next_id()",
        "SELECT snowflake_next('twitter')",
        "SELECT snowflake_next_id(1)",
        "SELECT snowflake_next_id(7)",
    ] {
        let refusal = session.refused(call, "55000");
        refusal.assert_message("is not certain");
        refusal.assert_hint("citus_promote_clone_and_rebalance");
    }
}

/// The node of a session, as its ids say.
fn shard(session: &mut Session) -> i32 {
    session.one("SELECT snowflake_shard(snowflake_next('twitter'), 'twitter')")
}

#[test]
fn a_promoted_clone_has_a_group_of_its_own() {
    let cluster = or_skip!(Cluster::start("a clone", 2));
    cluster.create_events();
    let (clone, number) = cluster.clone_of(1);
    // Clients keep asking the clone, which is a standby first, and then has the group of its node for a while.
    let mut of_clone = Vec::new();
    let of_node: Vec<Record> = while_minting(cluster.node(1), 2, IDS, || {
        of_clone = while_minting(&clone, 2, IDS, || {
            cluster.promote_clone(number);
            cluster.wait_for_metadata();
            let mut session = clone.connect("postgres");
            clone.until_minted(|| session.try_one::<i64>("SELECT snowflake_next('twitter')"));
            std::thread::sleep(std::time::Duration::from_millis(200));
        });
    });
    let ids = |records: Vec<Record>| -> Vec<i64> {
        records.into_iter().flat_map(|record| record.ids).collect()
    };
    let (of_node, of_clone) = (ids(of_node), ids(of_clone));
    mint_cluster::assert_unique([&of_node, &of_clone]);
    let mut session = clone.connect("postgres");
    assert_eq!(shard(&mut session), 3);
    let groups: Vec<i32> = session.column(&format!(
        "SELECT DISTINCT snowflake_shard(id, 'twitter') FROM unnest('{{{}}}'::bigint[]) AS id",
        of_clone
            .iter()
            .map(i64::to_string)
            .collect::<Vec<_>>()
            .join(",")
    ));
    assert_eq!(groups, [3]);
    session.run("INSERT INTO ev (tenant) SELECT n FROM generate_series(1, 100) AS n");
    session.run("INSERT INTO ev (tenant) SELECT tenant FROM ev");
    cluster.assert_unique("ev", "id", 200);
}

/// `citus_promote_clone_and_rebalance()` promotes the clone first, and can fail after that.
#[test]
fn a_clone_without_metadata_generates_nothing() {
    let cluster = or_skip!(Cluster::start("a clone alone", 2));
    cluster.create_events();
    cluster
        .node(1)
        .connect("postgres")
        .set_for_server("pg_mint.own_shards", "'7'");
    let (clone, number) = cluster.clone_of(1);
    let mut node = cluster.session(1);
    assert_eq!(shard(&mut node), 1, "the node of a clone");
    // A session that has asked before the promotion.
    let mut early = clone.connect("postgres");
    let in_recovery = early.refusal("SELECT snowflake_next_id()");
    assert_eq!(in_recovery.code, "25006", "{in_recovery}");
    clone.promote();
    assert_uncertain(&mut early);
    assert_uncertain(&mut clone.connect("postgres"));
    // Its node, and the others, continue.
    assert_eq!(shard(&mut node), 1);
    assert_eq!(shard(&mut cluster.session(2)), 2);
    cluster.run(&format!(
        "SELECT citus_remove_clone_node_with_nodeid({number})"
    ));
    assert_eq!(shard(&mut node), 1);
}

/// A cluster with a standby for failover beside the clone.
#[test]
fn a_promoted_standby_beside_a_clone_asks_for_a_word() {
    let mut cluster = or_skip!(Cluster::start("a clone and standbys", 2));
    let (_clone, number) = cluster.clone_of(1);
    // The clone of another node is no reason.
    let standby = cluster.standby_of(2);
    cluster.fail_over(2, standby);
    assert_eq!(shard(&mut cluster.session(2)), 2);
    let standby = cluster.standby_of(1);
    cluster.fail_over(1, standby);
    let mut session = cluster.session(1);
    let refusal = session.refusal("SELECT snowflake_next_id()");
    refusal.assert_hint("citus_remove_clone_node");
    cluster.run(&format!(
        "SELECT citus_remove_clone_node_with_nodeid({number})"
    ));
    assert_eq!(shard(&mut session), 1);
}
