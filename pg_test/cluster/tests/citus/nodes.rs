//! The number of each node: the group of the cluster, and that no statement generates ids with the number of another node.
//!
//! Ids with two generators of the same shard are found as duplicates, so each test also counts them.

use mint_cluster::citus::cluster::{Cluster, Number, builder};
use mint_cluster::{Refusal, Server, Session, or_skip};

const SCHEMA: &str = "CREATE TABLE src (author bigint PRIMARY KEY, topic bigint);
    CREATE TABLE ev (id bigint NOT NULL DEFAULT snowflake_next_id(6), tenant bigint NOT NULL, PRIMARY KEY (tenant, id));
    SELECT create_distributed_table('src', 'author');
    SELECT create_distributed_table('ev', 'tenant');
    INSERT INTO src SELECT n, n % 97 FROM generate_series(1, 1000) AS n";

/// Asserts that an explicit shard, or the number of a setting, was refused as that of another node.
#[track_caller]
fn assert_not_own(refusal: &Refusal) {
    assert_eq!(refusal.code, "55000", "{refusal}");
    refusal.assert_message("does not belong to this node");
    refusal.assert_message("Citus");
    refusal.assert_hint("snowflake_next(");
    refusal.assert_hint("snowflake_next(layout)");
}

#[track_caller]
fn assert_no_node(refusal: &Refusal) {
    assert_eq!(refusal.code, "55000", "{refusal}");
    refusal.assert_message("Citus");
}

fn own_shards(session: &mut Session, shards: &str) {
    session.set_for_server("pg_mint.own_shards", &format!("'{shards}'"));
}

/// The first line of the README on a cluster: 1000 rows had 522 different ids.
#[test]
fn an_explicit_shard_makes_no_duplicates() {
    for number in [Number::Unset, Number::Citus, Number::Group] {
        let cluster = or_skip!(Cluster::start_with("an explicit shard", 2, number, &[]));
        cluster.run(SCHEMA);
        for mut session in cluster.sessions() {
            for sql in [
                "INSERT INTO ev (tenant) SELECT author FROM src",
                "INSERT INTO ev (tenant) SELECT topic FROM src",
                "INSERT INTO ev (tenant) VALUES (1)",
                "SELECT snowflake_next_ids(6, 10)",
            ] {
                assert_not_own(&session.refusal(sql));
            }
        }
        cluster.assert_unique("ev", "id", 0);
        // The statement that corrects it.
        cluster.run("ALTER TABLE ev ALTER COLUMN id SET DEFAULT snowflake_next('instagram')");
        for mut session in cluster.sessions() {
            session.run("INSERT INTO ev (tenant) SELECT author FROM src");
            session.run("INSERT INTO ev (tenant) VALUES (1)");
        }
        cluster.assert_unique("ev", "id", 3 * 1_001);
        assert_eq!(cluster.shards_of("ev", "id", "instagram"), [0, 1, 2]);
    }
}

#[test]
fn a_node_uses_its_own_shards() {
    let cluster = or_skip!(Cluster::start_with("own shards", 2, Number::Unset, &[]));
    let mut sessions = cluster.sessions();
    for (group, session) in sessions.iter_mut().enumerate() {
        // Its own group, always.
        session.one::<i64>(&format!("SELECT snowflake_next_id({group})"));
        assert_not_own(&session.refusal("SELECT snowflake_next_id(5)"));
    }
    own_shards(&mut sessions[1], "5, 100-163");
    for shard in [5, 100, 163] {
        sessions[1].one::<i64>(&format!("SELECT snowflake_next_id({shard})"));
        assert_not_own(&sessions[2].refusal(&format!("SELECT snowflake_next_id({shard})")));
    }
    for shard in [4, 6, 99, 164] {
        assert_not_own(&sessions[1].refusal(&format!("SELECT snowflake_next_id({shard})")));
    }
    // A shard that was judged before is judged again.
    own_shards(&mut sessions[1], "100-163");
    assert_not_own(&sessions[1].refusal("SELECT snowflake_next_id(5)"));
    own_shards(&mut sessions[0], "all");
    for shard in [5, 64, 8_191] {
        sessions[0].one::<i64>(&format!("SELECT snowflake_next_id({shard})"));
    }
    // Shards of other nodes are refused all the same, as those generate ids of them without being asked.
    for group in [1, 2] {
        assert_not_own(&sessions[0].refusal(&format!("SELECT snowflake_next_id({group})")));
    }
    own_shards(&mut sessions[1], "0-9");
    for group in [0, 2] {
        assert_not_own(&sessions[1].refusal(&format!("SELECT snowflake_next_id({group})")));
    }
    for shard in [1, 3, 9] {
        sessions[1].one::<i64>(&format!("SELECT snowflake_next_id({shard})"));
    }
    // Only the configuration of a server says so: Citus repeats what a role, a database or a transaction sets on all nodes.
    for set in [
        "SET pg_mint.own_shards = '6'",
        "ALTER ROLE postgres SET pg_mint.own_shards = '6'",
    ] {
        sessions[2].refused(set, "55P02");
    }
    sessions[0].run("CREATE ROLE app LOGIN; GRANT CREATE ON SCHEMA public TO app");
    let mut app = cluster.node(2).connect_as("app", "postgres");
    assert_not_own(&app.refusal("SELECT snowflake_next_id(5)"));
    app.refused("SET pg_mint.own_shards = 'all'", "55P02");
}

