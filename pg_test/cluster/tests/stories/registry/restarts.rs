//! Stops and restarts of a registry that an operator wants, and older copies of it that take its place: what they cost, and
//! how long they take.

use super::shard;
use crate::monitor::{assert_status, status};
use mint_cluster::load::sessions::{assert_sound, assert_unique, split, while_minting};
use mint_cluster::registry::members::{AUTO, QUARANTINE, first_id};
use mint_cluster::{Registry, Server, Session, say};
use std::thread::sleep;
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id()";
const PREPARE: &str = "SELECT mint.registry_prepare_restart() > clock_timestamp()";
/// A node of a width that no session has needed before.
const ANOTHER: &str =
    "SELECT snowflake_next('time:41 shard:10 seq:12 unit:1ms epoch:2020-01-01T00:00:00Z')";

/// A smart shutdown waits for all sessions; those of members end by themselves. No id is lost while their leases last.
#[test]
fn a_smart_shutdown_of_a_registry_ends_while_members_live() {
    let Some(registry) = Registry::start("smart shutdown", 30) else {
        return;
    };
    let members = ["ada", "ben", "eve"].map(|name| registry.auto(name));
    for member in &members {
        first_id(member, NEXT);
    }
    let mut took = Duration::ZERO;
    let records = while_minting(&members[0], 2, NEXT, || {
        sleep(Duration::from_secs(1));
        let begun = Instant::now();
        registry.server.stop_smart();
        took = begun.elapsed();
        sleep(Duration::from_secs(12));
        registry.server.start_again();
        sleep(Duration::from_secs(12));
    });
    say(format!(
        "smart shutdown with {} members: {took:?}",
        members.len()
    ));
    assert!(took < Duration::from_secs(4), "{took:?}");
    let (ids, refusals) = split(records);
    assert!(refusals.is_empty(), "{}", refusals[0]);
    assert_sound(&ids);
}

/// A session that requests more often than it looks whether the server stops ends, too.
#[test]
fn a_smart_shutdown_ends_while_a_session_requests_again_and_again() {
    let Some(registry) = Registry::start("smart shutdown under requests", 30) else {
        return;
    };
    let mut visitor = registry.server.connect_as("member", "postgres");
    let request = "SELECT mint.registry_request(jsonb_build_object('protocol', 1, 'request', 'lease', 'holder', 'x', 'system', 1,
        'clock', extract(epoch FROM clock_timestamp())::bigint * 1000000, 'listed', '[]'::jsonb, 'node_bits', 13))";
    let begun = Instant::now();
    let requests = std::thread::spawn(move || {
        while begun.elapsed() < Duration::from_secs(20) {
            if visitor
                .try_run(request)
                .is_err_and(|refusal| refusal.is_loss())
            {
                break;
            }
            sleep(Duration::from_millis(100));
        }
    });
    sleep(Duration::from_millis(500));
    registry.server.stop_smart();
    let took = begun.elapsed();
    requests.join().expect("a session");
    assert!(took < Duration::from_secs(5), "{took:?}");
}

/// Starts a server that is a registry and a member of it.
fn start_own(story: &str) -> Option<Registry> {
    let builder = Server::build(story).conf(AUTO).conf("cluster_name = 'own'");
    let registry = Registry::start_with(builder, 30)?;
    let mut session = registry.connect();
    session.run("CREATE EXTENSION dblink");
    registry.create_server(&mut session, "registry", "postgres");
    session.set_for_server("pg_mint.registry", "'registry'");
    Some(registry)
}

/// The quarantine counts from the first request after a restart, and mint.health() says so before it.
#[test]
fn a_quarantine_that_is_to_come_is_told() {
    let Some(registry) = Registry::start("a quarantine to come", 5) else {
        return;
    };
    let told = "SELECT status || ': ' || detail FROM mint.health() WHERE check_name = 'quarantine'";
    let health = || registry.connect().one::<String>(told);
    assert!(health().starts_with("ok: "), "{}", health());
    let prepared: bool = registry.connect().one(PREPARE);
    assert!(prepared);
    registry.server.restart();
    assert!(health().starts_with("ok: "), "{}", health());
    // That one has used up what was prepared.
    registry
        .connect()
        .run("SELECT mint.registry_assign(13, 'eve')");
    registry.server.restart();
    assert!(health().starts_with("warning: "), "{}", health());
    assert!(!registry.is_in_quarantine(), "the next request begins it");
    let ada = registry.auto("ada");
    first_refusal(&ada);
    assert!(registry.is_in_quarantine());
    assert!(health().starts_with("warning: "), "{}", health());
    // The member says so as well, until it is none.
    let mut session = ada.connect("postgres");
    assert_status(&mut session, "quarantine", "warning", "is in quarantine");
    session.set_for_server("pg_mint.registry", "''");
    ada.until("the settings are reset", || {
        status(&mut session, "registry") == "ok"
    });
    assert_status(&mut session, "quarantine", "ok", "is no registry");
}

