//! Every wait has a name: `pg_stat_activity` shows it from 17 on.

use mint_cluster::server::installation;
use mint_cluster::{Registry, Server, Session, or_skip, say};
use std::net::TcpListener;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Two ids an hour, so that a call waits for long.
const HOURLY: &str = "time:20 shard:4 seq:1 unit:3600s epoch:2024-01-01T00:00:00Z";

/// A session that does not wait for the event by then never does.
const LONGEST: Duration = Duration::from_secs(20);

/// Returns the type and name of an event as this server shows it.
fn event_name(server: &Server, event: &str) -> String {
    match server.major() {
        17.. => format!("Extension {event}"),
        _ if event == "MintUserLock" => "Lock advisory".to_owned(),
        _ => "Extension Extension".to_owned(),
    }
}

/// Runs `sql` in `session` until it waits as `event`, then cancels it.
fn assert_waits(server: &Server, mut session: Session, sql: &str, event: &str) {
    let pid = session.pid;
    let mut other = server.connect("postgres");
    let seen = format!(
        "SELECT coalesce(wait_event_type || ' ' || wait_event, '') FROM pg_stat_activity WHERE pid = {pid}"
    );
    let expected = event_name(server, event);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || session.refusal(sql));
        let begun = Instant::now();
        let mut last = String::new();
        // Assertions come after the session has ended: the scope waits for it.
        while last != expected && !waiting.is_finished() && begun.elapsed() < LONGEST {
            last = other.one(&seen);
        }
        // More than the shortest wait that is counted.
        sleep(Duration::from_millis(20));
        other.run(&format!("SELECT pg_cancel_backend({pid})"));
        let refusal = waiting.join().expect("the waiting session");
        assert_eq!(last, expected, "{sql}: {refusal}");
        assert_eq!(refusal.code, "57014", "{sql}: {refusal}");
    });
    assert_named(&mut other, server, event);
}

/// Asserts that the server knows the name.
fn assert_named(session: &mut Session, server: &Server, event: &str) {
    if server.major() >= 17 {
        let named: bool = session.one(&format!(
            "SELECT count(*) = 1 FROM pg_wait_events WHERE type = 'Extension' AND name = '{event}'"
        ));
        assert!(named, "pg_wait_events lacks {event}");
    }
}

/// Returns how often, and whether for some time, calls have waited for a cause.
fn counted_waits(session: &mut Session, cause: &str) -> (i64, bool) {
    (
        session.one(&format!("SELECT {cause}_waits FROM mint.stats")),
        session.one(&format!(
            "SELECT {cause}_wait_time > '1 ms' FROM mint.stats"
        )),
    )
}

#[test]
fn waits_for_capacity_and_users_are_named_and_counted() {
    let server = Server::start("named waits");
    let mut session = server.connect("postgres");
    session.run("SELECT user_sequence_create('family', 1); SELECT snowflake_next_id(1)");
    let none = counted_waits(&mut session, "capacity");
    assert_eq!(none, (0, false));
    let sql = format!("SELECT snowflake_next_id(1, '{HOURLY}') FROM generate_series(1, 1000)");
    assert_waits(&server, server.connect("postgres"), &sql, "MintCapacity");
    assert_eq!(counted_waits(&mut session, "capacity"), (1, true));
    let lane = "SELECT waits = 1 AND ids > 0 AND waited >= '0' FROM mint.lanes WHERE layout::text LIKE '%3600s%'";
    assert!(session.one::<bool>(lane));

    session.run("BEGIN; SELECT user_sequence_next_for_commit('family', 1)");
    let next = "SELECT user_sequence_next_for_commit('family', 1)";
    assert_waits(&server, server.connect("postgres"), next, "MintUserLock");
    assert_eq!(counted_waits(&mut session, "user_lock"), (1, true));
    // A session that waited and was refused shows its next waits as they are.
    let mut other = server.connect("postgres");
    other.run("SET lock_timeout = '50ms'");
    other.refused(next, "55P03");
    let pid = other.pid;
    server.until("the session is idle", || {
        session.one(&format!(
            "SELECT coalesce(wait_event = 'ClientRead', false) FROM pg_stat_activity WHERE pid = {pid}"
        ))
    });
    session.run("COMMIT");
    assert_eq!(other.one::<i64>(next), 2);
    assert_eq!(counted_waits(&mut session, "user_lock").0, 2);
}