/// `ALTER ROLE` and `ALTER DATABASE` reach all nodes, so that all have one number.
#[test]
fn a_number_that_citus_sends_to_all_is_refused() {
    let cluster = or_skip!(Cluster::start_with(
        "one number for all",
        2,
        Number::Unset,
        &[]
    ));
    cluster.run("CREATE ROLE app LOGIN; LOAD 'pg_mint'; ALTER ROLE app SET pg_mint.node = 1");
    cluster.wait_for_metadata();
    for place in 0..3 {
        let mut app = cluster.node(place).connect_as("app", "postgres");
        // The library is loaded by the first call.
        let answer = app.try_one::<i64>("SELECT snowflake_next_id()");
        match (place, answer) {
            (1, answer) => assert!(answer.is_ok(), "the group has the number"),
            (_, Ok(id)) => panic!("{id} at node {place}"),
            (_, Err(refusal)) => assert_not_own(&refusal),
        }
    }
}

/// One value for all nodes, sent by Citus: the group of each.
#[test]
fn the_group_is_a_setting_for_all() {
    let mut cluster = or_skip!(Cluster::start_with("citus for all", 2, Number::Unset, &[]));
    cluster.run("LOAD 'pg_mint'; ALTER DATABASE postgres SET pg_mint.node = 'citus'");
    cluster.create_events();
    let new = cluster.add_worker();
    assert_eq!(cluster.group(new), 3);
    cluster.rebalance();
    let rows = cluster.insert_events(500);
    cluster.assert_unique("ev", "id", rows);
    assert_eq!(cluster.shards_of("ev", "id", "twitter"), [0, 1, 2, 3]);
}

/// A server with Citus that is no node, and one without Citus.
#[test]
fn a_server_without_a_cluster_has_no_group() {
    let cluster = or_skip!(Cluster::start_with("no members", 1, Number::Citus, &[]));
    let lone = builder("alone", 0, Number::Citus, &[]).start_empty();
    let mut session = lone.connect("postgres");
    session.run("CREATE EXTENSION pg_mint");
    assert_no_node(&session.refusal("SELECT snowflake_next_id()"));
    // Citus is there, and the group is 0: that of a worker that was not added, too.
    session.run("CREATE EXTENSION citus");
    let refusal = session.refusal("SELECT snowflake_next_id()");
    assert_no_node(&refusal);
    refusal.assert_hint("citus_set_coordinator_host");
    // Explicit shards are as everywhere, as nothing else can be meant.
    session.one::<i64>("SELECT snowflake_next_id(6)");
    // Another database of a server with a node.
    cluster.run("CREATE DATABASE other");
    let mut other = cluster.node(0).connect("other");
    other.run("SET citus.enable_ddl_propagation = off; CREATE EXTENSION pg_mint");
    assert_no_node(&other.refusal("SELECT snowflake_next_id()"));
    other.one::<i64>("SELECT snowflake_next_id(6)");
    // A lone coordinator that says so is node 0.
    session.run(&format!(
        "SELECT citus_set_coordinator_host('{}', 5432)",
        lone.socket().display()
    ));
    let id: i64 = session.one("SELECT snowflake_next_id()");
    assert_eq!(
        session.one::<i32>(&format!("SELECT snowflake_shard({id})")),
        0
    );
    // Nothing else can have a shard that it names.
    session.one::<i64>("SELECT snowflake_next_id(6)");
}

#[test]
fn a_group_beyond_the_layout_is_refused() {
    let cluster = or_skip!(Cluster::start_with("a high group", 0, Number::Citus, &[]));
    let worker: Server = builder("group 1500", 0, Number::Citus, &[]).start_empty();
    mint_cluster::citus::cluster::introduce(&worker);
    worker.run("CREATE EXTENSION citus");
    cluster.run(&format!(
        "SELECT citus_add_node('{}', 5432, groupid := 1500)",
        worker.socket().display()
    ));
    let mut session = worker.connect("postgres");
    // instagram has 13 bits, twitter 10.
    session.one::<i64>("SELECT snowflake_next('instagram')");
    let refusal = session.refusal("SELECT snowflake_next('twitter')");
    refusal.assert_message("1500");
    // Citus leaves a removed node its metadata, and gives its group to no other unless told to.
    cluster.run(&format!(
        "SELECT citus_remove_node('{}', 5432)",
        worker.socket().display()
    ));
    let shard: i32 = session.one("SELECT snowflake_shard(snowflake_next('instagram'))");
    assert_eq!(shard, 1_500);
}

/// Groups are those of a database: a worker in one can be the coordinator in another.
#[test]
fn two_databases_of_a_server_have_different_groups() {
    let cluster = or_skip!(Cluster::start_with("two databases", 1, Number::Unset, &[]));
    let worker = cluster.node(1);
    let mut first = worker.connect("postgres");
    first.run("SET citus.enable_create_database_propagation = off");
    first.run("CREATE DATABASE second");
    let mut second = worker.connect("second");
    second.run("CREATE EXTENSION citus; CREATE EXTENSION pg_mint");
    second.run(&format!(
        "SELECT citus_set_coordinator_host('{}', 5432)",
        worker.socket().display()
    ));
    for round in 0..3 {
        for (session, group) in [(&mut first, 1), (&mut second, 0)] {
            let shard: i32 =
                session.one("SELECT snowflake_shard(snowflake_next('twitter'), 'twitter')");
            assert_eq!(shard, group, "round {round}");
        }
    }
}