/// Asserts that a member is refused for a quarantine.
#[track_caller]
fn first_refusal(member: &Server) {
    let refusal = member.connect("postgres").refusal(NEXT);
    assert!(refusal.detail.contains("is in quarantine"), "{refusal}");
}

/// A server that is its own registry has leases at once after a restart that was prepared, and so have others. It says what
/// another restart costs.
#[test]
fn a_planned_restart_costs_nothing() {
    let Some(registry) = start_own("a planned restart") else {
        return;
    };
    let server = &registry.server;
    let mut all = vec![vec![first_id(server, NEXT).0]];
    let ada = registry.auto("ada");
    all.push(vec![first_id(&ada, NEXT).0]);
    let told: String = registry
        .connect()
        .one("SELECT detail FROM mint.health() WHERE check_name = 'quarantine'");
    assert!(told.contains("mint.registry_prepare_restart()"), "{told}");
    let told: String = ada
        .connect("postgres")
        .one("SELECT detail FROM mint.health() WHERE check_name = 'quarantine'");
    assert_eq!(told, "This database is no registry.");

    for stop in [
        Server::stop_fast,
        Server::stop_immediate,
        Server::stop_smart,
    ] {
        assert!(registry.connect().one::<bool>(PREPARE));
        // What is granted from here to the stop is kept.
        let eve = registry.auto("eve");
        let (held, _) = first_id(&eve, NEXT);
        stop(server);
        server.start_again();
        let (id, after) = first_id(server, NEXT);
        let (other, of_member) = first_id(&ada, ANOTHER);
        say(format!(
            "first ids {after:?} after the restart; of a member with a new lease {of_member:?}"
        ));
        assert!(after < Duration::from_secs(3), "{after:?}");
        assert!(of_member < Duration::from_secs(3), "{of_member:?}");
        assert!(!registry.is_in_quarantine());
        let mut witness = registry.connect();
        assert_ne!(shard(&mut witness, id), shard(&mut witness, held));
        all.extend([vec![id], vec![other], vec![held]]);
        // The next time, it has to be released.
        ada.connect("postgres").run("SELECT mint.release_leases()");
        all.push(vec![first_id(&ada, NEXT).0]);
    }
    let log = server.log();
    assert!(
        log.contains("registry of nodes continues after a planned restart"),
        "{log}"
    );
    assert!(
        !log.contains("registry of nodes begins a quarantine"),
        "{log}"
    );
    assert_unique(&all);

    // It was used up.
    server.restart();
    let (_, after) = first_id(server, NEXT);
    say(format!(
        "first id {after:?} after a restart that was not prepared"
    ));
    assert!(after > QUARANTINE - Duration::from_secs(10), "{after:?}");
}

