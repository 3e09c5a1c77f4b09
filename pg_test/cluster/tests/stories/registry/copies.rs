//! Members that are paused, cloned, restored, promoted, or have a wrong clock. Each mints within its own lease or not
//! at all.

use super::shard;
use mint_cluster::load::sessions::{assert_sound, split, while_minting};
use mint_cluster::registry::members::{AUTO, assert_refused, first_id};
use mint_cluster::{Registry, Server, Session, assert_ascending, assert_unique, say};
use std::thread::sleep;
use std::time::Duration;

const NEXT: &str = "SELECT snowflake_next_id()";
const NEXT_5: &str = "SELECT snowflake_next_id(5)";
const MANY: &str = "SELECT snowflake_next_id() FROM generate_series(1, 1000)";

/// Starts a member whose clock, and its worker's, can be set.
fn clocked(registry: &Registry, name: &str, nodes: &str) -> Server {
    let builder = Server::build_with_clock(name);
    registry.admit(builder.conf(&format!("pg_mint.nodes = '{nodes}'")))
}

#[test]
fn a_paused_member_mints_nothing_outside_its_lease() {
    let Some(registry) = Registry::start("paused", 5) else {
        return;
    };
    let (ada, ben) = (registry.fixed("ada", "5"), registry.fixed("ben", "5"));
    let mut all = Vec::new();
    let (ids, refusals) = split(while_minting(&ada, 4, NEXT_5, || {
        sleep(Duration::from_millis(500));
        let frozen = ada.freeze();
        let (id, after) = first_id(&ben, NEXT_5);
        assert!(after < registry.takeover(), "{after:?}");
        let mut session = ben.connect("postgres");
        let many = "SELECT snowflake_next_id(5) FROM generate_series(1, 20000)";
        all.push(vec![id]);
        all.push(session.column::<i64>(many));
        drop(frozen);
        sleep(Duration::from_millis(300));
        all.push(session.column::<i64>(many));
    }));
    let highest = ids.iter().flatten().max().copied();
    assert!(highest < Some(all[0][0]), "minted as another's node");
    assert!(!refusals.is_empty());
    for refusal in &refusals {
        assert_eq!(refusal.code, "55000", "{refusal}");
    }
    assert_refused(
        &ada.connect("postgres").refusal(NEXT_5),
        "leased by \"ben\" until",
    );
    all.extend(ids);
    assert_unique(&all);
    // The same with the two members swapped.
    ben.stop_fast();
    all.push(vec![first_id(&ada, NEXT_5).0]);
    assert_unique(&all);
}

/// A member that takes any node gets another one after a pause, and its sessions continue without an error.
#[test]
fn a_paused_member_with_any_node_takes_another() {
    let Some(registry) = Registry::start("paused, any node", 5) else {
        return;
    };
    let (ada, ben) = (registry.auto("ada"), registry.auto("ben"));
    let mut session = ada.connect("postgres");
    let first: i64 = session.one(NEXT);
    let mut witness = registry.connect();
    assert_eq!(shard(&mut witness, first), 8191);
    let frozen = ada.freeze();
    registry.wait_for_leases();
    let (id, _) = first_id(&ben, NEXT);
    assert_eq!(shard(&mut witness, id), 8191);
    drop(frozen);
    let (next, after) = first_id(&ada, NEXT);
    say(format!("another node {after:?} after a pause"));
    assert!(after < Duration::from_secs(1), "{after:?}");
    assert_eq!(shard(&mut witness, next), 8190);
    assert_unique([&vec![first, id, next]]);
}

