//! Leases of a registry's nodes: which member gets which, which gets none, and when a node is free again.

use mint_cluster::load::sessions::{assert_sound, split, while_minting};
use mint_cluster::registry::members::{assert_refused, first_id};
use mint_cluster::{Registry, Server, assert_ascending, assert_unique, count, say};
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id()";
const NEXT_5: &str = "SELECT snowflake_next_id(5)";
const SMALL: &str = "time:41 shard:2 seq:10 unit:1ms epoch:2020-01-01T00:00:00Z";

fn leases(server: &Server) -> Vec<String> {
    server.connect("postgres").column(
        "SELECT format('%s: %s-%s', node_bits, first_node, last_node) FROM mint.leases
         WHERE held ORDER BY node_bits, first_node",
    )
}

#[test]
fn each_member_mints_as_a_node_of_its_own() {
    let Some(registry) = Registry::start("nodes of their own", 5) else {
        return;
    };
    let members = ["ada", "ben", "eve"].map(|name| registry.auto(name));
    let mut all = Vec::new();
    let begun = Instant::now();
    // Longer than a lease, so that it is renewed.
    while begun.elapsed() < registry.lease * 2 {
        for member in &members {
            let ids: Vec<i64> = member
                .connect("postgres")
                .column("SELECT snowflake_next_id() FROM generate_series(1, 500)");
            all.push(ids);
        }
    }
    assert_sound(&all);
    let mut session = registry.connect();
    assert_eq!(
        session.column::<String>(
            "SELECT format('%s: %s', holder, first_node) FROM mint_registry.nodes WHERE held"
        ),
        ["eve: 8189", "ben: 8190", "ada: 8191"]
    );
    for (node, ids) in [8191, 8190, 8189].iter().cycle().zip(&all) {
        let shard: i32 = session.one(&format!("SELECT snowflake_shard({})", ids[0]));
        assert_eq!(shard, *node);
    }
    let renewals: Vec<i64> = session.column("SELECT renewals FROM mint_registry.nodes");
    assert!(
        renewals.iter().all(|&renewals| renewals >= 2),
        "{renewals:?}"
    );
    let own: i64 = members[0]
        .connect("postgres")
        .one("SELECT renewals FROM mint.leases");
    assert!(own >= 2, "{own}");
}

#[test]
fn a_node_that_two_members_list_is_granted_to_one() {
    let Some(registry) = Registry::start("listed twice", 5) else {
        return;
    };
    let (ada, ben) = (registry.fixed("ada", "5"), registry.fixed("ben", "4-6"));
    let mut ids: Vec<i64> = ada
        .connect("postgres")
        .column("SELECT snowflake_next_id(5) FROM generate_series(1, 1000)");
    for _ in 0..3 {
        assert_refused(
            &ben.connect("postgres").refusal(NEXT_5),
            "leased by \"ada\" until",
        );
    }
    // Not before the lease ends, as the registry cannot know that its holder is gone.
    ada.stop_immediate();
    let until: String = registry
        .connect()
        .one("SELECT lease_until::text FROM mint_registry.nodes WHERE holder = 'ada'");
    let (id, after) = first_id(&ben, NEXT_5);
    say(format!(
        "a node whose holder is gone is granted after {after:?}"
    ));
    assert!(after < registry.takeover(), "{after:?}");
    let is_past: bool = registry.connect().one(&format!(
        "SELECT snowflake_time({id}) >= '{until}'::timestamptz - interval '1 ms'"
    ));
    assert!(is_past, "{id} is from before {until}");
    ids.push(id);
    assert_ascending(&ids);

    // The old holder comes back and is refused.
    ada.start_again();
    assert_refused(
        &ada.connect("postgres").refusal(NEXT_5),
        "leased by \"ben\" until",
    );
    // A clean stop releases the lease at once.
    ben.stop_fast();
    let (id, after) = first_id(&ada, NEXT_5);
    say(format!("a released node is granted after {after:?}"));
    assert!(after < Duration::from_secs(1), "{after:?}");
    ids.push(id);
    assert_ascending(&ids);
}