/// A deadlock of users is still found, and a session that is terminated while it waits leaves nothing behind.
#[test]
fn a_named_wait_for_a_user_ends_as_any_lock() {
    let server = Server::build("ended waits")
        .conf("deadlock_timeout = '100ms'")
        .start();
    let mut one = server.connect("postgres");
    let mut two = server.connect("postgres");
    one.run("SELECT user_sequence_create('family', 1)");
    let next = |user: i32| format!("SELECT user_sequence_next_for_commit('family', {user})");
    one.run(&format!("BEGIN; {}", next(1)));
    two.run(&format!("BEGIN; {}", next(2)));
    std::thread::scope(|scope| {
        let blocked = scope.spawn(|| one.try_run(&next(2)));
        let other = two.try_run(&next(1));
        let both = [blocked.join().expect("a session"), other];
        let deadlocks = both.iter().filter(|result| {
            result
                .as_ref()
                .is_err_and(|refusal| refusal.code == "40P01")
        });
        assert_eq!(deadlocks.count(), 1, "{both:?}");
    });
    one.run("ROLLBACK");
    two.run("ROLLBACK");
    one.run(&format!("BEGIN; {}", next(1)));
    let (pid, mut ended) = (two.pid, two);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || ended.refusal(&next(1)));
        let mut watcher = server.connect("postgres");
        let waits = format!(
            "SELECT coalesce(wait_event = '{}', false) FROM pg_stat_activity WHERE pid = {pid}",
            event_name(&server, "MintUserLock")
                .split_once(' ')
                .expect("two words")
                .1
        );
        let begun = Instant::now();
        let mut is_seen = false;
        while !is_seen && begun.elapsed() < LONGEST {
            is_seen = watcher.one(&waits);
        }
        watcher.run(&format!("SELECT pg_terminate_backend({pid})"));
        let refusal = waiting.join().expect("the waiting session");
        assert!(is_seen, "{refusal}");
        assert!(["57P01", ""].contains(&refusal.code.as_str()), "{refusal}");
        let stale = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'MintUserLock'";
        assert_eq!(watcher.one::<i64>(stale), 0);
    });
}

#[test]
fn waits_for_the_clock_and_the_ceiling_are_named_and_counted() {
    let server = Server::start_with_clock("named waits of the clock");
    let next = "SELECT snowflake_next_id(7)";
    server.run(next);
    server.set_clock("-30");
    let patient = || {
        let mut session = server.connect("postgres");
        session.run("SET pg_mint.max_wait = '60s'");
        session
    };
    assert_waits(&server, patient(), next, "MintClock");
    let mut session = server.connect("postgres");
    assert_eq!(counted_waits(&mut session, "clock"), (1, true));
    assert!(
        session
            .one::<bool>("SELECT clock_steps_back = 1 AND clock_steps_forward = 0 FROM mint.stats")
    );
    let mut longer = patient();
    longer.run("SET statement_timeout = '1500ms'");
    longer.refused(next, "57014");
    assert!(session.one::<bool>(
        "SELECT waits = 2 AND waited BETWEEN '900 ms' AND '60 s' AND largest_step > '20 s' FROM mint.lanes WHERE shard = 7"
    ));
    assert!(
        session
            .one::<bool>("SELECT clock_waits = 2 AND clock_wait_time > '1400 ms' FROM mint.stats")
    );
    server.set_clock("+0");
    // Each step is seen by a call that raises the ceiling.
    sleep(Duration::from_millis(600));
    session.run(next);
    assert!(
        session
            .one::<bool>("SELECT clock_steps_back = 1 AND clock_steps_forward = 1 FROM mint.stats")
    );

    server.stop_fast();
    server.set_clock("-30");
    server.start_again();
    assert_waits(&server, patient(), next, "MintCeiling");
    let mut session = server.connect("postgres");
    assert_eq!(counted_waits(&mut session, "ceiling"), (1, true));
    assert_eq!(counted_waits(&mut session, "clock"), (0, false));
}

/// Other servers that take connections and say nothing.
#[test]
fn waits_for_other_servers_are_named_and_counted() {
    if !installation::has_extension("dblink") {
        return say("SKIPPED named waits for other servers: there is no dblink");
    }
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("an address").port();
    let server = Server::build("named waits for others")
        .conf("pg_mint.registry = 'far'\npg_mint.node = 'auto'")
        .start();
    let mut session = server.connect("postgres");
    session.run(&format!(
        "CREATE EXTENSION dblink;
         CREATE SERVER far FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '127.0.0.1', port '{port}', dbname 'postgres');
         CREATE USER MAPPING FOR postgres SERVER far OPTIONS (user 'postgres');
         SELECT segment_create('orders', source => 'far')"
    ));
    assert_waits(
        &server,
        server.connect("postgres"),
        "SELECT snowflake_next_id()",
        "MintLease",
    );
    assert_eq!(counted_waits(&mut session, "lease"), (1, true));
    assert_waits(
        &server,
        server.connect("postgres"),
        "SELECT segment_next('orders')",
        "MintSegment",
    );
    assert_eq!(counted_waits(&mut session, "segment"), (1, true));
    assert!(!session.one::<bool>(
        "SELECT EXISTS (SELECT FROM mint.stats WHERE snowflakes > 0 OR segment_values > 0)"
    ));
}

/// A worker of a registry that does not answer on a connection that is open, and one that has nothing to do.
#[test]
fn waits_of_a_worker_are_named() {
    let registry = or_skip!(Registry::start("waits of a worker"));
    let member = registry.auto("member");
    let mut session = member.connect("postgres");
    member.until_minted(|| session.try_one::<i64>("SELECT snowflake_next_id()"));
    let seen = "SELECT coalesce(max(wait_event_type || ' ' || wait_event), '') FROM pg_stat_activity WHERE backend_type = 'pg_mint registry'";
    let mut assert_seen = |event: &str| {
        let expected = event_name(&member, event);
        member.until(event, || session.one::<String>(seen) == expected);
        assert_named(&mut session, &member, event);
    };
    assert_seen("MintWorkerMain");
    let frozen = registry.server.freeze();
    assert_seen("MintAnswer");
    drop(frozen);
}
