//! `mint.health()` beside other servers: standbys, replication, and a registry that is away.

use super::{assert_status, status};
use mint_cluster::registry::members::{create_registry_in_quarantine, first_id};
use mint_cluster::{Registry, Server};
use std::time::{Duration, Instant};

#[test]
fn a_fixed_node_beside_others_is_noticed() {
    let server = Server::build("fixed node")
        .conf("pg_mint.node = 5\nwal_level = logical")
        .start();
    let mut session = server.connect("postgres");
    session.run("SELECT snowflake_next_id()");
    assert_eq!(status(&mut session, "node"), "ok");
    let standby = server.standby("standby");
    server.wait_for(&standby);
    // As documented: a standby has another node in its files, or replaces this server.
    assert_status(&mut session, "node", "ok", "receive what this one writes");
    let mut there = standby.connect("postgres");
    there.run("SET transaction_read_only = on");
    assert_status(&mut there, "node", "ok", "is a standby");
    // A number that the database has, its standbys have, too.
    session.run("ALTER DATABASE postgres SET pg_mint.node = 6");
    server.wait_for(&standby);
    assert_status(&mut session, "node", "warning", "set for a database");
    assert_status(&mut there, "node", "warning", "set for a database");
    session.run("ALTER DATABASE postgres RESET pg_mint.node");
    server.wait_for(&standby);
    assert_status(&mut there, "node", "ok", "is a standby");
    assert_status(&mut there, "ceiling", "ok", "is a standby");
    assert_status(&mut there, "clock", "ok", "");
    there.run("SELECT * FROM mint.stats; SELECT * FROM mint.lanes");
    let all: i64 = there.one("SELECT count(*) FROM mint.health()");
    assert_eq!(all, 22);
    session.run("ALTER SYSTEM SET pg_mint.node = -1");
    session.run("SELECT pg_reload_conf()");
    server.until("no fixed node", || status(&mut session, "node") == "ok");
    drop(standby);
    server.until("the standby is gone", || {
        session.one::<i64>("SELECT count(*) FROM pg_stat_replication") == 0
    });
    session.run("ALTER SYSTEM SET pg_mint.node = 5");
    session.run("SELECT pg_reload_conf()");
    server.until("a fixed node", || {
        session
            .one::<String>("SELECT detail FROM mint.health() WHERE check_name = 'node'")
            .contains("Node 5")
    });
    assert_eq!(status(&mut session, "node"), "ok");
    session.run(
        "CREATE SUBSCRIPTION s CONNECTION 'dbname=nowhere' PUBLICATION p WITH (connect = false)",
    );
    assert_status(&mut session, "node", "warning", "has subscriptions");
}

#[test]
fn a_published_registry_and_its_quarantine_are_noticed() {
    let server = Server::build("published")
        .conf("wal_level = logical")
        .start();
    let mut session = server.connect("postgres");
    assert_status(&mut session, "quarantine", "ok", "is no registry");
    session.run("CREATE PUBLICATION everything FOR ALL TABLES");
    assert_eq!(status(&mut session, "publication"), "ok");
    session.run("CREATE ROLE member");
    create_registry_in_quarantine(&mut session, 30);
    session.run("CREATE ROLE watcher LOGIN IN ROLE pg_monitor");
    let mut watcher = server.connect_as("watcher", "postgres");
    for session in [&mut session, &mut watcher] {
        session.run("BEGIN READ ONLY");
        assert_status(session, "publication", "warning", "everything");
        assert_status(
            session,
            "quarantine",
            "warning",
            "grants no new leases for another",
        );
        session.run("COMMIT");
    }
    session.run("SELECT mint.registry_end_quarantine(); DROP PUBLICATION everything");
    assert_eq!(status(&mut watcher, "quarantine"), "ok");
    assert_eq!(status(&mut watcher, "publication"), "ok");
    session.run("CREATE PUBLICATION one FOR TABLE mint_registry.leases");
    assert_status(&mut watcher, "publication", "warning", "one");
    // Tables that cannot be trusted are a warning, and no error.
    session.run("ALTER TABLE mint_registry.registry ENABLE ROW LEVEL SECURITY");
    assert_status(&mut watcher, "quarantine", "warning", "could not be read");
    assert_status(&mut watcher, "copies", "warning", "could not be read");
}

