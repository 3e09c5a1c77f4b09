//! `mint.health()` beside other servers: standbys, replication, and a registry that is away.

use mint_cluster::registry::members::{first_id, refused_for, request};
use mint_cluster::{Registry, Server, or_skip};
use std::time::{Duration, Instant};

/// A number that is right raises no alarm beside standbys and subscriptions; what tells of equal ids does.
#[test]
fn a_node_is_judged_by_evidence() {
    let build = |name: &str| Server::build(name).conf("pg_mint.node = 5\nwal_level = logical");
    let (server, other) = (build("one side").start(), build("other side").start());
    let [mut session, mut there] = [&server, &other].map(|server| server.connect("postgres"));
    for session in [&mut session, &mut there] {
        session.run("CREATE TABLE t (id bigint PRIMARY KEY DEFAULT snowflake_next_id()); CREATE PUBLICATION p FOR TABLE t");
    }
    let standby = server.standby("standby");
    server.wait_for(&standby);
    let mut on_standby = standby.connect("postgres");
    on_standby.run("SET transaction_read_only = on");
    for check in ["node", "ceiling", "clock"] {
        assert_eq!(on_standby.health(check), "ok", "{check}");
    }
    on_standby.run("SELECT * FROM mint.stats; SELECT * FROM mint.lanes");
    let all: i64 = on_standby.one("SELECT count(*) FROM mint.health()");
    assert_eq!(all, 11);
    for (session, from) in [(&mut session, &other), (&mut there, &server)] {
        session.run(&format!(
            "CREATE SUBSCRIPTION {} CONNECTION 'host={} port=5432 user=postgres dbname=postgres' PUBLICATION p WITH (copy_data = false)",
            if from.name() == other.name() { "s" } else { "s2" },
            from.socket().display()
        ));
        session.assert_health("node is ok: Node 5 is fixed.");
    }
    session.run("ALTER TABLE t ALTER id SET DEFAULT snowflake_next_id(5)");
    session.assert_health("node is warning: passes shard 5");
    session.run("ALTER TABLE t ALTER id SET DEFAULT snowflake_next_id()");
    session.assert_health("node is ok");
    there.run("ALTER SUBSCRIPTION s2 DISABLE; INSERT INTO t VALUES (7)");
    server.until("a row of the other side", || {
        session.one::<i64>("SELECT count(*) FROM t") == 1
    });
    session.run("ALTER SUBSCRIPTION s DISABLE; INSERT INTO t VALUES (8)");
    there.run("INSERT INTO t VALUES (8)");
    session.run("ALTER SUBSCRIPTION s ENABLE");
    server.until("a conflict", || session.health("node") == "warning");
    session.assert_health("node is warning: could not apply rows");
    session.run("ALTER SUBSCRIPTION s DISABLE; SELECT pg_stat_reset_subscription_stats(NULL)");
    server.until("the count is zero", || session.health("node") == "ok");
    session.run("ALTER SYSTEM SET pg_mint.node = 5000");
    session.run("SELECT pg_reload_conf()");
    server.until("a number of the ring", || {
        let select = "SELECT detail FROM mint.health() WHERE check_name = 'node'";
        session
            .one::<String>(select)
            .contains("A registry could lease it")
    });
    session.assert_health("node is ok");
    session.run("SELECT mint.registry_create()");
    assert!(request(&mut session, 13, r#"{"grant": 1}"#).contains("wait"));
    session.assert_health("node is warning: Node 5000 is fixed. A registry could lease it");
}

/// The check tells it before the first member asks for a node, too.
#[test]
fn the_wait_of_a_registry_is_noticed() {
    const GRANTS_NONE: &str = "The registry of this database grants no new leases for another";
    let server = Server::start("a registry that waits");
    let mut session = server.connect("postgres");
    session.run("SELECT mint.registry_create()");
    assert!(request(&mut session, 13, r#"{"grant": 1}"#).contains("wait"));
    session.run("BEGIN READ ONLY");
    session.assert_health(&format!("registry is ok: {GRANTS_NONE}"));
    session.run("COMMIT");
    server.create_database("other");
    let mut other = server.connect("other");
    let detail: String =
        other.one("SELECT detail FROM mint.health() WHERE check_name = 'registry'");
    assert_eq!(detail, "No registry is set.");
}

#[test]
fn a_registry_that_is_away_is_noticed_without_asking_it() {
    let registry = or_skip!(Registry::start("away"));
    let member = registry.auto("member");
    let mut session = member.connect("postgres");
    session.assert_health("registry is ok: No session has needed");
    member.until_minted(|| session.try_one::<i64>("SELECT snowflake_next_id()"));
    for check in ["registry", "workers"] {
        assert_eq!(session.health(check), "ok", "{check}");
    }
    let frozen = registry.server.freeze();
    for worse in ["warning", "critical"] {
        member.until(worse, || session.health("registry") == worse);
    }
    let begun = Instant::now();
    session.run("SELECT * FROM mint.health()");
    assert!(
        begun.elapsed() < Duration::from_millis(500),
        "{:?}",
        begun.elapsed()
    );
    drop(frozen);
    member.until("a renewed lease", || session.health("registry") == "ok");
    session.run("SET pg_mint.node = 5000");
    let refusal = session.refusal("SELECT snowflake_next_id()");
    assert_eq!(refusal.code, "55000", "{refusal}");
    session.assert_health("node is critical: shards from the middle");
}

/// Any role may ask for a node of any width. A lease that no column needs is a warning.
#[test]
fn a_lease_that_no_column_needs_is_a_warning() {
    const NARROW: &str =
        "SELECT snowflake_next('time:41 shard:8 seq:14 unit:1ms epoch:2020-01-01T00:00:00Z')";
    let registry = or_skip!(Registry::start("leases of others"));
    registry.connect().run(
        "INSERT INTO mint.registry_leases (node_bits, node, holder, lease_until)
         SELECT 8, n, 'kept', 'infinity' FROM generate_series(128, 255) AS n",
    );
    let member = registry.auto("member");
    first_id(&member, "SELECT snowflake_next_id()");
    let mut session = member.connect("postgres");
    session.run("CREATE ROLE eve LOGIN");
    let mut eve = member.connect_as("eve", "postgres");
    eve.refusal(NARROW);
    refused_for(&member, NARROW, "no node is free");
    session.assert_health("registry is warning: 8 bits");
    session.run(&format!(
        "CREATE TABLE item (id bigint DEFAULT ({}))",
        NARROW.trim_start_matches("SELECT ")
    ));
    session.assert_health("registry is critical: no node is free");
    let hint: String = session.one("SELECT hint FROM mint.health() WHERE check_name = 'registry'");
    assert!(
        !hint.contains("Check mint.leases"),
        "one lease is well: {hint}"
    );
    session.run("DROP TABLE item");
    registry
        .connect()
        .run("UPDATE mint.registry_leases SET lease_until = '-infinity', lease_from = '-infinity'  WHERE node_bits = 8");
    first_id(&member, NARROW);
    session.assert_health("registry is ok");
}

#[test]
fn a_worker_that_cannot_start_is_noticed() {
    let registry = or_skip!(Registry::start("no workers"));
    let builder = Server::build("member").conf(
        "pg_mint.node = 'auto'\nmax_worker_processes = 0\nmax_logical_replication_workers = 0",
    );
    let member = registry.admit(builder);
    let mut session = member.connect("postgres");
    session.assert_health("workers is ok");
    session.refusal("SELECT snowflake_next_id()");
    session.assert_health("workers is critical: pg_mint registry");
    session.assert_health("registry is critical: has no lease");
    session.run("SELECT segment_create('orders', source => 'registry'); SET pg_mint.max_wait = 0");
    let refusal = session.refusal("SELECT segment_next('orders')");
    assert!(refusal.hint.contains("max_worker_processes"), "{refusal}");
    session.assert_health("sequences is critical: foreign server");
}
