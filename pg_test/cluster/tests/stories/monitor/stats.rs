//! `mint.stats`: what is counted is what happened, and a reset changes nothing else.

use mint_cluster::{Registry, Server, Session, count, or_skip};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

fn stat(session: &mut Session, column: &str) -> i64 {
    session.one(&format!("SELECT {column} FROM mint.stats"))
}

/// Ids of many lanes, with pauses, in runs, of sessions at once and of a lane that was started above an id.
#[test]
fn snowflakes_are_counted_exactly() {
    let server = Server::start("counted snowflakes");
    let mut session = server.connect("postgres");
    assert_eq!(stat(&mut session, "snowflakes"), 0);
    for round in 1..=20 {
        session
            .run("SELECT snowflake_next_id(g), snowflake_next_id(7) FROM generate_series(1, 5) g");
        assert_eq!(stat(&mut session, "snowflakes"), 10 * round);
        sleep(Duration::from_millis(7));
    }
    session
        .run("SELECT snowflake_start_above(snowflake_encode(clock_timestamp() + '500 ms', 7, 3))");
    assert_eq!(stat(&mut session, "snowflakes"), 200);
    session.run("SELECT snowflake_next_id(7)");
    assert_eq!(stat(&mut session, "snowflakes"), 201);
    let lane: i64 = session.one("SELECT ids FROM mint.lanes WHERE shard = 7");
    assert_eq!(lane, 101);
    let many = count(2_000_000, 200_000);
    let sum: i64 = std::thread::scope(|scope| {
        let sessions: Vec<_> = (0..3)
            .map(|_| {
                let mut session = server.connect("postgres");
                scope.spawn(move || {
                    session.one::<i64>(&format!(
                        "SELECT count(snowflake_next_id(9, 'time:41 shard:4 seq:18 epoch:2024-01-01T00:00:00Z')) FROM (SELECT generate_series(1, {many})) g"
                    ))
                })
            })
            .collect();
        let mut before = 0;
        while sessions.iter().any(|session| !session.is_finished()) {
            // It never decreases while sessions move the lanes.
            let now = stat(&mut session, "snowflakes");
            assert!(now >= before, "{now} after {before}");
            before = now;
        }
        sessions
            .into_iter()
            .map(|session| session.join().expect("a session"))
            .sum()
    });
    assert_eq!(stat(&mut session, "snowflakes"), 201 + sum);
    session.run("SELECT count(*) FROM snowflake_next_ids(8, 10000)");
    assert_eq!(stat(&mut session, "snowflakes"), 10_201 + sum);
    // Layouts that begin each tick at random skip what is below.
    session.run(
        "SELECT count(snowflake_next_id(1, 'twitter start:random')) FROM generate_series(1, 100)",
    );
    assert_eq!(stat(&mut session, "snowflakes"), 10_301 + sum);
}

#[test]
fn objectids_are_counted_exactly() {
    let server = Server::start("counted objectids");
    let mut session = server.connect("postgres");
    assert_eq!(stat(&mut session, "objectids"), 0);
    let many = count(20_000_000, 1_000_000);
    let mut expected = 0;
    for round in 0..4 {
        session.run(&format!(
            "SELECT count(objectid()) FROM (SELECT generate_series(1, {many})) g"
        ));
        expected += many as i64;
        assert_eq!(stat(&mut session, "objectids"), expected);
        session.run("SELECT objectid_legacy()");
        expected += 1;
        if round == 1 {
            sleep(Duration::from_millis(1_100));
        }
    }
    assert_eq!(
        session.one::<i64>("SELECT ids FROM mint.lanes WHERE family = 'objectid'"),
        expected
    );
    session.run("SELECT uuid_v7(), uuid_v6()");
    let lanes = "SELECT string_agg(family, ' ' ORDER BY family) FROM mint.lanes WHERE abs(extract(epoch FROM ahead)) < 60";
    assert_eq!(session.one::<String>(lanes), "objectid uuid_v1 uuid_v7");
}

