//! Registries that are frozen, half open, slow, or answer half. They do not hold up a member's shutdown, or get more than
//! one connection of it.

use mint_cluster::registry::members::{LEASE, first_id};
use mint_cluster::registry::proxy::{Passing, Proxy};
use mint_cluster::{Registry, Server, Session, assert_ascending, or_skip};
use std::net::TcpListener;
use std::thread::sleep;
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id()";
const UNRESPONSIVE: &str = "foreign server \"registry\" did not respond";

/// A fault of the registry, or on the way to it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// Connections are lost; new ones are accepted, and never answered.
    Listener,
    /// No packet passes, and no connection is closed.
    HalfOpen,
    /// All of an answer passes but its end.
    HalfAnswer,
    /// All processes of the registry stand still.
    Frozen,
}

/// Starts a registry with a member that holds a lease, which it has requested by a proxy. No setting of the foreign
/// server limits the time that anything takes.
fn start(story: &str) -> Option<(Registry, Proxy, Server)> {
    let registry = Registry::start(story)?;
    let proxy = Proxy::start(registry.socket());
    let member = registry.auto("ada");
    let mut session = member.connect("postgres");
    session.run(&format!(
        "ALTER SERVER registry OPTIONS (SET host '127.0.0.1', SET port '{}', DROP connect_timeout)",
        proxy.port()
    ));
    member.until_minted(|| session.try_one::<i64>(NEXT));
    Some((registry, proxy, member))
}

/// Returns how many sessions members have on the registry.
fn sessions(registry: &mut Session) -> i64 {
    registry.one("SELECT count(*) FROM pg_stat_activity WHERE usename = 'member'")
}

/// Asserts that members have at most `limit` sessions on the registry for a while. A canceled session can end beside the
/// next one.
#[track_caller]
fn assert_few_sessions(registry: &Registry, limit: i64, during: Duration) {
    let mut session = registry.connect();
    let begun = Instant::now();
    let mut most = 0;
    while begun.elapsed() < during {
        most = most.max(sessions(&mut session));
        sleep(Duration::from_millis(20));
    }
    assert!(most <= limit, "{most} sessions of members");
}

#[track_caller]
fn assert_within(limit: Duration, what: &str, work: impl FnOnce()) {
    let begun = Instant::now();
    work();
    assert!(begun.elapsed() < limit, "{what}: {:?}", begun.elapsed());
}

/// A failover leaves a host that is silent, and is the first of the foreign server.
#[test]
fn a_silent_host_does_not_hide_the_next_one() {
    let (registry, proxy, member) = or_skip!(start("two hosts"));
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let silent = silent.local_addr().expect("a port").port();
    let mut session = member.connect("postgres");
    session.run(&format!(
        "SELECT mint.release_leases(); ALTER SERVER registry OPTIONS (SET host '127.0.0.1,127.0.0.1', SET port '{silent},{}')",
        proxy.port()
    ));
    assert_within(LEASE, "the first id", || {
        member.until_minted(|| session.try_one::<i64>(NEXT));
    });
    drop(registry);
}

/// Asserts that no session waits for ever, with a lease that has ended or without any.
#[track_caller]
fn assert_soon_refused(session: &mut Session) {
    let refusal = session.refused(NEXT, "55000");
    assert!(refusal.after < Duration::from_secs(6), "{refusal}");
}

fn a_member_survives(fault: Fault) {
    let (registry, proxy, member) = or_skip!(start(&format!("{fault:?}")));
    let mut session = member.connect("postgres");
    let before: i64 = session.one(NEXT);
    let frozen = (fault == Fault::Frozen).then(|| registry.server.freeze());
    match fault {
        Fault::Listener => {
            proxy.let_pass(Passing::Nothing);
            proxy.cut();
        }
        Fault::HalfOpen => proxy.let_pass(Passing::Nothing),
        Fault::HalfAnswer => proxy.let_pass(Passing::AllButTheEnd),
        Fault::Frozen => {}
    }
    member.until("the view says what is wrong", || {
        let trouble: Option<String> = session.one("SELECT max(trouble) FROM mint.leases");
        trouble.is_some_and(|trouble| trouble.contains(UNRESPONSIVE))
    });
    // Wherever the worker is at this time: connecting, waiting for an answer, or canceling.
    for round in 0..3 {
        sleep(Duration::from_millis(700 * round));
        assert_within(Duration::from_secs(3), "pg_terminate_backend", || {
            let ended: bool = session.one(
                "SELECT coalesce(bool_and(pg_terminate_backend(pid, 10000)), true) FROM pg_stat_activity
                 WHERE backend_type = 'pg_mint registry'",
            );
            assert!(ended, "the worker does not end");
        });
        // The lease can last. Otherwise the session starts the next worker.
        let _ = session.try_one::<i64>(NEXT);
    }
    if fault != Fault::Frozen {
        assert_few_sessions(&registry, 2, Duration::from_secs(5));
    }
    assert_soon_refused(&mut session);
    drop(session);
    assert_within(Duration::from_secs(4), "a fast shutdown", || {
        member.stop_fast()
    });

    member.start_again();
    let mut session = member.connect("postgres");
    // The session waits, and the worker retries.
    for _ in 0..3 {
        assert_soon_refused(&mut session);
    }
    drop(frozen);
    proxy.let_pass(Passing::All);
    assert_few_sessions(&registry, 2, Duration::from_secs(1));
    let (id, after) = first_id(&member, NEXT);
    // It has forgotten nothing.
    assert!(after < Duration::from_secs(4), "{after:?}");
    assert_ascending(&[before, id]);
    registry.server.until("one session is left", || {
        sessions(&mut registry.connect()) == 1
    });
}

