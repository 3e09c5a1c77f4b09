//! A server with the name "ada", to which a node is assigned, and what stories ask of it.

use super::super::shard;
use mint_cluster::load::clients::{Answers, Clients, Group};
use mint_cluster::registry::members::first_id;
use mint_cluster::{Builder, Registry, Server, Session};
use std::time::{Duration, Instant};

pub const NEXT: &str = "SELECT snowflake_next_id()";
/// So many that two servers which mint as one node hit upon the same ids.
pub const MANY: &str = "SELECT snowflake_next_id() FROM generate_series(1, 200)";
pub const ASSIGN: &str = "SELECT mint.registry_assign(13, 'ada')";
pub const ASSIGNED: &str = "pg_mint.node = 'assigned'";
/// Gives the node to the next server of the name.
pub const MOVED: &str = "SELECT mint.registry_assign(13, 'ada', moved => true)";
/// What a server hears whose copy has continued before it, or whose original has.
pub const COPY: &str = "another server has used this key: one of the two is a copy";

/// Returns what "ada" is built from.
pub fn built() -> Builder {
    Server::build("ada").conf(ASSIGNED)
}

/// Starts a registry with leases of so many seconds, and "ada". Returns the node, too, as which it mints.
pub fn start(story: &str, lease: u64, ada: Builder) -> Option<(Registry, Server, i64)> {
    let registry = Registry::start(story, lease)?;
    let node = registry.connect().one(ASSIGN);
    let ada = registry.admit(ada);
    assert_mints_as(&ada, node);
    Some((registry, ada, node))
}

/// Waits until the server mints, and asserts as which node. Returns the id.
#[track_caller]
pub fn assert_mints_as(server: &Server, node: i64) -> i64 {
    let (id, _) = first_id(server, NEXT);
    assert_eq!(shard(&mut server.connect("postgres"), id), node);
    id
}

/// Waits until the server is refused for this reason, and asserts that it mints nothing meanwhile.
#[track_caller]
pub fn assert_refused_with(server: &Server, words: &str) {
    let mut session = server.connect("postgres");
    let mut last = String::new();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(40) {
        match session.try_one::<i64>(NEXT) {
            Ok(id) => panic!("it mints {id}, and is not refused with {words:?}: {last}"),
            Err(refusal) => last = refusal.to_string(),
        }
        if last.contains(words) {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("it is not refused with {words:?}, but: {last}");
}

/// Asserts that the server mints nothing for so long.
#[track_caller]
pub fn assert_mints_nothing(server: &Server, time: Duration) {
    let mut session = server.connect("postgres");
    let begun = Instant::now();
    while begun.elapsed() < time {
        let refusal = session.refusal(NEXT);
        assert_eq!(refusal.code, "55000", "{refusal}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Waits until the server has renewed its leases so often from now on.
pub fn wait_for_renewals(server: &Server, times: i64) {
    let mut session = server.connect("postgres");
    let renewals = "SELECT coalesce(max(renewals), 0) FROM mint.leases WHERE held";
    let before: i64 = session.one(renewals);
    server.until("renewals", || {
        session.one::<i64>(renewals) >= before + times
    });
}

/// Asks the registry again at once, as each member does when its foreign server is changed.
pub fn ask_again(server: &Server) {
    server
        .connect("postgres")
        .run("ALTER SERVER registry OPTIONS (SET connect_timeout '3')");
}

/// Runs a story while one client of each server mints. Returns the answers, and the longest time without ids of each.
pub fn while_minting(servers: &[&Server], story: impl FnOnce()) -> (Answers, Vec<Duration>) {
    let groups = servers
        .iter()
        .map(|server| Group::new(server.place(), &[MANY]));
    let clients = Clients::new(groups.collect()).resting(Duration::from_millis(5));
    let mut gaps = Vec::new();
    let answers = clients.while_minting(|| {
        // The first answers.
        std::thread::sleep(Duration::from_millis(500));
        for group in 0..servers.len() {
            let _ = clients.silence(group, 0);
        }
        story();
        std::thread::sleep(Duration::from_millis(500));
        gaps.extend((0..servers.len()).map(|group| clients.silence(group, 0)));
    });
    (answers, gaps)
}

/// Returns a word of each error that clients got.
pub fn errors(answers: &Answers) -> String {
    let each = answers.refusals.values();
    let each = each.map(|(times, first)| format!("{times} errors like {first}"));
    each.collect::<Vec<_>>().join("\n")
}

/// Asserts that the registry's operators are told of a copy.
#[track_caller]
pub fn assert_operators_know(registry: &Registry) {
    let mut admin = registry.connect();
    let health: Vec<String> =
        admin.column("SELECT h::text FROM mint.health() AS h WHERE h::text LIKE '%copy%'");
    assert!(
        health.iter().any(|row| row.contains("ada")),
        "mint.health() of the registry's server: {health:?}"
    );
    // The columns that say nothing of copies.
    let told: i64 = admin.one(
        "SELECT count(*) FROM mint_registry.nodes AS n, jsonb_each(to_jsonb(n)) AS c
         WHERE n.holder = 'ada' AND n.assigned AND c.value <> 'null' AND c.key <> ALL ('{node_bits, first_node, last_node,
             holder, held, address, system_identifier, lease_from, lease_until, since, renewals, login, assigned, place,
             max_outage}')",
    );
    let row: Vec<String> = admin.column("SELECT to_jsonb(n)::text FROM mint_registry.nodes AS n");
    assert!(told > 0, "mint_registry.nodes: {row:?}");
}

/// The session of an operator, that of the setting in which a story shows what it does.
pub fn set(server: &Server, setting: &str, value: &str) {
    let mut session: Session = server.connect("postgres");
    session.set_for_server(setting, value);
}
