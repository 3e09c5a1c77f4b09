//! Nodes that are assigned to a server for good, by which it mints also while the registry is away.

use super::shard;
use mint_cluster::registry::members::{assert_refused, first_id};
use mint_cluster::{Registry, Server, Session, assert_unique};
use std::time::Duration;

const NEXT: &str = "SELECT snowflake_next_id()";
const MANY: &str = "SELECT snowflake_next_id() FROM generate_series(1, 1000)";
const ASSIGN: &str = "SELECT mint.registry_assign(13, 'ada')";
const ASSIGNED: &str = "pg_mint.node = 'assigned'";

/// Starts a registry of leases of so many seconds, and a member to which a node is assigned. Returns the node, too.
fn start(story: &str, seconds: u64) -> Option<(Registry, Server, i64)> {
    let registry = Registry::start(story, seconds)?;
    let node = registry.connect().one(ASSIGN);
    let ada = registry.admit(Server::build("ada").conf(ASSIGNED));
    Some((registry, ada, node))
}

/// Waits until the member is refused for this reason.
#[track_caller]
fn until_refused(member: &Server, session: &mut Session, words: &str) {
    member.until(words, || match session.try_one::<i64>(NEXT) {
        Err(refusal) => refusal.to_string().contains(words),
        Ok(_) => false,
    });
}

#[test]
fn an_assigned_node_stays_and_needs_no_registry_at_the_start() {
    let Some((registry, ada, node)) = start("an assigned node", 5) else {
        return;
    };
    let mut ids: Vec<i64> = Vec::new();
    for round in 0..2 {
        ids.push(first_id(&ada, NEXT).0);
        let mut session = ada.connect("postgres");
        assert_eq!(shard(&mut session, ids[round]), node);
        ada.restart();
    }
    // Others get other nodes: any free one, an assigned one, and not this one by its number.
    let (ben, eve) = (
        registry.auto("ben"),
        registry.fixed("eve", &node.to_string()),
    );
    let bens = first_id(&ben, NEXT).0;
    assert_ne!(shard(&mut ben.connect("postgres"), bens), node);
    let eves = format!("SELECT snowflake_next_id({node})");
    let refusal = eve.connect("postgres").refusal(&eves);
    assert_refused(&refusal, "is assigned to \"ada\"");
    let mut admin = registry.connect();
    assert_eq!(admin.one::<i64>(ASSIGN), node);
    assert_ne!(
        admin.one::<i64>("SELECT mint.registry_assign(13, 'zoe')"),
        node
    );
    // The registry is away when the server starts, and comes back later.
    registry.server.stop_immediate();
    ada.restart();
    let (id, after) = first_id(&ada, NEXT);
    assert!(after < Duration::from_secs(10), "{after:?}");
    ids.push(id);
    let mut session = ada.connect("postgres");
    let trouble: String = session.one("SELECT trouble FROM mint.leases LIMIT 1");
    let expected = format!("ids are generated as assigned node {node} without a lease");
    assert!(trouble.contains(&expected), "{trouble}");
    for _ in 0..12 {
        ids.extend(session.column::<i64>(MANY));
        std::thread::sleep(Duration::from_secs(1));
    }
    registry.server.start_again();
    // It was started again without the registry, which must not take its word for a lease in a quarantine.
    registry.end_quarantine();
    ada.until("the lease is renewed", || {
        ids.extend(session.try_column::<i64>(MANY).unwrap_or_default());
        session.one("SELECT bool_and(held AND trouble IS NULL) FROM mint.leases")
    });
    ids.extend(session.column::<i64>(MANY));
    assert_unique([&ids]);
}

