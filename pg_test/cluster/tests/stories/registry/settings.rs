//! Changes of a member's settings while it mints, each of which takes effect with the next statement.

use super::shard;
use crate::monitor::{assert_status, status};
use mint_cluster::registry::members::{AUTO, assert_refused, create_registry};
use mint_cluster::{Registry, Server, Session, assert_ascending};
use std::thread::sleep;
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id()";
/// `auto` gets node 8191 of the first registry and node 8181 of the second.
const FIRST: &str = "SELECT snowflake_next_id(8191)";
const UNLISTED: &str = "is not leased by this server";

/// Creates a second registry, in another database of the registry's server.
fn create_second(registry: &Registry) {
    registry.server.create_database("second");
    let mut session = registry.server.connect("second");
    create_registry(&mut session, 5);
    session.run("SELECT mint.registry_reserve(13, 8182, 8191, 'others')");
}

/// Changes a setting and waits until every session has reloaded it.
fn set(session: &mut Session, setting: &str, value: &str) {
    session.set_for_server(setting, value);
    sleep(Duration::from_millis(50));
}

/// Asserts that all leases of the first registry were released before their end.
#[track_caller]
fn assert_released(registry: &Registry) {
    let mut session = registry.connect();
    registry.server.until("the nodes are released", || {
        session.one("SELECT NOT EXISTS (SELECT FROM mint_registry.nodes WHERE held)")
    });
    let early: bool = session.one("SELECT bool_and(lease_until <= now()) FROM mint_registry.nodes");
    assert!(early, "a lease was not released before its end");
}

#[test]
fn without_a_registry_auto_is_no_node() {
    // Leases that last longer than the test, to show an early release.
    let Some(registry) = Registry::start("registry reset", 10) else {
        return;
    };
    let member = registry.auto("ada");
    let mut session = member.connect("postgres");
    let mut other = member.connect("postgres");
    let before: i64 = session.one(NEXT);
    other.one::<i64>(NEXT);
    set(&mut session, "pg_mint.registry", "''");
    for asked in [&mut session, &mut other] {
        let refusal = asked.refusal(NEXT);
        assert_refused(&refusal, "parameter \"pg_mint.registry\" is not set");
        assert_refused(
            &asked.refusal("SELECT snowflake_next('twitter')"),
            "is not set",
        );
    }
    assert_released(&registry);
    assert_refused(
        &session.refusal(NEXT),
        "parameter \"pg_mint.registry\" is not set",
    );
    // Without a registry, an explicit node is not checked.
    session.one::<i64>("SELECT snowflake_next_id(5)");
    set(&mut session, "pg_mint.registry", "'registry'");
    let after = member.until_minted(|| other.try_one(NEXT));
    assert_ascending(&[before, after]);
}

/// ALTER SYSTEM RESET of the registry, and not of `auto`: no session mints as a node that is not leased any more, neither
/// while the lease would have lasted nor after it.
#[test]
fn auto_mints_nothing_once_the_registry_is_reset() {
    let Some(registry) = Registry::start("registry reset by ALTER SYSTEM", 5) else {
        return;
    };
    let member = Server::build("ada")
        .conf(AUTO)
        .distinct()
        .start_beside(&registry.server);
    let mut session = member.connect("postgres");
    session.run("CREATE EXTENSION dblink");
    registry.create_server(&mut session, "registry", "postgres");
    set(&mut session, "pg_mint.registry", "'registry'");
    let mut other = member.connect("postgres");
    for each in [&mut session, &mut other] {
        member.until_minted(|| each.try_one::<i64>(NEXT));
    }
    session.run("ALTER SYSTEM RESET pg_mint.registry");
    session.run("SELECT pg_reload_conf()");
    for each in [&mut session, &mut other] {
        member.until("the session hears of it", || {
            each.one::<String>("SHOW pg_mint.registry").is_empty()
        });
    }
    let begun = Instant::now();
    while begun.elapsed() < registry.lease + Duration::from_secs(1) {
        let mut late = member.connect("postgres");
        for each in [&mut session, &mut other, &mut late] {
            for next in [NEXT, "SELECT snowflake_next('twitter')"] {
                assert_refused(&each.refusal(next), "\"pg_mint.registry\" is not set");
            }
        }
        session.run("SELECT mint.release_leases()");
        sleep(Duration::from_millis(200));
    }
    let held: i64 = session.one("SELECT count(*) FROM mint.leases WHERE held");
    assert_eq!(held, 0);
}

