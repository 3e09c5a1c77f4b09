//! A node whose metadata is not there: while the server is upgraded, and where it is not synchronized.

use mint_cluster::citus::cluster::Cluster;
use mint_cluster::{Session, or_skip};

#[track_caller]
fn assert_no_node(session: &mut Session, call: &str, words: &str) {
    let refusal = session.refused(call, "55000");
    refusal.assert_message("is not a node of a Citus cluster");
    assert!(refusal.to_string().contains(words), "{call}: {refusal}");
    assert!(!refusal.hint.is_empty(), "{call}: {refusal}");
}

#[track_caller]
fn assert_upgrading(session: &mut Session) {
    for call in [
        "SELECT snowflake_next_id()",
        "SELECT snowflake_next('twitter')",
        "SELECT snowflake_next_id(1)",
        "SELECT snowflake_next_id(6)",
        "SET pg_mint.node = 'citus'; SELECT snowflake_next_id()",
    ] {
        assert_no_node(session, call, "citus_finish_pg_upgrade");
    }
    session.run("RESET pg_mint.node");
}

fn shard(session: &mut Session) -> i32 {
    session.one("SELECT snowflake_shard(snowflake_next('twitter'), 'twitter')")
}

/// Citus's tables are empty between pg_upgrade and `citus_finish_pg_upgrade()`.
#[test]
fn an_upgrade_has_no_group() {
    let cluster = or_skip!(Cluster::start("an upgrade", 2));
    let mut early = cluster.session(1);
    assert_eq!(shard(&mut early), 1);
    let mut worker = cluster.session(1);
    let empty = |table: &str| {
        format!("CREATE TABLE public.{table} AS SELECT * FROM {table}; DELETE FROM {table}")
    };
    worker.run(&empty("pg_dist_local_group"));
    assert_upgrading(&mut cluster.session(1));
    // Only a change of this one is told to other sessions.
    worker.run(&empty("pg_dist_node"));
    assert_upgrading(&mut early);
    assert_upgrading(&mut cluster.session(1));
    let fill = |table: &str| format!("INSERT INTO {table} SELECT * FROM public.{table};");
    worker.run(&(fill("pg_dist_node") + &fill("pg_dist_local_group")));
    assert_eq!(shard(&mut early), 1);
}

/// A real upgrade, to a server that has Citus as well.
#[test]
fn an_upgraded_worker_has_its_group() {
    let mut cluster = or_skip!(Cluster::start("an upgraded worker", 2));
    cluster.create_events();
    let mut rows = 0;
    let mut fill = |cluster: &Cluster| {
        rows += cluster.insert_events(200);
        cluster.assert_unique("ev", "id", rows);
    };
    fill(&cluster);
    let newest: i64 = cluster.session(1).one("SELECT snowflake_next('twitter')");
    or_skip!(cluster.upgrade(1, |newer| {
        assert_upgrading(&mut newer.connect("postgres"));
    }));
    let mut worker = cluster.session(1);
    assert_eq!(shard(&mut worker), 1);
    assert!(worker.one::<i64>("SELECT snowflake_next('twitter')") > newest);
    fill(&cluster);
}

#[test]
fn a_worker_without_metadata_has_no_group() {
    let cluster = or_skip!(Cluster::start("no metadata", 2));
    let mut early = cluster.session(1);
    assert_eq!(shard(&mut early), 1);
    let there = cluster.node(1).socket().display().to_string();
    cluster.run(&format!(
        "SELECT stop_metadata_sync_to_node('{there}', 5432)"
    ));
    let mut worker = cluster.session(1);
    for session in [&mut early, &mut worker] {
        session.run("SET pg_mint.node = 'citus'");
        assert_no_node(
            session, "SELECT snowflake_next_id()", "start_metadata_sync_to_node",
        );
    }
    cluster.run(&format!(
        "SELECT start_metadata_sync_to_node('{there}', 5432)"
    ));
    for session in [&mut early, &mut worker] {
        assert_eq!(shard(session), 1);
    }
    // A part of the metadata.
    worker.run("DELETE FROM pg_dist_node WHERE groupid = 1");
    for session in [&mut early, &mut worker] {
        assert_no_node(
            session, "SELECT snowflake_next_id()", "start_metadata_sync_to_node",
        );
    }
}
