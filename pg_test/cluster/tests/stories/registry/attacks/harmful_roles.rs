//! Members and operators that do the registry harm: by mistake, by malice, or by hand. Others keep what they have.

use super::super::shard;
use mint_cluster::registry::members::{assert_refused, first_id};
use mint_cluster::{Registry, Server, Session, assert_ascending, assert_unique, say};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id()";
const FORGOTTEN: &str = "registry is in quarantine and grants no new leases";

/// Sends a request as the role of members.
fn request(session: &mut Session, fields: &str) -> String {
    session.one(&format!(
        "SELECT mint.registry_request(jsonb_build_object('protocol', 1, 'request', 'lease', 'node_bits', 13, 'holder', 'eve',
             'system', 1, 'clock', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) || {fields})::text"
    ))
}

/// A login that lies about the history, and takes what it can: others keep their nodes, and new ones get theirs.
#[test]
fn a_login_that_lies_leaves_others_their_leases() {
    let Some(registry) = Registry::start("lies", 5) else {
        return;
    };
    let (ada, ben) = (registry.auto("ada"), registry.auto("ben"));
    let mut session = ada.connect("postgres");
    let mut ids: Vec<i64> = vec![session.one(NEXT)];
    let mut eve = registry.server.connect_as("member", "postgres");
    // So long after the last quarantine that members are listened to.
    registry.connect().run(
        "UPDATE mint_registry.registry SET quarantine = '-infinity', written = pg_current_xact_id()::xid",
    );
    let history = "'{\"seen\": {\"system\": 1, \"timeline\": 9, \"start\": 9, \"incarnation\": 9223372036854775807, \"position\": 1}}'";
    let answer = request(&mut eve, history);
    assert!(answer.contains(FORGOTTEN), "{answer}");
    // Nodes for ever, all nodes, and the node of another.
    let lease = |until: &str, first: i64, last: i64| {
        format!(
            "jsonb_build_object('nodes', '[{first}, {last}]'::jsonb, 'lease', jsonb_build_object('id', 42, 'from', 0, 'until', {until}))"
        )
    };
    let soon = "(extract(epoch FROM clock_timestamp() + '9 s') * 1000000)::bigint";
    let answer = request(&mut eve, &lease("9223372036854775807", 100, 200));
    assert!(answer.contains(FORGOTTEN), "{answer}");
    let answer = request(&mut eve, &lease(soon, 8000, 8191));
    assert!(answer.contains("leased by \\\"ada\\\" until"), "{answer}");
    assert_refused(&ben.connect("postgres").refusal(NEXT), FORGOTTEN);
    // The other one's lease is renewed meanwhile.
    let begun = Instant::now();
    while begun.elapsed() < registry.lease * 3 / 2 {
        ids.push(session.one(NEXT));
        request(&mut eve, history);
        std::thread::sleep(Duration::from_millis(50));
    }
    registry.end_quarantine();
    request(&mut eve, history);
    let (id, _) = first_id(&ben, NEXT);
    // The one that lies was granted 8190, as it asked before.
    assert_eq!(shard(&mut session, id), 8189);
    assert_ascending(&ids);
    let log = registry.server.log();
    assert!(
        log.contains(
            "registry of nodes begins a quarantine: \"eve\", connected as role \"member\""
        ),
        "{log}"
    );
}

/// A node is not granted again after its row was deleted, and its holder keeps it.
#[test]
fn rows_that_are_deleted_by_hand_are_written_again() {
    let Some(registry) = Registry::start("deleted by hand", 5) else {
        return;
    };
    let (ada, ben) = (registry.fixed("ada", "5"), registry.fixed("ben", "5"));
    let next = "SELECT snowflake_next_id(5)";
    let mut session = ada.connect("postgres");
    let mut ids: Vec<i64> = vec![session.one(next)];
    let mut operator = registry.connect();
    for change in [
        "DELETE FROM mint_registry.leases",
        "TRUNCATE mint_registry.leases",
    ] {
        operator.run(change);
        assert_refused(&ben.connect("postgres").refusal(next), FORGOTTEN);
        ids.push(session.one(next));
        ada.until("the lease is written again", || {
            operator.one("SELECT EXISTS (SELECT FROM mint_registry.nodes WHERE holder = 'ada')")
        });
        registry.end_quarantine();
        let refusal = ben.connect("postgres").refusal(next);
        assert_refused(&refusal, "leased by \"ada\" until");
        ids.push(session.one(next));
    }
    assert_unique([&ids]);
}

/// A node that is set for the role and the database that the worker connects as is not the server's, neither after a restart nor
/// after a reload; and no session gets another node than the assigned one where it wants that.
#[test]
fn a_node_of_the_worker_s_database_is_not_that_of_the_server() {
    let Some(registry) = Registry::start("a node of a database", 5) else {
        return;
    };
    let node: i64 = registry
        .connect()
        .one("SELECT mint.registry_assign(13, 'ada', 6000)");
    let ada = registry.admit(Server::build("ada").conf("pg_mint.node = 'assigned'"));
    ada.create_database("other");
    ada.connect("postgres").run(
        "ALTER DATABASE postgres SET pg_mint.node = 'auto'; ALTER ROLE postgres IN DATABASE postgres SET pg_mint.node = '5'",
    );
    ada.restart();
    let mut session = ada.connect("other");
    let id = ada.until_minted(|| session.try_one(NEXT));
    assert_eq!(shard(&mut session, id), node);
    session.set_for_server("pg_mint.node", "'auto'");
    ada.until("any node", || {
        let id = session.try_one(NEXT);
        id.is_ok_and(|id| shard(&mut session, id) != node)
    });
    session.run("SET pg_mint.node = 'assigned'");
    let refusal = session.refusal(NEXT);
    assert_eq!(
        (&*refusal.code, &*refusal.message),
        ("55000", "this server does not use its assigned node"),
        "{refusal}"
    );
    session.run("RESET pg_mint.node");
    session.set_for_server("pg_mint.node", "'assigned'");
    ada.until("the assigned node", || {
        let id = session.try_one(NEXT);
        id.is_ok_and(|id| shard(&mut session, id) == node)
    });
}