#[test]
fn a_member_mints_no_shard_without_a_lease() {
    let Some(registry) = Registry::start("unlisted", 5) else {
        return;
    };
    let ada = registry.fixed("ada", "5, 100-163");
    let mut session = ada.connect("postgres");
    for refused in ["7", "99", "164", "7, 'twitter'", "7, 'sonyflake'"] {
        let refusal = session.refusal(&format!("SELECT snowflake_next_id({refused})"));
        assert_refused(&refusal, "pg_mint.nodes");
        let many = format!(
            "SELECT * FROM snowflake_next_ids({})",
            refused.replacen(',', ", 3,", 1)
        );
        if refused.contains(',') {
            assert_refused(&session.refusal(&many), "pg_mint.nodes");
        }
    }
    assert_eq!(leases(&ada), Vec::<String>::new());
    // The nodes of the narrowest layout end within the range.
    for minted in [
        "5",
        "100",
        "163",
        "100, 'twitter'",
        "163, 'sonyflake'",
        "101, 'time:41 shard:7 seq:10 unit:1ms epoch:2020-01-01T00:00:00Z'",
    ] {
        session.one::<i64>(&format!("SELECT snowflake_next_id({minted})"));
    }
    assert_eq!(
        leases(&ada),
        [
            "7: 5-5", "7: 100-127", "10: 5-5", "10: 100-163", "13: 5-5", "13: 100-163", "16: 5-5",
            "16: 100-163"
        ]
    );
    // Nodes of another width have leases of their own.
    let ben = registry.fixed("ben", "5");
    let mut other = ben.connect("postgres");
    other.one::<i64>(
        "SELECT snowflake_next_id(5, 'time:41 shard:8 seq:10 unit:1ms epoch:2020-01-01T00:00:00Z')",
    );
    assert_refused(&other.refusal(NEXT_5), "leased by \"ada\" until");
}

/// A change of the settings overrides what a session has cached about a node's lease.
#[test]
fn a_change_of_settings_reaches_minting_sessions() {
    let Some(registry) = Registry::start("nodes change", 5) else {
        return;
    };
    let ada = registry.fixed("ada", "5");
    let mut session = ada.connect("postgres");
    let mut ids: Vec<i64> = vec![session.one(NEXT_5)];
    let mut other = ada.connect("postgres");
    for nodes in ["4-6", "5-9", "3, 5"] {
        other.set_for_server("pg_mint.nodes", &format!("'{nodes}'"));
        for _ in 0..30 {
            std::thread::sleep(registry.lease / 40);
            match session.try_one(NEXT_5) {
                Ok(id) => ids.push(id),
                Err(refusal) => panic!("{nodes}: {refusal}"),
            }
        }
    }
    assert_eq!(leases(&ada), ["13: 3-3", "13: 5-5"]);
    assert_ascending(&ids);
}

#[test]
fn a_layout_without_a_node_is_leased_to_one_server() {
    const MASTODON: &str = "SELECT snowflake_next('mastodon')";
    let Some(registry) = Registry::start("no node", 5) else {
        return;
    };
    let (ada, ben) = (registry.auto("ada"), registry.auto("ben"));
    let mut ids: Vec<i64> = vec![ada.connect("postgres").one(MASTODON)];
    assert_refused(
        &ben.connect("postgres").refusal(MASTODON),
        "leased by \"ada\" until",
    );
    ada.stop_fast();
    ids.push(first_id(&ben, MASTODON).0);
    assert_unique([&ids]);
}