/// A table with a number in its default, which a server has had for years, and then joins a registry.
#[test]
fn a_default_with_an_unlisted_number_is_noticed() {
    let Some(registry) = Registry::start("numbers in defaults", 5) else {
        return;
    };
    let member = registry.auto("ada");
    let mut session = member.connect("postgres");
    session.run(
        "CREATE TABLE visit (id bigint DEFAULT snowflake_next_id(5), other bigint DEFAULT snowflake_next_id(6, 'twitter'),
             alone bigint DEFAULT snowflake_next('time:53 seq:10 unit:1ms epoch:2026-01-01T00:00:00Z'))",
    );
    let refusal = session.refusal("INSERT INTO visit DEFAULT VALUES");
    assert_refused(&refusal, UNLISTED);
    let words = "column \"id\" of table public.visit of role \"postgres\" passes such a shard, 5. So do those of 1 more";
    assert_status(&mut session, "node", "critical", words);
    set(&mut session, "pg_mint.nodes", "'5'");
    assert_status(&mut session, "node", "critical", "passes such a shard, 6.");
    set(&mut session, "pg_mint.nodes", "'1-6'");
    assert_eq!(status(&mut session, "node"), "ok");
    session.run("INSERT INTO visit DEFAULT VALUES");
    // Without a registry, a number is trusted.
    set(&mut session, "pg_mint.nodes", "''");
    assert_status(&mut session, "node", "critical", "passes such a shard, 5.");
    set(&mut session, "pg_mint.registry", "''");
    assert_eq!(status(&mut session, "node"), "ok");
    session.run("INSERT INTO visit DEFAULT VALUES");
}

#[test]
fn another_registry_grants_other_nodes() {
    let Some(registry) = Registry::start("another registry", 10) else {
        return;
    };
    create_second(&registry);
    let member = registry.auto("ada");
    registry.create_server(&mut member.connect("postgres"), "another", "second");
    let mut session = member.connect("postgres");
    let mut other = member.connect("postgres");
    let id = session.one(NEXT);
    assert_eq!(shard(&mut session, id), 8191);
    other.one::<i64>(FIRST);
    set(&mut session, "pg_mint.registry", "'another'");
    assert_moved(&registry, &member, &mut session, &mut other);
    set(&mut session, "pg_mint.registry", "'registry'");
    let id = member.until_minted(|| other.try_one(NEXT));
    assert_eq!(shard(&mut other, id), 8191);
}

#[test]
fn a_registry_of_another_database_grants_other_nodes() {
    let Some(registry) = Registry::start("another database", 10) else {
        return;
    };
    create_second(&registry);
    let member = registry.auto("ada");
    member.connect("postgres").run("CREATE DATABASE elsewhere");
    let mut elsewhere = member.connect("elsewhere");
    elsewhere.run("CREATE EXTENSION dblink");
    registry.create_server(&mut elsewhere, "registry", "second");
    let mut session = member.connect("postgres");
    let mut other = member.connect("postgres");
    session.one::<i64>(NEXT);
    other.one::<i64>(FIRST);
    set(&mut session, "pg_mint.registry_database", "'elsewhere'");
    assert_moved(&registry, &member, &mut session, &mut other);
}

/// Asserts that from the first statement on the member mints with the second registry's node and has released the old
/// one.
#[track_caller]
fn assert_moved(registry: &Registry, member: &Server, session: &mut Session, other: &mut Session) {
    assert_refused(&other.refusal(FIRST), UNLISTED);
    let id = member.until_minted(|| session.try_one(NEXT));
    assert_eq!(shard(session, id), 8181);
    assert_refused(&session.refusal(FIRST), UNLISTED);
    other.one::<i64>("SELECT snowflake_next_id(8181)");
    assert_released(registry);
}

#[test]
fn a_role_that_may_not_ask_does_not_use_the_lease_of_another() {
    let Some(registry) = Registry::start("another role", 10) else {
        return;
    };
    let member = registry.fixed("ada", "5");
    let mut session = member.connect("postgres");
    session.run("CREATE ROLE asker SUPERUSER LOGIN");
    session.one::<i64>("SELECT snowflake_next_id(5)");
    set(&mut session, "pg_mint.registry_role", "'asker'");
    let refusal = session.refusal("SELECT snowflake_next_id(5)");
    assert_eq!(refusal.code, "55000", "{refusal}");
    assert_released(&registry);
    let refusal = session.refusal("SELECT snowflake_next_id(5)");
    assert_refused(&refusal, "user mapping not found");
    session.run("CREATE USER MAPPING FOR asker SERVER registry OPTIONS (user 'member')");
    member.until_minted(|| session.try_one::<i64>("SELECT snowflake_next_id(5)"));
}

