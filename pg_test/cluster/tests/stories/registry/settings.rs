//! Changes of a member's settings while it mints, each of which takes effect with the next statement.

use mint_cluster::registry::members::{AUTO, assert_refused, create_registry, end_wait, first_id};
use mint_cluster::{Registry, Server, Session, assert_ascending, or_skip};
use std::thread::sleep;
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id()";
const NEXT_5: &str = "SELECT snowflake_next_id(5)";
const OTHER: &str = "does not belong to this server";

/// Changes a setting and waits until every session has reloaded it.
fn set(session: &mut Session, setting: &str, value: &str) {
    session.set_for_server(setting, value);
    sleep(Duration::from_millis(50));
}

/// Waits until all leases of a registry were released before their end.
#[track_caller]
fn assert_released(registry: &Registry) {
    let mut session = registry.connect();
    let begun = Instant::now();
    registry.server.until("the nodes are released", || {
        session.one("SELECT bool_and(lease_until <= clock_timestamp()) FROM mint.registry_leases")
    });
    assert!(begun.elapsed() < Duration::from_secs(5));
}

/// Numbers by hand are below the middle and leases above it; a default evaluated on several servers passes neither.
#[test]
fn shards_of_others_are_refused() {
    let registry = or_skip!(Registry::start("shards of others"));
    let ada = registry.auto("ada");
    let mut session = ada.connect("postgres");
    let id = ada.until_minted(|| session.try_one(NEXT));
    let own = session.shard(id);
    session.one::<i64>(&format!("SELECT snowflake_next_id({own})"));
    let lease = if own == 4096 { 8191 } else { own - 1 };
    let refused = |session: &mut Session, call: &str, remedy: &str| {
        let refusal = session.refusal(&format!("SELECT snowflake_next_id({call})"));
        assert_refused(&refusal, OTHER);
        refusal.assert_hint(remedy);
    };
    const LIST: &str = "list the shard in \"pg_mint.own_shards\" on one server only";
    refused(&mut session, "5", LIST);
    refused(&mut session, "5, 'twitter'", LIST);
    refused(&mut session, &lease.to_string(), "from 0 to 4095");
    set(&mut session, "pg_mint.own_shards", "'5, 100-8191'");
    for own in ["5", "100", "4095", "5, 'twitter'", "511, 'twitter'"] {
        session.one::<i64>(&format!("SELECT snowflake_next_id({own})"));
    }
    refused(&mut session, "6", LIST);
    refused(&mut session, &lease.to_string(), "from 0 to 4095");
    refused(&mut session, "512, 'twitter'", "from 0 to 511");
    set(&mut session, "pg_mint.own_shards", "'all'");
    session.one::<i64>("SELECT snowflake_next_id(6)");
    refused(&mut session, &lease.to_string(), "from 0 to 4095");
    // A shard that was on the session's list before is checked again.
    set(&mut session, "pg_mint.own_shards", "''");
    refused(&mut session, "5", LIST);
    // Without a registry, a shard is not checked.
    set(&mut session, "pg_mint.registry", "''");
    for shard in [5, lease] {
        session.one::<i64>(&format!("SELECT snowflake_next_id({shard})"));
    }
}