#[test]
fn a_listener_that_never_answers_holds_up_nothing() {
    a_member_survives(Fault::Listener);
}

#[test]
fn a_half_open_connection_holds_up_nothing() {
    a_member_survives(Fault::HalfOpen);
}

#[test]
fn an_answer_without_its_end_holds_up_nothing() {
    a_member_survives(Fault::HalfAnswer);
}

#[test]
fn a_frozen_registry_holds_up_nothing() {
    a_member_survives(Fault::Frozen);
}

/// A session on the registry that was ended costs no request.
#[test]
fn a_lost_connection_is_made_again_at_once() {
    let (registry, proxy, member) = or_skip!(start("a lost connection"));
    let mut session = member.connect("postgres");
    // Widths that the server has no lease of.
    proxy.cut();
    session.one::<i64>("SELECT snowflake_next('twitter')");
    registry.connect().run(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'member'",
    );
    session.one::<i64>("SELECT snowflake_next('sonyflake')");
    assert_eq!(sessions(&mut registry.connect()), 1);
    let log = member.log();
    assert!(!log.contains("could not obtain lease"), "{log}");
}

/// The signal comes while the worker waits for an answer, so that what it waits for has reset the latch.
#[test]
fn a_worker_that_ends_during_a_request_releases_its_lease() {
    const WORKER: &str = "FROM pg_stat_activity WHERE backend_type = 'pg_mint registry'";
    let (registry, _proxy, member) = or_skip!(start("the end during a request"));
    let (mut session, mut watch) = (member.connect("postgres"), registry.connect());
    let mut admin = registry.connect();
    admin.run("BEGIN; LOCK TABLE mint.registry, mint.registry_leases");
    registry.server.until("a renewal waits for the lock", || {
        watch.one(
            "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE usename = 'member' AND wait_event_type = 'Lock')",
        )
    });
    session.run(&format!("SELECT pg_terminate_backend(pid) {WORKER}"));
    sleep(Duration::from_millis(100));
    admin.run("ROLLBACK");
    member.until("the worker has ended", || {
        session.one(&format!("SELECT NOT EXISTS (SELECT {WORKER})"))
    });
    let held: i64 = watch
        .one("SELECT count(*) FROM mint.registry_leases WHERE lease_until > clock_timestamp()");
    assert_eq!(held, 0, "{}", member.log());
}

/// The worker is in the database of the foreign server, and leaves it to a session that wants it.
#[test]
fn the_database_of_the_worker_can_be_copied_renamed_and_dropped() {
    let registry = or_skip!(Registry::start("a wanted database"));
    let member = registry.admit(
        Server::build("ada")
            .conf("pg_mint.node = 'auto'")
            .conf("pg_mint.registry_database = 'app'"),
    );
    let mut session = member.connect("postgres");
    session.run("CREATE ROLE owner LOGIN CREATEDB");
    session.run("CREATE DATABASE app OWNER owner");
    let mut app = member.connect("app");
    app.run("CREATE EXTENSION dblink; CREATE EXTENSION pg_mint");
    registry.create_server(&mut app, "registry", "postgres");
    drop(app);
    let mut owner = member.connect_as("owner", "postgres");
    let mut ids: Vec<i64> = Vec::new();
    for (round, frozen) in [false, true].into_iter().enumerate() {
        ids.push(first_id(&member, NEXT).0);
        let frozen = frozen.then(|| registry.server.freeze());
        // The worker waits for an answer by now, if the registry is frozen.
        sleep(Duration::from_secs(2));
        assert_within(Duration::from_secs(30), "a copy", || {
            owner.run(&format!("CREATE DATABASE copy{round} TEMPLATE app"));
        });
        let _ = session.try_one::<i64>(NEXT);
        sleep(Duration::from_secs(2));
        assert_within(Duration::from_secs(30), "renaming", || {
            owner.run("ALTER DATABASE app RENAME TO other");
        });
        owner.run("ALTER DATABASE other RENAME TO app");
        let _ = session.try_one::<i64>(NEXT);
        drop(frozen);
    }
    ids.push(first_id(&member, NEXT).0);
    assert_ascending(&ids);
    assert_within(Duration::from_secs(10), "dropping", || {
        owner.run("DROP DATABASE app WITH (FORCE)");
    });
}