#[test]
fn a_node_that_is_no_longer_listed_is_refused_while_it_is_leased() {
    let Some(registry) = Registry::start("unlisted later", 10) else {
        return;
    };
    let member = registry.fixed("ada", "4-6, 8");
    let mut session = member.connect("postgres");
    // The session reserves more ids than it returns.
    set(&mut session, "pg_mint.session_cache", "500");
    let mut other = member.connect("postgres");
    for each in [&mut session, &mut other] {
        each.one::<i64>("SELECT snowflake_next_id(4, 'sonyflake')");
        each.one::<i64>("SELECT snowflake_next_id(5, 'sonyflake')");
    }
    set(&mut session, "pg_mint.nodes", "'5-9'");
    for each in [&mut session, &mut other] {
        each.one::<i64>("SELECT snowflake_next_id(5, 'sonyflake')");
        let refusal = each.refusal("SELECT snowflake_next_id(4, 'sonyflake')");
        assert_refused(&refusal, UNLISTED);
        each.one::<i64>("SELECT snowflake_next_id(9, 'sonyflake')");
    }
}

#[test]
fn the_node_of_a_session_is_one_that_the_server_has_leased() {
    let Some(registry) = Registry::start("node by each way", 10) else {
        return;
    };
    let member = registry.admit(
        Server::build("ada")
            .conf("pg_mint.node = 'auto'")
            .conf("pg_mint.nodes = '20-29'"),
    );
    let mut session = member.connect("postgres");
    let id = session.one(NEXT);
    assert_eq!(shard(&mut session, id), 8191);
    // The number of the same node.
    session.one::<i64>(FIRST);

    // By SET and RESET.
    session.run("SET pg_mint.node = 21");
    let id = session.one(NEXT);
    assert_eq!(shard(&mut session, id), 21);
    assert_refused(&session.refusal(FIRST), UNLISTED);
    session.run("SET pg_mint.node = -1");
    assert_refused(
        &session.refusal(NEXT),
        "parameter \"pg_mint.node\" is not set",
    );
    session.run("SET pg_mint.node = 900");
    assert_refused(&session.refusal(NEXT), UNLISTED);
    session.run("BEGIN; SET LOCAL pg_mint.node = 22");
    let id = session.one(NEXT);
    assert_eq!(shard(&mut session, id), 22);
    session.run("ROLLBACK");
    assert_refused(&session.refusal(NEXT), UNLISTED);
    session.run("RESET pg_mint.node");
    let id = session.one(NEXT);
    assert_eq!(shard(&mut session, id), 8191);

    // By ALTER ROLE and ALTER DATABASE, for new sessions.
    session.run("CREATE ROLE app LOGIN; ALTER ROLE app SET pg_mint.node = 23");
    session.run("ALTER DATABASE postgres SET pg_mint.node = 24");
    for (user, node) in [("app", 23), ("postgres", 24)] {
        let mut of = member.connect_as(user, "postgres");
        let id = of.one(NEXT);
        assert_eq!(shard(&mut of, id), node);
        assert_refused(&of.refusal(FIRST), UNLISTED);
    }
    session.run("ALTER ROLE app SET pg_mint.node = 901");
    let refusal = member.connect_as("app", "postgres").refusal(NEXT);
    assert_refused(&refusal, UNLISTED);
    session.run("ALTER DATABASE postgres RESET pg_mint.node");

    // By reload, from `auto` to a number.
    set(&mut session, "pg_mint.node", "25");
    let id = session.one(NEXT);
    assert_eq!(shard(&mut session, id), 25);
    assert_refused(&session.refusal(FIRST), UNLISTED);
    set(&mut session, "pg_mint.node", "30");
    let id = session.one(NEXT);
    assert_eq!(shard(&mut session, id), 30);
    set(&mut session, "pg_mint.node", "25");
    assert_refused(&session.refusal("SELECT snowflake_next_id(30)"), UNLISTED);
}

/// The slots of leases are never reused. Once all of them have been used, the hint is what helps.
#[test]
fn after_1024_ranges_of_nodes_the_server_must_restart() {
    let Some(registry) = Registry::start("many ranges", 60) else {
        return;
    };
    let nodes: Vec<String> = (0..1025).map(|range| (2 * range).to_string()).collect();
    let member = registry.fixed("ada", &nodes.join(","));
    let mut session = member.connect("postgres");
    let mut refusal = session.refusal("SELECT snowflake_next_id(2048)");
    member.until("all slots are used", || {
        refusal = session.refusal("SELECT snowflake_next_id(2048)");
        refusal.detail.contains("lease slots have been used")
    });
    assert_eq!(refusal.hint, "Restart the server.", "{refusal}");
    session.one::<i64>("SELECT snowflake_next_id(0)");
}

/// The other four settings cannot be set for a session, role or database.
#[test]
fn the_registry_of_a_server_is_set_for_all_of_it() {
    let server = Server::build("one registry").preload(true).start();
    let mut session = server.connect("postgres");
    for setting in ["nodes", "registry", "registry_database", "registry_role"] {
        for way in [
            "SET", "ALTER ROLE postgres SET", "ALTER DATABASE postgres SET",
        ] {
            let refusal = session.refusal(&format!("{way} pg_mint.{setting} = '7'"));
            assert_eq!(refusal.code, "55P02", "{refusal}");
        }
    }
}