#[test]
fn the_node_of_a_session_is_a_number_below_the_middle_or_a_lease() {
    let registry = or_skip!(Registry::start("node by each way"));
    let member = registry.auto("ada");
    let mut session = member.connect("postgres");
    let id = member.until_minted(|| session.try_one(NEXT));
    let node = session.shard(id);
    // A session sets its node by SET and RESET.
    session.run("SET pg_mint.node = 21");
    let id = session.one(NEXT);
    assert_eq!(session.shard(id), 21);
    let refusal = session.refusal("SELECT snowflake_next('twitter', 22)");
    assert!(["55000", "42883"].contains(&&*refusal.code), "{refusal}");
    session.run("SET pg_mint.node = -1");
    assert_refused(
        &session.refusal(NEXT),
        "parameter \"pg_mint.node\" is not set",
    );
    for number in ["4096", "8191"] {
        session.run(&format!("SET pg_mint.node = {number}"));
        if number.parse() != Ok(node) {
            assert_refused(&session.refusal(NEXT), "leased by the registry");
        }
    }
    session.run("BEGIN; SET LOCAL pg_mint.node = '1/2'");
    let id: i64 = session.one("SELECT snowflake_next('twitter')");
    assert_eq!(
        session.one::<i32>(&format!("SELECT snowflake_shard({id}, 'twitter')")),
        34
    );
    session.run("ROLLBACK; RESET pg_mint.node");
    let id = session.one(NEXT);
    assert_eq!(session.shard(id), node);
    // A reload sets it from `auto` to a number, which releases the lease. A number asks no registry.
    set(&mut session, "pg_mint.node", "25");
    assert_released(&registry);
    let id = session.one(NEXT);
    assert_eq!(session.shard(id), 25);
    let rows: i64 = session.one("SELECT count(*) FROM mint.leases");
    assert_eq!(rows, 0);
    registry.server.stop_fast();
    session.one::<i64>(NEXT);
    registry.server.start_again();
    registry.end_wait();
    set(&mut session, "pg_mint.node", "'auto'");
    // ALTER ROLE and ALTER DATABASE set it for new sessions; the worker of that database leases on.
    session.run("CREATE ROLE app LOGIN; ALTER ROLE app SET pg_mint.node = 23");
    session.run("ALTER DATABASE postgres SET pg_mint.node = 24");
    for (user, node) in [("app", 23), ("postgres", 24)] {
        let mut of = member.connect_as(user, "postgres");
        let id = of.one(NEXT);
        assert_eq!(of.shard(id), node);
    }
    member.create_database("other");
    member.restart();
    let mut session = member.connect("other");
    let id = member.until_minted(|| session.try_one(NEXT));
    assert!(session.shard(id) >= 4096);
    // The worker's own database hides the change from it.
    set(&mut session, "pg_mint.node", "25");
    assert_released(&registry);
}

/// ALTER SYSTEM RESET of the registry, and not of `auto`: no session mints as a node that is not leased any more.
#[test]
fn auto_mints_nothing_without_a_registry() {
    let registry = or_skip!(Registry::start("registry reset"));
    let member = registry.auto("ada");
    let mut session = member.connect("postgres");
    let mut other = member.connect("postgres");
    let mut ids: Vec<i64> = vec![
        member.until_minted(|| session.try_one(NEXT)),
        other.one(NEXT),
    ];
    set(&mut session, "pg_mint.registry", "''");
    let mut late = member.connect("postgres");
    for asked in [&mut session, &mut other, &mut late] {
        for next in [NEXT, "SELECT snowflake_next('twitter')"] {
            assert_refused(&asked.refusal(next), "\"pg_mint.registry\" is not set");
        }
    }
    assert_released(&registry);
    assert_refused(&session.refusal(NEXT), "is not set");
    set(&mut session, "pg_mint.registry", "'registry'");
    ids.push(member.until_minted(|| other.try_one(NEXT)));
    assert_ascending(&ids);
}

/// A table with a number in its default, which a server has had for years, and then joins a registry.
#[test]
fn a_default_with_an_unlisted_number_is_noticed() {
    let registry = or_skip!(Registry::start("numbers in defaults"));
    let member = registry.auto("ada");
    let mut session = member.connect("postgres");
    session.run(
        "CREATE TABLE visit (id bigint DEFAULT snowflake_next_id(5), other bigint DEFAULT snowflake_next_id(6, 'twitter'),
             alone bigint DEFAULT snowflake_next('time:53 seq:10 unit:1ms epoch:2026-01-01T00:00:00Z'))",
    );
    let refusal = session.refusal("INSERT INTO visit (id) VALUES (DEFAULT)");
    assert_refused(&refusal, OTHER);
    let words = "column \"id\" of table public.visit of role \"postgres\" generates ids of such a shard, 5, and 1 more";
    session.assert_health(&format!("node is critical: {words}"));
    set(&mut session, "pg_mint.own_shards", "'5'");
    session.assert_health("node is critical: generates ids of such a shard, 6.");
    set(&mut session, "pg_mint.own_shards", "'1-6'");
    session.assert_health("node is ok");
    session.run("INSERT INTO visit (id, other) VALUES (DEFAULT, DEFAULT)");
    // Without a registry, a number is trusted.
    set(&mut session, "pg_mint.own_shards", "''");
    set(&mut session, "pg_mint.registry", "''");
    session.assert_health("node is ok");
}

