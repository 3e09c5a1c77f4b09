//! Registries that forget: promoted, restored from files or dumps, moved, or restored over themselves. Each waits, continues
//! elsewhere in its ring, and renews what members have.

use mint_cluster::registry::members::{
    AUTO, WAIT, create_registry, end_wait, first_id, refused_for, request, request_sql,
};
use mint_cluster::{Registry, Server, Session, assert_unique, or_skip};
use std::thread::sleep;
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id()";
const WAITS: &str = "grants no new leases for another";

/// Asserts for any change of a registry that had granted nodes before: two members keep them, a newcomer waits, and gets a
/// node that is far away.
#[track_caller]
fn assert_continues(registry: &Registry, members: [&Server; 2], begun: Instant) {
    let nodes = members.map(|member| node(&mut member.connect("postgres")));
    let late = registry.auto("late");
    refused_for(&late, NEXT, WAITS);
    let mut ids: Vec<Vec<i64>> = vec![Vec::new(), Vec::new()];
    let mut newcomer = late.connect("postgres");
    let id = loop {
        for (ids, member) in ids.iter_mut().zip(members) {
            ids.push(member.one(NEXT));
        }
        if let Ok(id) = newcomer.try_one::<i64>(NEXT) {
            break id;
        }
        assert!(begun.elapsed() < 2 * WAIT, "{:?}", begun.elapsed());
        sleep(Duration::from_millis(200));
    };
    let after = members.map(|member| node(&mut member.connect("postgres")));
    assert_eq!(after, nodes, "members lost their nodes");
    let new = newcomer.shard(id);
    let distance = (new - nodes[1]).rem_euclid(4096);
    assert!((500..=3596).contains(&distance), "{nodes:?}, then {new}");
    ids.push(vec![id]);
    assert_unique(&ids);
}

fn node(session: &mut Session) -> i64 {
    session.one("SELECT node FROM mint.leases")
}

/// Starts two members that have leases.
fn two_members(registry: &Registry) -> (Server, Server) {
    let members = (registry.auto("ada"), registry.auto("ben"));
    first_id(&members.0, NEXT);
    first_id(&members.1, NEXT);
    members
}

#[test]
fn a_promoted_registry_that_lacks_grants_continues() {
    let mut registry = or_skip!(Registry::start("a promoted registry"));
    assert!(registry.ask().contains("lease"));
    let standby = registry.server.standby("standby");
    registry.server.wait_for(&standby);
    standby.stop_receiving();
    let (ada, ben) = two_members(&registry);
    registry.server.stop_immediate();
    standby.promote();
    registry.move_to(standby);
    let known = "SELECT count(*) FROM mint.registry_leases";
    assert_eq!(registry.connect().one::<i64>(known), 1);
    assert_continues(&registry, [&ada, &ben], Instant::now());
}