/// A copy of the server is at another place. Neither what it remembers nor the registry lets it mint as the node, and both
/// are named.
#[test]
fn a_copy_does_not_take_over_the_node() {
    let Some((registry, ada, node)) = start("a copied server", 5) else {
        return;
    };
    let mut session = ada.connect("postgres");
    let mut ids: Vec<i64> = session.column(MANY);
    let copy = ada.copied("a copy");
    registry.server.stop_immediate();
    ada.restart();
    copy.start_again();
    ids.push(first_id(&ada, NEXT).0);
    let mut other = copy.connect("postgres");
    for _ in 0..5 {
        let refusal = other.refusal(NEXT);
        assert_eq!(refusal.code, "55000", "{refusal}");
        std::thread::sleep(Duration::from_millis(500));
    }
    ids.extend(ada.connect("postgres").column::<i64>(MANY));
    assert_unique([&ids]);
    // Of two that were started again, the first that asks keeps the node: here the original.
    copy.stop_fast();
    registry.server.start_again();
    registry.end_quarantine();
    ada.until("the lease is renewed", || {
        ada.connect("postgres")
            .one("SELECT bool_and(held AND trouble IS NULL) FROM mint.leases")
    });
    copy.start_again();
    let mut other = copy.connect("postgres");
    until_refused(
        &copy,
        &mut other,
        "another server has used this key: one of the two is a copy",
    );
    let copies = "SELECT count(*) FROM mint_registry.nodes WHERE copy_place <> place AND copy_seen > now() - interval '1 minute'";
    assert_eq!(registry.connect().one::<i64>(copies), 1);
    ids.extend(ada.connect("postgres").column::<i64>(MANY));
    assert_unique([&ids]);
    // The copy becomes a server of its own.
    let mut admin = registry.connect();
    let second: i64 = admin.one("SELECT mint.registry_assign(13, 'the copy')");
    other.set_for_server("pg_mint.node", "'auto'");
    let id = first_id(&copy, NEXT).0;
    let others = shard(&mut other, id);
    assert!(others != node && others != second, "{others}");
}

/// How long a server mints without the registry is limited, and ends when it hears that the node is not its own any more.
#[test]
fn a_server_without_its_registry_ends_in_time() {
    let Some((registry, ada, node)) = start("an assigned node that is taken away", 5) else {
        return;
    };
    first_id(&ada, NEXT);
    let mut session = ada.connect("postgres");
    let trouble = "SELECT count(*) FROM mint.leases WHERE trouble LIKE '%without a lease'";
    registry.server.stop_immediate();
    ada.until("it has no lease", || session.one::<i64>(trouble) > 0);
    session.set_for_server("pg_mint.registry_max_outage", "'1s'");
    until_refused(&ada, &mut session, "could not establish connection");
    session.set_for_server("pg_mint.registry_max_outage", "'3d'");
    first_id(&ada, NEXT);
    registry.server.start_again();
    registry.end_quarantine();
    let mut admin = registry.connect();
    // The registry keeps the node for as long as the server has ever said.
    let knows = "SELECT renewals FROM mint_registry.nodes WHERE assigned AND max_outage = '3d'";
    let mut renewals = 0;
    ada.until("the registry knows", || {
        renewals = admin.column::<i64>(knows).first().copied().unwrap_or(0);
        renewals > 0
    });
    session.set_for_server("pg_mint.registry_max_outage", "'1s'");
    ada.until("further renewals", || {
        admin.one::<i64>(knows) > renewals + 2
    });
    let free = "SELECT extract(epoch FROM mint.registry_unassign(13, 'ada') - now())::int / 60";
    assert_eq!(admin.one::<i32>(free), 3 * 24 * 60 + 1);
    let ben = registry.auto("ben");
    let bens = first_id(&ben, NEXT).0;
    assert_ne!(shard(&mut ben.connect("postgres"), bens), node);
    until_refused(
        &ada,
        &mut session,
        "no node (13 bits) is assigned to \"ada\"",
    );
    registry.server.stop_immediate();
    ada.restart();
    let mut session = ada.connect("postgres");
    until_refused(&ada, &mut session, "could not establish connection");
}

/// A node that is assigned, and listed in the settings as well, has one lease, also if a session has asked for it by its number.
#[test]
fn an_assigned_node_that_is_listed_is_leased_once() {
    let Some((_registry, ada, node)) = start("an assigned node that is listed", 30) else {
        return;
    };
    let mut session = ada.connect("postgres");
    session.set_for_server("pg_mint.nodes", &format!("'{node}'"));
    ada.restart();
    let mut ids = vec![first_id(&ada, &format!("SELECT snowflake_next_id({node})")).0];
    let mut session = ada.connect("postgres");
    // A lease that had ended would be missed for ten seconds, longer than a session waits.
    for _ in 0..30 {
        ids.push(session.one(NEXT));
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_unique([&ids]);
}