#[test]
fn values_of_segments_are_counted_exactly() {
    let server = Server::build("counted values")
        .conf("pg_mint.max_segments = 16")
        .start();
    let mut session = server.connect("postgres");
    session.run("SELECT segment_create('s', 100), ticket_create('t')");
    session.run("SELECT count(segment_next('s')) FROM generate_series(1, 1234)");
    assert_eq!(stat(&mut session, "segment_values"), 1_234);
    session.run("SELECT count(ticket_next('t')) FROM generate_series(1, 66)");
    // The first range is not in a segment, and the second one is.
    session.run(
        "SELECT * FROM segment_next_range('s', 1000000); SELECT * FROM segment_next_range('s', 3)",
    );
    assert_eq!(stat(&mut session, "segment_values"), 1_001_303);
    session.run("SELECT setval('s', 5000000)");
    session.run("SELECT segment_next('s')");
    assert_eq!(stat(&mut session, "segment_values"), 1_001_304);
    let drawn: i64 = session.one("SELECT drawn FROM mint.segments WHERE sequence = 's'::regclass");
    assert_eq!(drawn, 1);
    assert!(session.one::<bool>(
        "SELECT refills >= 4 AND segment_waits > 0 AND segment_evictions = 0 FROM mint.stats"
    ));
    session.run("SELECT segment_create('e' || g) FROM generate_series(1, 30) g; SELECT segment_next(('e' || g)::regclass) FROM generate_series(1, 30) g");
    assert_eq!(stat(&mut session, "segment_values"), 1_001_334);
    assert_eq!(stat(&mut session, "segments"), 16);
    assert_eq!(stat(&mut session, "max_segments"), 16);
    assert_eq!(stat(&mut session, "segment_evictions"), 16);
}

#[test]
fn users_and_sections_are_counted() {
    let server = Server::build("counted users")
        .conf("pg_mint.user_memory = '1MB'")
        .start();
    let mut session = server.connect("postgres");
    session.run("SELECT user_sequence_create('family', 2, 100)");
    session.run("SELECT count(user_sequence_next('family', g)) FROM generate_series(1, 1000) g");
    assert!(session.one::<bool>("SELECT (users, sections, max_sections, user_evictions) = (1000, 2, 4096, 0) AND section_raises >= 2 FROM mint.stats"));
    session.run("SELECT count(user_sequence_next('family', g)) FROM (SELECT generate_series(1, 200000)) s(g)");
    assert!(session.one::<bool>(
        "SELECT users <= max_users AND user_evictions >= 200000 - max_users FROM mint.stats"
    ));
    session.assert_health("memory is warning:  users are in use");
}

/// A reset sets all counts to zero. The step of a busy sequence still grows, and views list what they listed.
#[test]
fn a_reset_decides_nothing() {
    let server = Server::start("reset");
    let mut session = server.connect("postgres");
    session.run("CREATE SEQUENCE s");
    session.run("SELECT count(segment_next('s')) FROM generate_series(1, 3000)");
    session.run("SELECT snowflake_next_id(5), objectid()");
    assert!(session.one::<bool>("SELECT snowflakes = 1 AND segment_values = 3000 AND ceiling_writes > 0 AND refills = 11 FROM mint.stats"));
    let writes: bool = session
        .one("SELECT ceiling_writes = (SELECT sum(writes) FROM mint.ceilings) FROM mint.stats");
    assert!(writes);
    let before: String = session.one("SELECT stats_reset::text FROM mint.stats");
    let at: String = session.one("SELECT mint.reset_stats()::text");
    assert!(at > before, "{at} after {before}");
    let since: String = session.one("SELECT stats_reset::text FROM mint.stats");
    assert_eq!(since, at);
    let zero = "SELECT (snowflakes, objectids, segment_values, refills, segment_waits, ceiling_writes) = (0, 0, 0, 0, 0, 0) AND segment_wait_time = '0' FROM mint.stats";
    assert!(session.one::<bool>(zero));
    assert!(session.one::<bool>("SELECT (ids, waits) = (0, 0) FROM mint.lanes WHERE shard = 5"));
    assert!(session.one::<bool>(
        "SELECT (drawn, refills, waits) = (0, 0, 0) AND waited = '0' FROM mint.segments"
    ));
    assert!(session.one::<bool>("SELECT writes = 0 AND last_write IS NOT NULL FROM mint.ceilings"));
    // Were the step to depend on the count of refills, the next one would be the first again, and not twice as large.
    let step: i64 = session.one("SELECT step FROM mint.segments");
    session.run("SELECT count(segment_next('s')) FROM generate_series(1, 3500)");
    let next: i64 = session.one("SELECT step FROM mint.segments");
    assert_eq!(next, step * 2);
    assert_eq!(stat(&mut session, "segment_values"), 3_500);
    session.run("SELECT snowflake_next_id(5), snowflake_next_id(5), objectid()");
    assert!(session.one::<bool>("SELECT (snowflakes, objectids) = (2, 1) FROM mint.stats"));
}