#[test]
fn tables_that_are_restored_over_themselves_are_noticed() {
    let registry = or_skip!(Registry::start("over themselves"));
    let mut admin = registry.connect();
    assert!(registry.ask().contains("lease"));
    // Each of several requests in a statement counts.
    let request = request_sql(13, r#"{"grant": n}"#);
    let request = request.replace(r#"'{"grant": n}'"#, r#"('{"grant": ' || n || '}')"#);
    for first in [1, 11, 21, 31] {
        let some = format!("generate_series({first}, {first} + 9) AS n");
        admin.run(&format!("SELECT {request} FROM {some}"));
    }
    let dump = registry.server.dump_data("postgres", "postgres");
    let (ada, ben) = two_members(&registry);
    admin.run("TRUNCATE mint.registry, mint.registry_leases");
    registry.server.restore("postgres", "postgres", &dump);
    assert_continues(&registry, [&ada, &ben], Instant::now());
}

#[test]
fn a_row_that_is_changed_by_hand_is_a_start() {
    let registry = or_skip!(Registry::start("a changed row"));
    let mut admin = registry.connect();
    for change in [
        "UPDATE mint.registry_leases SET lease_until = lease_until - interval '1 s'",
        "UPDATE mint.registry_leases SET number = number + 10",
        "DELETE FROM mint.registry_leases",
    ] {
        assert!(registry.ask().contains("lease"), "{change}");
        admin.run("SELECT pg_sleep(0.1)");
        admin.run(change);
        assert!(
            request(&mut admin, 13, r#"{"grant": 2}"#).contains("wait"),
            "{change}"
        );
        registry.end_wait();
    }
}

/// Rows that an administrator writes count as a start, so that they hide no rows that are lost. A row that keeps a node out
/// does so wherever the tables go, also to a database that is a registry already.
#[test]
fn nodes_that_are_kept_out_move_with_the_registry() {
    for is_used in [false, true] {
        assert_kept_out(is_used);
    }
}

fn assert_kept_out(is_used: bool) {
    let mut registry = or_skip!(Registry::start("kept out"));
    let mut admin = registry.connect();
    assert!(registry.ask().contains("lease"));
    admin.run("INSERT INTO mint.registry_leases (node_bits, node, lease_until) SELECT 8, n, 'infinity' FROM generate_series(129, 255) AS n");
    assert!(request(&mut admin, 13, r#"{"grant": 2}"#).contains("wait"));
    let dump = registry.server.dump_data("postgres", "postgres");
    let other = Server::build_with_clock("another server")
        .distinct()
        .start_empty();
    let mut there = other.connect("postgres");
    there.run("CREATE EXTENSION pg_mint; CREATE ROLE member LOGIN");
    create_registry(&mut there);
    if is_used {
        end_wait(&other, &mut there);
        assert!(request(&mut there, 13, r#"{"grant": 1}"#).contains("lease"));
    }
    other.restore("postgres", "postgres", &dump);
    let before = registry.switch_to(other);
    before.stop_immediate();
    registry.end_wait();
    let answers: Vec<String> = there.column(&format!(
        "SELECT {}::text FROM generate_series(1, 3)",
        request_sql(8, r#"{"grant": 7}"#)
    ));
    assert!(
        answers.iter().all(|answer| answer.contains("128")),
        "{answers:?}"
    );
    let refused = request_sql(8, r#"{"grant": 8}"#);
    assert!(
        there
            .one::<String>(&format!("SELECT {refused}::text"))
            .contains("full")
    );
}

/// The owner's dump is restored by another role, and members can ask as before. environment/dumps.rs has all forms of dumps.
#[test]
fn a_registry_is_restored_by_another_role() {
    let registry = or_skip!(Registry::start("a dump of a registry"));
    let [mut source, mut copy] = [("owner", "source"), ("heir", "copy")]
        .map(|(owner, name)| registry.server.owned_database(owner, name));
    source.run(
        "CREATE EXTENSION pg_mint; SELECT mint.registry_create();
         INSERT INTO mint.registry_leases (node_bits, node, holder, lease_until) VALUES (13, 5000, 'kept', 'infinity');
         GRANT EXECUTE ON FUNCTION mint.registry_request(jsonb) TO member",
    );
    let dump = registry
        .server
        .dump_with("owner", "source", &["--no-owner"]);
    registry.server.restore("heir", "copy", &dump);
    let mut member = registry.server.connect_as("member", "copy");
    let answer = request(&mut member, 13, r#"{"grant": 1}"#);
    assert!(answer.contains("wait"), "{answer}");
    let kept: Vec<String> = copy.column(
        "SELECT format('%s %s %s', holder, node, lease_until) FROM mint.registry_leases
         WHERE place = mint.registry_place()",
    );
    assert_eq!(kept, ["kept 5000 infinity"]);
}

/// It is a member of its own, and a backup of it is recovered to a time before its last grants.
#[test]
fn a_registry_that_is_its_own_member_is_recovered_to_a_time_before_grants() {
    let builder = Server::build("own")
        .conf(AUTO)
        .conf("cluster_name = 'own'")
        .archiving();
    let mut registry = or_skip!(Registry::start_with(builder));
    let mut session = registry.connect();
    session.run("CREATE EXTENSION dblink");
    registry.create_server(&mut session, "registry", "postgres");
    session.set_for_server("pg_mint.registry", "'registry'");
    let mut ids = vec![vec![first_id(&registry.server, NEXT).0]];
    let backup = registry.server.backup();
    let time: String = session.one("SELECT clock_timestamp()::text");
    drop(session);
    let (ada, ben) = (registry.auto("ada"), registry.auto("ben"));
    for member in [&ada, &ben, &registry.server] {
        ids.push(vec![first_id(member, NEXT).0]);
    }
    registry.server.fill_archive();
    registry.server.stop_immediate();
    let target = format!("recovery_target_time = '{time}'");
    let recovered = registry.server.restored("recovered", backup, &target, "+0");
    registry.move_to(recovered);
    let begun = Instant::now();
    assert_continues(&registry, [&ada, &ben], begun);
    // Its ids continue, as another node.
    let old = {
        let first = ids[0][0];
        registry.connect().shard(first)
    };
    let (id, _) = first_id(&registry.server, NEXT);
    assert_ne!(registry.connect().shard(id), old);
    ids.push(vec![id]);
    // Its clock is wrong for a while, and with it that of one member.
    registry.server.set_clock("+100");
    refused_for(
        &registry.auto("eve"),
        NEXT,
        "behind the clock of the registry",
    );
    registry.server.set_clock("+0");
    for member in [&ada, &ben] {
        ids.push(vec![first_id(member, NEXT).0]);
    }
    assert_unique(&ids);
}