#[test]
fn a_registry_that_is_away_is_noticed_without_asking_it() {
    let Some(registry) = Registry::start("away", 5) else {
        return;
    };
    let member = registry.auto("member");
    let mut session = member.connect("postgres");
    assert_status(&mut session, "lease", "ok", "No session has needed");
    member.until_minted(|| session.try_one::<i64>("SELECT snowflake_next_id()"));
    for check in ["lease", "registry", "workers"] {
        assert_eq!(status(&mut session, check), "ok", "{check}");
    }
    let frozen = registry.server.freeze();
    member.until("a lease that is late", || {
        status(&mut session, "lease") == "warning"
    });
    member.until("a lease that has ended", || {
        status(&mut session, "lease") == "critical"
    });
    member.until("an error of the registry", || {
        status(&mut session, "registry") == "critical"
    });
    let begun = Instant::now();
    session.run("SELECT * FROM mint.health()");
    assert!(
        begun.elapsed() < Duration::from_millis(500),
        "{:?}",
        begun.elapsed()
    );
    drop(frozen);
    member.until("a renewed lease", || {
        status(&mut session, "lease") == "ok" && status(&mut session, "registry") == "ok"
    });
}

/// Any role may ask for a node of any width. What no column needs is a warning, and is forgotten.
#[test]
fn a_lease_that_no_column_needs_is_a_warning() {
    const ONE_BIT: &str =
        "SELECT snowflake_next('time:41 shard:1 seq:20 epoch:2026-01-01T00:00:00Z')";
    const REFUSED: &str = "SELECT count(*) FROM mint.leases WHERE node_bits = 1";
    let Some(registry) = Registry::start("leases of others", 5) else {
        return;
    };
    let ben = registry.fixed("ben", "0-1");
    first_id(&ben, &ONE_BIT.replace("next(", "next_id(0, "));
    let member = registry.auto("member");
    let mut session = member.connect("postgres");
    session.run("CREATE ROLE eve LOGIN");
    let mut eve = member.connect_as("eve", "postgres");
    for is_leased in [false, true] {
        eve.refusal(ONE_BIT);
        for check in ["lease", "registry"] {
            assert_status(&mut session, check, "warning", "");
        }
        session.run(&format!(
            "CREATE TABLE item (id bigint DEFAULT ({}))",
            ONE_BIT.trim_start_matches("SELECT ")
        ));
        assert_status(&mut session, "lease", "critical", "1 bit");
        assert_status(&mut session, "registry", "critical", "are in use");
        session.run("DROP TABLE item");
        if !is_leased {
            first_id(&member, "SELECT snowflake_next_id()");
        }
    }
    assert_eq!(session.one::<i64>(REFUSED), 1);
    member.until("it is forgotten", || session.one::<i64>(REFUSED) == 0);
    for check in ["lease", "registry"] {
        assert_eq!(status(&mut session, check), "ok", "{check}");
    }
    ben.stop_fast();
    first_id(&member, ONE_BIT);
    assert_eq!(status(&mut session, "lease"), "ok");
}

#[test]
fn a_worker_that_cannot_start_is_noticed() {
    let Some(registry) = Registry::start("no workers", 5) else {
        return;
    };
    let builder = Server::build("member").conf(
        "pg_mint.node = 'auto'\nmax_worker_processes = 0\nmax_logical_replication_workers = 0",
    );
    let member = registry.admit(builder);
    let mut session = member.connect("postgres");
    assert_eq!(status(&mut session, "workers"), "ok");
    session.refusal("SELECT snowflake_next_id()");
    assert_status(&mut session, "workers", "critical", "pg_mint registry");
    assert_status(&mut session, "lease", "critical", "holds no lease");
    session.run("SELECT segment_create('s'); SELECT segment_next('s')");
    assert_status(&mut session, "workers", "critical", "pg_mint give-back");
}