/// Each setting that names a registry leads to another one. The leases of the first one are released, and count no more.
#[test]
fn another_registry_grants_other_nodes() {
    let registry = or_skip!(Registry::start("another registry"));
    registry.server.create_database("second");
    let mut second = registry.server.connect("second");
    create_registry(&mut second);
    second.run(
        "INSERT INTO mint.registry_leases (node_bits, node, holder, lease_until)
         SELECT 13, n, 'kept', 'infinity' FROM generate_series(4096, 8191) AS n WHERE n NOT BETWEEN 5000 AND 5009",
    );
    end_wait(&registry.server, &mut second);
    registry.connect().run(
        "INSERT INTO mint.registry_leases (node_bits, node, holder, lease_from, lease_until)
         SELECT 13, n, 'kept', '-infinity', '-infinity' FROM generate_series(5000, 5009) AS n",
    );
    let member = registry.auto("ada");
    let mut session = member.connect("postgres");
    registry.create_server(&mut session, "another", "second");
    session.run("CREATE DATABASE elsewhere");
    let mut elsewhere = member.connect("elsewhere");
    elsewhere.run("CREATE EXTENSION dblink");
    registry.create_server(&mut elsewhere, "registry", "second");
    let mut other = member.connect("postgres");
    let mut ids: Vec<i64> = Vec::new();
    for (setting, there, back) in [
        ("pg_mint.registry", "'another'", "'registry'"),
        ("pg_mint.registry_database", "'elsewhere'", "'postgres'"),
    ] {
        ids.push(member.until_minted(|| other.try_one(NEXT)));
        let first = format!(
            "SELECT snowflake_next_id({})",
            other.shard(ids[ids.len() - 1])
        );
        set(&mut session, setting, there);
        assert_refused(&other.refusal(&first), OTHER);
        let id = member.until_minted(|| session.try_one(NEXT));
        assert!((5000..5010).contains(&session.shard(id)), "{id}");
        ids.push(id);
        assert_released(&registry);
        set(&mut session, setting, back);
    }
    ids.push(member.until_minted(|| other.try_one(NEXT)));
    assert_ascending(&ids);
}

/// A changed address or user of the same registry changes no lease, and is tried at once.
#[test]
fn a_lease_outlasts_a_change_of_how_its_registry_is_reached() {
    let registry = or_skip!(Registry::start("another way"));
    registry.connect().run(
        "CREATE ROLE second LOGIN; GRANT EXECUTE ON FUNCTION mint.registry_request(jsonb) TO second",
    );
    let ada = registry.auto("ada");
    let mut ids = vec![first_id(&ada, NEXT).0];
    let mut session = ada.connect("postgres");
    for change in [
        "ALTER SERVER registry OPTIONS (SET connect_timeout '4')",
        "ALTER USER MAPPING FOR postgres SERVER registry OPTIONS (SET user 'second')",
    ] {
        session.run(change);
        let changed: String = session.one("SELECT clock_timestamp()::text");
        let begun = Instant::now();
        ada.until("the lease is renewed", || {
            ids.push(session.one(NEXT));
            session.one(&format!("SELECT renewed > '{changed}' FROM mint.leases"))
        });
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
    let rows: i64 = registry
        .connect()
        .one("SELECT count(*) FROM mint.registry_leases");
    assert_eq!(rows, 1);
    assert_ascending(&ids);
}

#[test]
fn the_registry_of_a_server_is_set_for_all_of_it() {
    let server = Server::build("one registry")
        .preload(true)
        .conf(AUTO)
        .start();
    let mut session = server.connect("postgres");
    for setting in ["own_shards", "registry", "registry_database"] {
        for way in [
            "SET", "ALTER ROLE postgres SET", "ALTER DATABASE postgres SET",
        ] {
            session.refused(&format!("{way} pg_mint.{setting} = '7'"), "55P02");
        }
    }
    let refusal = session.refusal(NEXT);
    assert_refused(&refusal, "\"pg_mint.registry\" is not set");
    session.one::<i64>(NEXT_5);
}

/// A worker hands over to the next one after each reload, which reads the server's settings. If no process is free for the next
/// one, it continues itself.
#[test]
fn a_reload_costs_no_lease_if_no_other_worker_can_start() {
    let registry = or_skip!(Registry::start("one worker"));
    let ada = registry.admit(
        Server::build("ada")
            .conf(AUTO)
            .conf("max_worker_processes = 1")
            .conf("max_logical_replication_workers = 0"),
    );
    let before = first_id(&ada, NEXT).0;
    let mut session = ada.connect("postgres");
    for _ in 0..3 {
        session.run("SELECT pg_reload_conf()");
        sleep(Duration::from_secs(5));
    }
    assert!(session.one::<bool>("SELECT renewed > lease_from + interval '5 s' FROM mint.leases"));
    let after = session.one(NEXT);
    assert_eq!(session.shard(before), session.shard(after));
    set(&mut session, "pg_mint.node", "5");
    assert_eq!(
        session.one::<i32>("SELECT snowflake_shard(snowflake_next_id())"),
        5
    );
    assert_released(&registry);
}
