//! Leases of a registry's nodes: which member gets which, which gets none, and when a node is free again.

use mint_cluster::load::sessions::{assert_sound, split, while_minting};
use mint_cluster::registry::crowd::ask_at_once;
use mint_cluster::registry::members::{assert_refused, first_id};
use mint_cluster::{Registry, Server, assert_unique, count, or_skip};
use std::collections::{BTreeMap, BTreeSet};
use std::thread::sleep;
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id()";
/// A layout with the smallest ring: 128 nodes.
const NARROW: &str =
    "SELECT snowflake_next('time:41 shard:8 seq:14 unit:1ms epoch:2020-01-01T00:00:00Z')";

#[test]
fn each_member_mints_as_a_node_of_its_own() {
    let registry = or_skip!(Registry::start("nodes of their own"));
    let members = ["ada", "ben", "eve"].map(|name| registry.auto(name));
    let mut all = Vec::new();
    let begun = Instant::now();
    // Two renewals.
    while begun.elapsed() < Duration::from_secs(25) {
        for member in &members {
            let ids: Vec<i64> =
                member.column("SELECT snowflake_next_id() FROM generate_series(1, 500)");
            all.push(ids);
        }
        sleep(Duration::from_millis(100));
    }
    assert_sound(&all);
    let mut session = registry.connect();
    let rows: Vec<String> = session.column(
        "SELECT holder FROM mint.registry_leases WHERE lease_until > clock_timestamp() AND lease_until > lease_from + interval '45 s' ORDER BY lease_from",
    );
    assert_eq!(rows, ["ada", "ben", "eve"]);
    let nodes = [0, 1, 2].map(|member| session.shard(all[member][0]));
    // In the order of the ring, from any place of it.
    assert!(
        nodes.iter().all(|node| (4096..8192).contains(node)),
        "{nodes:?}"
    );
    let next = |node: i64| 4096 + (node - 4096 + 1) % 4096;
    assert_eq!(nodes, [nodes[0], next(nodes[0]), next(next(nodes[0]))]);
    let shown: String = members[0].one(
        "SELECT format('%s: %s, %s', node_bits, node, renewed > lease_from + interval '15 s' AND trouble IS NULL AND time_left BETWEEN '15 s' AND '30 s')
         FROM mint.leases",
    );
    assert_eq!(shown, format!("13: {}, t", nodes[0]));
}

#[test]
fn a_full_ring_says_so_and_a_node_rests_after_its_lease() {
    let registry = or_skip!(Registry::start("a full ring"));
    let mut session = registry.connect();
    session.run(
        "INSERT INTO mint.registry_leases (node_bits, node, holder, lease_until)
         SELECT 8, n, 'kept', 'infinity' FROM generate_series(128, 255) AS n WHERE n NOT IN (140, 250)",
    );
    let (ada, ben, eve) = (
        registry.auto("ada"),
        registry.auto("ben"),
        registry.auto("eve"),
    );
    let mut ids = vec![first_id(&ada, NARROW).0, first_id(&ben, NARROW).0];
    let nodes = "SELECT node FROM mint.registry_leases WHERE holder <> 'kept' ORDER BY node";
    assert_eq!(session.column::<i64>(nodes), [140, 250]);
    let refusal = eve.refusal(NARROW);
    assert_refused(
        &refusal,
        "no node is free: 128 of 128 nodes (8 bits) are leased",
    );
    refusal.assert_hint("more bits of shard");
    ada.stop_fast();
    let (id, after) = first_id(&eve, NARROW);
    let rest = Duration::from_secs(3)..Duration::from_secs(9);
    assert!(rest.contains(&after), "{after:?}");
    ids.push(id);
    ben.stop_immediate();
    ada.start_again();
    let (id, after) = first_id(&ada, NARROW);
    assert!(after > Duration::from_secs(15), "{after:?}");
    ids.push(id);
    assert_unique([&ids]);
}

/// Each of them repeats its request, as one that has lost the answer does.
#[test]
fn a_hundred_members_that_start_together_have_a_node_each() {
    let builder = Server::build("a crowd").conf("max_connections = 130");
    let registry = or_skip!(Registry::start_with(builder));
    let answers = ask_at_once(&registry, 100, 13);
    // Whichever answers carry the lease, the node stands once in all of them.
    let nodes: BTreeSet<&str> = answers
        .iter()
        .filter_map(|answer| answer.split("\"node\": ").nth(1)?.split(',').next())
        .collect();
    assert_eq!(nodes.len(), 100, "{answers:?}");
    assert_eq!(ask_at_once(&registry, 100, 13), answers);
    let rows: i64 = registry
        .connect()
        .one("SELECT count(*) FROM mint.registry_leases");
    assert_eq!(rows, 100);
}

/// Their shards are numbered by hand.
#[test]
fn layouts_with_few_bits_of_shard_get_no_node() {
    let registry = or_skip!(Registry::start("few bits"));
    let ada = registry.auto("ada");
    let mut session = ada.connect("postgres");
    let seven = "time:41 shard:7 seq:15 unit:1ms epoch:2020-01-01T00:00:00Z";
    let refusal = session.refusal(&format!("SELECT snowflake_next('{seven}')"));
    assert_refused(
        &refusal,
        "A registry leases nodes of 8 bits and more, but not of 7 bits",
    );
    refusal.assert_hint("more bits of shard");
    session.run("SET pg_mint.node = 100");
    session.one::<i64>(&format!("SELECT snowflake_next('{seven}')"));
    session.one::<i64>("SELECT snowflake_next('mastodon')");
    let leases: i64 = session.one("SELECT count(*) FROM mint.leases");
    assert_eq!(leases, 0);
}

/// Nodes are released while sessions mint, long before their leases end.
#[test]
fn a_release_under_load_repeats_nothing() {
    let registry = or_skip!(Registry::start("release under load"));
    let member = registry.auto("ada");
    let mut all = Vec::new();
    for sql in [
        NEXT,
        "SELECT snowflake_next_ids(snowflake_own_shard(), 300)",
    ] {
        let (ids, refusals) = split(while_minting(&member, 3, sql, || {
            let mut session = member.connect("postgres");
            for _ in 0..count(5, 2) {
                sleep(Duration::from_millis(700));
                session.run("SELECT mint.release_leases()");
            }
            sleep(Duration::from_millis(700));
        }));
        // Between the two calls of a statement, the node can be another one.
        let is_due =
            |words: &str| words.contains("does not belong") || words.contains("another node");
        for refusal in &refusals {
            assert!(is_due(&refusal.message), "{refusal}");
        }
        all.extend(ids);
    }
    // Ids of many at once are ahead of the clock, by which the next node begins. Only ids of one node ascend.
    let mut of_nodes: BTreeMap<(usize, i64), Vec<i64>> = BTreeMap::new();
    for (session, ids) in all.iter().enumerate() {
        for &id in ids {
            of_nodes
                .entry((session, id >> 10 & 8_191))
                .or_default()
                .push(id);
        }
    }
    assert!(of_nodes.len() > all.len(), "no node was released");
    assert_sound(&of_nodes.into_values().collect::<Vec<_>>());
    let mut session = member.connect("postgres");
    first_id(&member, NEXT);
    assert_eq!(session.one::<i64>("SELECT mint.release_leases()"), 1);
    assert_eq!(session.one::<i64>("SELECT count(*) FROM mint.leases"), 0);
    let lasts = "SELECT count(*) FROM mint.registry_leases WHERE lease_until > clock_timestamp()";
    assert_eq!(registry.connect().one::<i64>(lasts), 0);
}