/// A transaction that stays open on the registry refuses requests, and no connections pile up behind it.
#[test]
fn a_lock_on_the_registry_is_not_waited_for() {
    let Some(registry) = Registry::start("locked", 5) else {
        return;
    };
    let (ada, ben) = (registry.auto("ada"), registry.auto("ben"));
    let mut session = ada.connect("postgres");
    session.one::<i64>(NEXT);
    let mut operator = registry.connect();
    operator.run("BEGIN; SELECT mint.registry_reserve(13, 900, 999, 'old')");
    let refusal = ben.connect("postgres").refusal(NEXT);
    say(format!("a locked registry: {refusal}"));
    assert!(
        refusal.detail.contains("registry of nodes is busy"),
        "{refusal}"
    );
    assert!(refusal.after < Duration::from_secs(6), "{refusal}");
    // Renewals lock their own row only.
    let begun = Instant::now();
    while begun.elapsed() < registry.lease * 3 / 2 {
        session.one::<i64>(NEXT);
        std::thread::sleep(Duration::from_millis(100));
    }
    let connections: i64 =
        operator.one("SELECT count(*) FROM pg_stat_activity WHERE usename = 'member'");
    assert!(connections <= 2, "{connections} connections of two members");
    operator.run("ROLLBACK");
    first_id(&ben, NEXT);
}

/// Of a range, a member gets the nodes that are free, and the rest when they are.
#[test]
fn of_a_range_each_member_gets_what_is_free() {
    let Some(registry) = Registry::start("ranges", 5) else {
        return;
    };
    let (ada, ben) = (registry.fixed("ada", "3"), registry.fixed("ben", "0-5"));
    ada.connect("postgres")
        .one::<i64>("SELECT snowflake_next_id(3)");
    let mut session = ben.connect("postgres");
    for node in [0, 2, 4, 5] {
        session.one::<i64>(&format!("SELECT snowflake_next_id({node})"));
    }
    let refusal = session.refusal("SELECT snowflake_next_id(3)");
    assert_refused(&refusal, "node 3 (13 bits) is leased by \"ada\" until");
    // Evicted, its holder is refused, and others wait for the end of the lease.
    let evicted: i64 = registry.connect().one("SELECT mint.registry_evict('ada')");
    assert_eq!(evicted, 1);
    assert_refused(&session.refusal("SELECT snowflake_next_id(3)"), "is leased");
    // Else the two would race for it.
    ada.stop_immediate();
    let (_, after) = first_id(&ben, "SELECT snowflake_next_id(3)");
    assert!(after < registry.takeover(), "{after:?}");
}

/// A login that keeps the registry's locks, as long as it can, ends no lease and keeps no node from others.
#[test]
fn a_login_that_keeps_locks_holds_up_nobody() {
    let Some(registry) = Registry::start("kept locks", 5) else {
        return;
    };
    let (ada, ben) = (registry.auto("ada"), registry.auto("ben"));
    let mut session = ada.connect("postgres");
    let mut ids: Vec<i64> = vec![session.one(NEXT)];
    let request = "SELECT mint.registry_request(jsonb_build_object('protocol', 1, 'request', 'lease', 'node_bits', 13, 'holder', 'eve',
        'nodes', '[7, 7]'::jsonb, 'system', 1, 'clock', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint))";
    let mut eve = registry.server.connect_as("member", "postgres");
    eve.run("BEGIN");
    assert_eq!(eve.refusal(request).code, "25001");
    eve.run("ROLLBACK");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Whatever the statement does after the request, its session ends.
        let hold = "DO $$ BEGIN PERFORM $request$; FOR pause IN 1..10 LOOP BEGIN PERFORM pg_sleep(2); EXCEPTION WHEN OTHERS OR query_canceled THEN END; END LOOP; END $$";
        let hold = hold.replace("$request$", request.trim_start_matches("SELECT "));
        for _ in 0..2 {
            let (hold, is_over, registry) = (hold.clone(), &is_over, &registry);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let config = registry.server.config("postgres", "member");
                    if let Ok(mut session) = Session::open(&config) {
                        let begun = Instant::now();
                        session.try_run(&hold).expect_err("the end of the session");
                        assert!(begun.elapsed() < Duration::from_secs(5), "it holds locks");
                    }
                }
            });
        }
        let mut mint_for = |time: Duration| {
            let begun = Instant::now();
            while begun.elapsed() < time {
                ids.push(session.one(NEXT));
                std::thread::sleep(Duration::from_millis(50));
            }
        };
        mint_for(registry.lease);
        first_id(&ben, NEXT);
        // The first request after a restart writes what the registry has noticed.
        registry.server.stop_immediate();
        registry.server.start_again();
        mint_for(registry.lease * 2);
        is_over.store(true, Ordering::Relaxed);
    });
    assert_ascending(&ids);
}