/// Sessions draw from more sequences than have slots, which so lose their segments, while others look: in new sessions, as
/// exporters do.
#[test]
fn values_are_counted_while_sessions_draw() {
    let server = Server::build("values under load")
        .conf("pg_mint.max_segments = 64")
        .start();
    let mut session = server.connect("postgres");
    session.run("SET client_min_messages = error; SELECT segment_create('s' || g, 7) FROM generate_series(1, 400) g");
    session.run("SELECT segment_next(('s' || g)::regclass) FROM generate_series(1, 400) g");
    let rounds = count(400, 60);
    let drawn: i64 = std::thread::scope(|scope| {
        let sessions: Vec<_> = (0..3)
            .map(|_| {
                let mut session = server.connect("postgres");
                scope.spawn(move || {
                    (0..rounds)
                        .map(|_| session.one::<i64>("SELECT count(segment_next(('s' || 1 + (random() * 399)::int)::regclass)) FROM generate_series(1, 500)"))
                        .sum::<i64>()
                })
            })
            .collect();
        let mut before = 0;
        while sessions.iter().any(|session| !session.is_finished()) {
            let mut watcher = server.connect("postgres");
            assert_eq!(stat(&mut watcher, "segments"), 64);
            let now = stat(&mut watcher, "segment_values");
            assert!(now >= before, "{now} after {before}");
            before = now;
        }
        let drawn = sessions
            .into_iter()
            .map(|session| session.join().expect("a session"));
        drawn.sum()
    });
    assert_eq!(stat(&mut session, "segment_values"), 400 + drawn);
    session.run("SELECT mint.reset_stats()");
    assert_eq!(stat(&mut session, "segment_values"), 0);
    session.run("SELECT segment_next('s1')");
    assert_eq!(stat(&mut session, "segment_values"), 1);
}

/// A session that computes the statistics during a reset does not bring back what was counted before.
#[test]
fn a_reset_lasts_while_others_look() {
    let server = Server::build("reset under load")
        .conf("pg_mint.max_lanes = 65536")
        .start();
    let mut session = server.connect("postgres");
    // So that it takes a while to look.
    session.run("SELECT count(snowflake_next_id(g, 'time:41 shard:16 seq:6 epoch:2024-01-01T00:00:00Z')) FROM generate_series(1, 50000) g");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let mut watcher = server.connect("postgres");
            let stop = &stop;
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    stat(&mut watcher, "snowflakes");
                }
            });
        }
        let shown: Vec<i64> = (0..count(1_000, 200))
            .map(|_| {
                session.run("SELECT count(snowflake_next_id(5)) FROM generate_series(1, 300); SELECT mint.reset_stats()");
                stat(&mut session, "snowflakes")
            })
            .collect();
        stop.store(true, Ordering::Relaxed);
        assert!(shown.iter().all(|&ids| ids == 0), "{shown:?}");
    });
}