#[test]
fn when_all_nodes_are_in_use_the_next_member_waits_for_one() {
    let Some(registry) = Registry::start("all in use", 5) else {
        return;
    };
    let next = format!("SELECT snowflake_next('{SMALL}')");
    let members = ["ada", "ben", "eve", "kim"].map(|name| registry.auto(name));
    let mut ids: Vec<i64> = members
        .iter()
        .map(|member| member.connect("postgres").one(&next))
        .collect();
    let late = registry.auto("late");
    let refusal = late.connect("postgres").refusal(&next);
    say(format!("all in use: {refusal}"));
    assert_refused(&refusal, "all 4 nodes (2 bits) are in use");

    members[0].stop_fast();
    let (id, after) = first_id(&late, &next);
    assert!(
        after < Duration::from_secs(1),
        "after a clean stop: {after:?}"
    );
    ids.push(id);

    members[0].start_again();
    assert_refused(
        &members[0].connect("postgres").refusal(&next),
        "all 4 nodes",
    );
    members[3].stop_immediate();
    let (id, after) = first_id(&members[0], &next);
    assert!(after < registry.takeover(), "after a crash: {after:?}");
    ids.push(id);
    // A crashed member does not wait for its own old lease but gets another free node.
    members[1].stop_fast();
    let victim = members[2].connect("postgres");
    members[2].kill9(victim.pid);
    let (id, after) = first_id(&members[2], &next);
    assert!(after < Duration::from_secs(1), "with one free: {after:?}");
    ids.push(id);
    assert_unique([&ids]);
}

/// Nodes of servers without a registry can be reserved.
#[test]
fn reserved_nodes_are_not_granted() {
    let Some(registry) = Registry::start("reserved", 5) else {
        return;
    };
    let mut session = registry.connect();
    session.run("SELECT mint.registry_reserve(13, 8187, 8191, 'the old master')");
    session.run("SELECT mint.registry_reserve(13, 8185, 8185, 'another')");
    let refusal = session.refusal("SELECT mint.registry_reserve(13, 8186, 8187, 'third')");
    assert_eq!(refusal.code, "55006", "{refusal}");
    assert!(
        refusal.message.contains("reserved for \"the old master\""),
        "{refusal}"
    );
    let (ada, ben) = (registry.auto("ada"), registry.fixed("ben", "8190"));
    let (first, _) = first_id(&ada, NEXT);
    assert_eq!(
        session.one::<i32>(&format!("SELECT snowflake_shard({first})")),
        8186
    );
    let refusal = ben
        .connect("postgres")
        .refusal("SELECT snowflake_next_id(8190)");
    assert_refused(&refusal, "reserved for \"the old master\"");
    // The server may have minted ahead, or longer than it should.
    session.run("SELECT mint.registry_unreserve(13, 8187, 8191)");
    ben.until("the reservation has an end", || {
        let refusal = ben
            .connect("postgres")
            .refusal("SELECT snowflake_next_id(8190)");
        refusal
            .detail
            .contains("leased by \"the old master\" until")
    });
    let refusal = session.refusal("SELECT mint.registry_unreserve(13, 8187, 8191)");
    assert_eq!(refusal.code, "42704", "{refusal}");
}

/// Nodes are released while sessions mint, long before their leases end.
#[test]
fn a_release_under_load_repeats_nothing() {
    let Some(registry) = Registry::start("release under load", 10) else {
        return;
    };
    let member = registry.admit(
        Server::build("ada")
            .conf("pg_mint.node = '7'")
            .conf("pg_mint.nodes = '5'"),
    );
    let mut all = Vec::new();
    for sql in [NEXT_5, "SELECT snowflake_next_ids(5, 300)", NEXT] {
        let (ids, refusals) = split(while_minting(&member, 3, sql, || {
            let mut session = member.connect("postgres");
            for _ in 0..count(5, 2) {
                std::thread::sleep(Duration::from_millis(700));
                session.run("SELECT mint.release_leases()");
            }
            std::thread::sleep(Duration::from_millis(700));
        }));
        assert!(
            refusals.is_empty(),
            "{} refusals, the first: {}",
            refusals.len(),
            refusals[0]
        );
        all.extend(ids);
    }
    assert_sound(&all);
    // Without calls the node stays released, and others get it.
    let mut session = member.connect("postgres");
    assert!(session.one::<i64>("SELECT mint.release_leases()") > 0);
    assert_eq!(leases(&member), Vec::<String>::new());
    let ben = registry.fixed("ben", "5");
    let (id, after) = first_id(&ben, NEXT_5);
    assert!(after < Duration::from_secs(3), "{after:?}");
    all.push(vec![id]);
    assert_unique(&all);
    assert_refused(&session.refusal(NEXT_5), "leased by \"ben\" until");
}
