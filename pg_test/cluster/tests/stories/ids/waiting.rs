//! Cancel, terminate and timeout of calls that wait.

use mint_cluster::{Refusal, Server, Session};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// 256 ids in 10 ms, so that each of many calls waits a little.
const BRISK: &str = "sonyflake";
/// Two ids an hour, so that one call waits for long, where the executor's check for interrupts between rows does not
/// help.
const HOURLY: &str = "time:20 shard:4 seq:1 unit:3600s epoch:2024-01-01T00:00:00Z";

const PROMPT: Duration = Duration::from_millis(500);
/// A wait longer than this counts as one that nothing ends.
const LONGEST: Duration = Duration::from_secs(5);

/// Returns a query for far more ids than any layout has in the time of a test. In the select list `generate_series`
/// returns rows one by one; in `FROM` it would first generate all of them, before any id is minted.
fn capacity(layout: &str) -> String {
    format!(
        "SELECT count(snowflake_next_id(1, '{layout}')) FROM (SELECT generate_series(1, 1000000000)) series"
    )
}

/// Returns how many calls have waited for their lane.
fn waits(session: &mut Session) -> i64 {
    session.one("SELECT coalesce(sum(waits), 0)::bigint FROM mint.lanes")
}

/// Runs `sql` in `session`, ends its wait by `order` from another session, and returns the refusal with the time since
/// the order.
fn refusal_after(server: &Server, mut session: Session, sql: &str, order: &str) -> Refusal {
    let pid = session.pid;
    let order = format!("SELECT {order}({pid})");
    let mut other = server.connect("postgres");
    let before = waits(&mut other);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || {
            let refusal = session.refusal(sql);
            (refusal, Instant::now())
        });
        let begun = Instant::now();
        sleep(Duration::from_millis(400));
        // On a busy machine the call might not wait yet.
        let mut waits_for_lane = waits(&mut other) > before;
        while !waits_for_lane && !waiting.is_finished() && begun.elapsed() < LONGEST {
            sleep(Duration::from_millis(10));
            waits_for_lane = waits(&mut other) > before;
        }
        let waits_still = !waiting.is_finished();
        let ordered = Instant::now();
        other.run(&order);
        // Assertions come after the session has ended, if need be by force: the scope waits for it.
        while !waiting.is_finished() && ordered.elapsed() < LONGEST {
            sleep(Duration::from_millis(1));
        }
        if !waiting.is_finished() {
            server.kill9(pid);
        }
        assert!(waits_still, "{sql} did not wait");
        assert!(waits_for_lane, "{sql} did not wait for its lane");
        let (mut refusal, ended) = waiting.join().expect("the waiting session");
        refusal.after = ended - ordered;
        assert!(refusal.after < PROMPT, "{refusal}");
        refusal
    })
}

#[test]
fn a_wait_for_capacity_can_be_ended() {
    let server = Server::build("capacity").alone().start();
    for layout in [BRISK, HOURLY] {
        let sql = capacity(layout);
        let ended_by = |order| refusal_after(&server, server.connect("postgres"), &sql, order);
        let canceled = ended_by("pg_cancel_backend");
        assert_eq!(canceled.code, "57014", "{canceled}");
        let terminated = ended_by("pg_terminate_backend");
        assert!(
            ["57P01", ""].contains(&terminated.code.as_str()),
            "{terminated}"
        );
    }

    let mut session = server.connect("postgres");
    session.run("SET statement_timeout = '400ms'");
    for sql in [
        capacity(BRISK),
        capacity(HOURLY),
        format!("SELECT count(*) FROM snowflake_next_ids(1, 2000000, '{BRISK}')"),
    ] {
        let timed_out = session.refusal(&sql);
        assert_eq!(timed_out.code, "57014", "{timed_out}");
        assert!(
            timed_out.after < Duration::from_millis(400) + PROMPT,
            "{timed_out}"
        );
    }

    // The lane still serves other calls.
    assert!(session.one::<i64>("SELECT snowflake_next_id(1, 'sonyflake')") > 0);
}

/// Ids that are ahead of the clock by more than a lowered limit are no sign of a clock that is wrong.
#[test]
fn a_lowered_max_ahead_is_named() {
    let server = Server::build("lowered max_ahead")
        .conf("pg_mint.max_ahead = 60s")
        .conf("pg_mint.max_wait = 100ms")
        .start();
    let mut session = server.connect("postgres");
    let layout = "time:32 shard:30 seq:1 unit:1s epoch:2020-01-01T00:00:00Z";
    let next = format!("SELECT snowflake_next_id(1, '{layout}') FROM generate_series(1, $)");
    session.run(&next.replace('$', "60"));
    session.set_for_server("pg_mint.max_ahead", "'1s'");
    let refusal = session.refused(&next.replace('$', "1"), "58000");
    assert!(
        refusal.detail.starts_with(
            "The last id is further ahead of the clock than \"pg_mint.max_ahead\" (1 s) allows. The next id is 2"
        ),
        "{refusal}"
    );
    assert_eq!(
        refusal.hint,
        "Wait, or increase \"pg_mint.max_wait\". If the system clock is wrong, correct it."
    );
}

/// Without time ahead of the clock calls wait for every tick, for some of them too briefly to sleep.
#[test]
fn a_strict_wait_for_capacity_can_be_canceled() {
    let server = Server::build("strict wait")
        .alone()
        .conf("pg_mint.max_ahead = 0")
        .conf("pg_mint.max_wait = 0")
        .start();
    for layout in [BRISK, "instagram", HOURLY] {
        let sql = capacity(layout);
        let refusal = refusal_after(
            &server,
            server.connect("postgres"),
            &sql,
            "pg_cancel_backend",
        );
        assert_eq!(refusal.code, "57014", "{refusal}");
    }
}

#[test]
fn a_wait_for_the_clock_can_be_ended() {
    let server = Server::build_with_clock("clock wait ended");
    let server = server.alone().start();
    let next = "SELECT snowflake_next_id(7)";
    assert!(server.one::<i64>(next) > 0);
    server.set_clock("-30");
    let patient = || {
        let mut session = server.connect("postgres");
        session.run("SET pg_mint.max_wait = '60s'");
        session
    };
    let canceled = refusal_after(&server, patient(), next, "pg_cancel_backend");
    assert_eq!(canceled.code, "57014", "{canceled}");
    let terminated = refusal_after(&server, patient(), next, "pg_terminate_backend");
    assert!(
        ["57P01", ""].contains(&terminated.code.as_str()),
        "{terminated}"
    );
    let mut session = patient();
    session.run("SET statement_timeout = '300ms'");
    let timed_out = session.refusal(next);
    assert_eq!(timed_out.code, "57014", "{timed_out}");
    assert!(
        timed_out.after < Duration::from_millis(300) + PROMPT,
        "{timed_out}"
    );
}