/// Each refused call is one, of its cause; invalid arguments are none.
#[test]
fn refused_calls_are_counted() {
    let server = Server::start_with_clock("refused calls");
    let mut session = server.connect("postgres");
    let refusals = |session: &mut Session| -> Vec<i64> {
        session.one(
            "SELECT ARRAY[clock_refusals, lease_refusals, layout_end_refusals] FROM mint.stats",
        )
    };
    let refuse = |session: &mut Session, sql: &str, code: &str| {
        session.refused(sql, code);
    };
    session.run("SELECT snowflake_next_id(7)");
    refuse(&mut session, "SELECT snowflake_next_id(70000)", "22003");
    refuse(
        &mut session,
        "SELECT snowflake_next_id(-1, 'baidu')",
        "22003",
    );
    assert_eq!(refusals(&mut session), [0, 0, 0]);
    refuse(
        &mut session,
        "SELECT snowflake_next_id(1, 'baidu')",
        "2200H",
    );
    let future = "SELECT snowflake_next_id(1, 'twitter epoch:9999999999999')";
    refuse(&mut session, future, "58000");
    assert_eq!(refusals(&mut session), [1, 0, 1]);
    server.set_clock("-3600");
    for _ in 0..3 {
        refuse(&mut session, "SELECT snowflake_next_id(7)", "58000");
    }
    server.set_clock("+0");
    session.run("SELECT snowflake_next_id(7)");
    assert_eq!(refusals(&mut session), [4, 0, 1]);
    session.run("SELECT mint.reset_stats()");
    assert_eq!(refusals(&mut session), [0, 0, 0]);
}

#[test]
fn a_dropped_database_has_no_ceiling() {
    let server = Server::start("dropped database");
    let mut session = server.connect("postgres");
    session.run("SELECT snowflake_next_id(5)");
    server.create_database("other");
    server.connect("other").run("SELECT snowflake_next_id(5)");
    assert_eq!(stat(&mut session, "ceilings"), 2);
    session.run("DROP DATABASE other WITH (FORCE)");
    assert_eq!(stat(&mut session, "ceilings"), 1);
    assert_eq!(stat(&mut session, "snowflakes"), 2);
}

/// A crash of the server loses the statistics with the rest of the shared memory. Its ceiling is the floor of the next run.
#[test]
fn statistics_begin_anew_with_the_server() {
    let server = Server::start("lost statistics");
    let mut session = server.connect("postgres");
    session.run("SELECT snowflake_next_id(5)");
    let before: String = session.one("SELECT stats_reset::text FROM mint.stats");
    let ceiling: String = session.one("SELECT value::text FROM mint.ceilings");
    server.kill9(session.pid);
    let mut session = server.connect("postgres");
    assert!(session.one::<bool>(&format!(
        "SELECT stats_reset > '{before}' AND snowflakes = 0 FROM mint.stats"
    )));
    let is_floor = format!("SELECT floor >= '{ceiling}' FROM mint.ceilings");
    assert!(server.one::<i64>("SELECT snowflake_next_id(5)") > 0 && session.one(&is_floor));
}

#[test]
fn leases_are_counted() {
    let registry = or_skip!(Registry::start("counted leases"));
    let member = registry.auto("member");
    let mut session = member.connect("postgres");
    member.until_minted(|| session.try_one::<i64>("SELECT snowflake_next_id()"));
    let renewals = stat(&mut session, "lease_renewals");
    assert!(renewals > 0);
    assert!(session.one::<bool>(
        "SELECT leases = 1 AND max_leases = 1024 AND lease_waits = 1 FROM mint.stats"
    ));
    member.until("a renewal", || {
        stat(&mut session, "lease_renewals") > renewals
    });
    session.assert_health("registry is ok: was renewed");
    // The node that the registry has chosen, without an id.
    let own: i32 = session.one("SELECT snowflake_own_shard()");
    let of_id: i32 = session.one("SELECT snowflake_shard(snowflake_next_id())");
    assert_eq!(own, of_id);
    let refused = stat(&mut session, "lease_refusals");
    session.refused("SELECT snowflake_next_id(5)", "55000");
    assert_eq!(stat(&mut session, "lease_refusals"), refused + 1);
    let failures = stat(&mut session, "lease_failures");
    registry.server.stop_fast();
    member.until("a failure", || {
        stat(&mut session, "lease_failures") > failures
    });
}