/// A clone, an old copy and a promoted standby do not use the lease of their original.
#[test]
fn copies_of_a_member_get_leases_of_their_own() {
    let Some(registry) = Registry::start("copies", 5) else {
        return;
    };
    let ada = registry.admit(Server::build("ada").conf(AUTO).conf("pg_mint.nodes = '5'"));
    let mut all: Vec<Vec<i64>> = vec![ada.connect("postgres").column(MANY)];
    all.push(vec![ada.connect("postgres").one(NEXT_5)]);
    let clone = ada.copied("a clone");
    let old = ada.copied("an old copy");
    let standby = ada.standby("a standby");
    clone.start_again();
    ada.wait_for(&standby);
    standby.promote();

    let servers = [&ada, &clone, &standby];
    for _ in 0..3 {
        for server in servers {
            all.push(server.connect("postgres").column(MANY));
        }
        for copy in [&clone, &standby] {
            assert_refused(
                &copy.connect("postgres").refusal(NEXT_5),
                "leased by \"ada\" until",
            );
        }
        sleep(Duration::from_millis(700));
    }
    let mut witness = registry.connect();
    let nodes: Vec<i64> = all[all.len() - 3..]
        .iter()
        .map(|ids| shard(&mut witness, ids[0]))
        .collect();
    assert_eq!(nodes, [8191, 8190, 8189]);
    let of_one_system: i64 =
        witness.one("SELECT count(DISTINCT system_identifier) FROM mint_registry.nodes WHERE held");
    assert_eq!(of_one_system, 1);

    // The original is lost. An old copy that replaces it gets the node as soon as the lease has ended.
    clone.stop_fast();
    standby.stop_fast();
    ada.stop_immediate();
    old.start_again();
    all.push(old.connect("postgres").column(MANY));
    let (id, after) = first_id(&old, NEXT_5);
    assert!(after < registry.takeover(), "{after:?}");
    all.push(vec![id]);
    assert_unique(&all);
}

#[test]
fn a_clock_that_is_far_off_is_refused_with_the_difference() {
    let Some(registry) = Registry::start("clocks far off", 5) else {
        return;
    };
    for (offset, words) in [
        ("+3600", "3600.0 s ahead of the clock of the registry"),
        ("-3600", "3600.0 s behind the clock of the registry"),
        ("+2", "2.0 s ahead of"),
    ] {
        let ada = clocked(&registry, "ada", "5");
        ada.set_clock(offset);
        let refusal = ada.connect("postgres").refusal(NEXT_5);
        say(format!("{offset}: {refusal}"));
        assert_refused(&refusal, words);
        assert!(refusal.detail.contains("(maximum 1.2 s)"), "{refusal}");
        ada.set_clock("+0.2");
        first_id(&ada, NEXT_5);
        ada.stop_fast();
    }
}

/// One member's clock steps under load, while another gets the same node in turn.
#[test]
fn steps_of_a_members_clock_repeat_nothing() {
    let Some(registry) = Registry::start("clocks that step", 5) else {
        return;
    };
    let ada = clocked(&registry, "ada", "5");
    let ben = registry.fixed("ben", "5");
    let mut others = Vec::new();
    let (ids, refusals) = split(while_minting(&ada, 3, NEXT_5, || {
        for offset in [
            "+0", "+0.3", "-0.3", "+5", "+0", "-5", "+0", "+3600", "+0", "-3600",
        ] {
            ada.set_clock(offset);
            sleep(Duration::from_millis(400));
            others.extend(ben.connect("postgres").try_one::<i64>(NEXT_5));
        }
        // An hour behind, the member is refused, and the other gets the node.
        let (id, after) = first_id(&ben, NEXT_5);
        assert!(after < registry.takeover(), "{after:?}");
        others.push(id);
        ada.set_clock("+0");
        sleep(Duration::from_millis(500));
    }));
    for refusal in &refusals {
        assert!(
            ["55000", "58000"].contains(&refusal.code.as_str()),
            "{refusal}"
        );
    }
    assert!(!refusals.is_empty());
    let mut all = ids;
    assert_sound(&all);
    all.push(others);
    ben.stop_fast();
    all.push(vec![first_id(&ada, NEXT_5).0]);
    assert_unique(&all);
    assert_ascending(&all[all.len() - 2]);
}