/// A copy of the disk that has the mark, and lacks what was granted since, begins a quarantine when a member tells of it;
/// and one that was promoted, or started too late, by itself.
#[test]
fn a_mark_of_a_planned_restart_is_not_one_for_copies() {
    let Some(mut registry) = Registry::start("a copied mark", 5) else {
        return;
    };
    let ada = registry.auto("ada");
    let mut all = vec![vec![first_id(&ada, NEXT).0]];
    // So long after the last quarantine that members are listened to.
    registry.connect().run(
        "UPDATE mint_registry.registry SET quarantine = '-infinity', written = pg_current_xact_id()::xid",
    );
    registry.connect().run(PREPARE);
    let standby = registry.server.standby("the registry's standby");
    let copy = registry.server.copied("a copy with the mark");
    // More than a copy writes while it starts.
    registry
        .connect()
        .run("SELECT pg_logical_emit_message(false, 'mint', repeat('x', 4000000))");
    let ben = registry.auto("ben");
    all.push(vec![first_id(&ben, NEXT).0]);
    registry.wait_for_leases();
    registry.server.wait_for(&standby);
    registry.server.stop_immediate();
    copy.start_again();
    registry.move_to(copy);
    ada.until("a member has told of what the copy lacks", || {
        registry.is_in_quarantine()
    });
    for member in [&ada, &ben] {
        all.push(member.connect("postgres").column(NEXT));
    }
    standby.promote();
    registry.move_to(standby);
    ada.until("the promoted standby is in quarantine", || {
        registry.is_in_quarantine()
    });
    let refused = |session: &mut Session, within: &str| {
        let call = format!("SELECT mint.registry_prepare_restart({within})");
        session.refusal(&call).code
    };
    let mut session = registry.connect();
    for within in ["'0'", "'-1 s'", "'61 min'"] {
        assert_eq!(refused(&mut session, within), "22023", "{within}");
    }
    assert_eq!(refused(&mut session, "NULL"), "22004");
    // The mark ends.
    session.run("SELECT mint.registry_end_quarantine(), mint.registry_prepare_restart('1 s')");
    sleep(Duration::from_millis(1_100));
    registry.server.restart();
    ada.until("a late start begins a quarantine", || {
        registry.is_in_quarantine()
    });
    assert_unique(&all);
}

/// A smart shutdown of a server that hands out segments of its sequences ends, too.
#[test]
fn a_smart_shutdown_of_a_central_server_of_sequences_ends() {
    let Some(registry) = Registry::start("smart shutdown of sequences", 30) else {
        return;
    };
    let create = "SELECT segment_create('orders')";
    let mut central = registry.connect();
    central.run(&format!(
        "{create}; GRANT USAGE ON SEQUENCE orders TO member"
    ));
    drop(central);
    let ada = registry.admit(Server::build("ada"));
    let mut session = ada.connect("postgres");
    session.run("SELECT segment_create('orders', source => 'registry')");
    session.one::<i64>("SELECT segment_next('orders')");
    let begun = Instant::now();
    registry.server.stop_smart();
    let took = begun.elapsed();
    say(format!("smart shutdown of a central server: {took:?}"));
    assert!(took < Duration::from_secs(4), "{took:?}");
}

/// Waits until all members have heard of the registry as it is: they renew their leases after a third of them.
fn let_renew(registry: &Registry) {
    sleep(registry.lease / 2);
}

/// Puts a copy of the registry, which was made before it was restarted so often, in its place.
fn restore_after(registry: &mut Registry, restarts: usize) {
    let copy = registry.server.copied("an older copy");
    for _ in 0..restarts {
        registry.server.restart();
        let_renew(registry);
    }
    registry.server.stop_immediate();
    copy.start_again();
    registry.move_to(copy);
    // Until leases that were not renewed would have ended.
    sleep(registry.lease * 3 / 2);
}

/// Both count their quarantines: the copy begins one with a number that the members know already, where it lacks as many as
/// it begins.
#[test]
fn an_older_copy_that_lacks_restarts_is_followed_without_a_gap() {
    let Some(mut registry) = Registry::start("histories", 10) else {
        return;
    };
    let (ada, ben) = (registry.auto("ada"), registry.auto("ben"));
    let mut bens = Vec::new();
    let mut answers = while_minting(&ada, 1, NEXT, || {
        bens = while_minting(&ben, 1, NEXT, || {
            for restarts in [1, 0, 2] {
                restore_after(&mut registry, restarts);
                [&ada, &ben].into_iter().for_each(assert_calm);
            }
        });
    });
    answers.extend(bens);
    let (ids, refusals) = split(answers);
    let errors: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    say(format!(
        "{} ids, {} errors",
        ids.iter().map(Vec::len).sum::<usize>(),
        errors.len()
    ));
    assert!(errors.is_empty(), "{}: {}", errors.len(), errors[0]);
    assert_sound(&ids);
}

/// Asserts that a member holds its lease, and nothing troubles it.
#[track_caller]
fn assert_calm(member: &Server) {
    let mut session = member.connect("postgres");
    let calm = "SELECT string_agg(DISTINCT trouble, '; ') FROM mint.leases";
    assert_eq!(session.one::<Option<String>>(calm), None);
}