/// Two faults at once: the registry has forgotten that another member had the node meanwhile, and the clock of the
/// member that had it before goes back to that time.
#[test]
fn a_renewed_lease_of_a_restored_registry_does_not_cover_the_past() {
    let Some(mut registry) = Registry::start("an old lease", 5) else {
        return;
    };
    let ada = clocked(&registry, "ada", "5");
    let ben = registry.fixed("ben", "5");
    let mut session = ada.connect("postgres");
    let mut all: Vec<i64> = vec![session.one(NEXT_5)];
    let copy = registry.server.copied("an old copy");
    let frozen = ada.freeze();
    // For some seconds the other member has the node.
    let (id, _) = first_id(&ben, NEXT_5);
    all.push(id);
    let mut other = ben.connect("postgres");
    for _ in 0..30 {
        sleep(Duration::from_millis(100));
        all.extend(other.column::<i64>("SELECT snowflake_next_ids(5, 300)"));
    }
    ben.stop_immediate();
    registry.server.stop_immediate();
    copy.start_again();
    // All leases have ended, or their holder is gone.
    registry.move_to(copy);
    registry.end_quarantine();
    drop(frozen);
    ada.until("the old lease is renewed", || {
        session.one("SELECT lease_until > clock_timestamp() FROM mint.leases")
    });
    // Steps through the time of the other's lease.
    let mut again = Vec::new();
    for back in 0..60 {
        ada.set_clock(&format!("{:+.1}", -f64::from(60 - back) / 10.0));
        session.run("SET pg_mint.max_wait = 0");
        again.extend(
            session
                .try_column::<i64>("SELECT snowflake_next_ids(5, 300)")
                .unwrap_or_default(),
        );
    }
    ada.set_clock("+0");
    again.push(ada.until_minted(|| session.try_one(NEXT_5)));
    all.extend(&again);
    say(format!("{} ids after the lease was renewed", again.len()));
    assert_unique([&all]);
}

/// All clocks are a day ahead, and then correct again. The registry grants other nodes once that is accepted, and those of the
/// future only when it is told to: no id repeats before that.
#[test]
fn clocks_that_were_ahead_are_accepted() {
    const RESET: &str = "SELECT mint.reset_ceiling(now())";
    let Some(registry) = Registry::start_with(Server::build_with_clock("a registry ahead"), 5)
    else {
        return;
    };
    let ada = registry.admit(Server::build_with_clock("ada").conf(AUTO));
    let (ben, eve) = (
        clocked(&registry, "ben", "5"),
        clocked(&registry, "eve", "6"),
    );
    let move_to = |offset: &str| {
        let servers = [&ada, &ben, &eve, &registry.server];
        servers.iter().for_each(|server| server.stop_fast());
        servers.iter().for_each(|server| server.set_clock(offset));
        let started = servers.iter().rev();
        started.for_each(|server| server.start_again());
        registry.end_quarantine();
    };
    move_to("+1d");
    let mut ids = vec![first_id(&ada, NEXT).0, first_id(&ben, NEXT_5).0];
    // A lease that is followed by another one is not kept.
    ben.restart();
    ids.push(first_id(&ben, NEXT_5).0);
    let node = shard(&mut ada.connect("postgres"), ids[0]);
    move_to("+0");
    for server in [&ada, &ben] {
        server.connect("postgres").run(RESET);
    }
    assert_refused(&ada.connect("postgres").refusal(NEXT), "accept_clock");
    let mut admin = registry.connect();
    let accept = |admin: &mut Session, call: &str| -> i64 {
        let found = admin.one(&format!("SELECT mint.registry_accept_clock({call})"));
        registry.end_quarantine();
        found
    };
    assert_eq!(accept(&mut admin, ""), 2);
    ids.push(first_id(&ada, NEXT).0);
    assert_ne!(shard(&mut ada.connect("postgres"), ids[3]), node);
    ids.push(first_id(&eve, "SELECT snowflake_next_id(6)").0);
    assert_refused(
        &ben.connect("postgres").refusal(NEXT_5),
        "leased by \"ben\"",
    );
    assert_eq!(accept(&mut admin, "end_leases => true"), 2);
    ids.push(first_id(&ben, NEXT_5).0);
    assert_eq!(accept(&mut admin, "true"), 0);
    assert_unique([&ids]);
}
