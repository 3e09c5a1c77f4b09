//! Wall clock steps while sessions mint.

use mint_cluster::load::sessions::{assert_sound, split, while_minting};
use mint_cluster::{Server, Session, assert_ascending};
use std::thread::sleep;
use std::time::{Duration, Instant};

const NEXT: &str = "SELECT snowflake_next_id(7)";

fn pause(milliseconds: u64) {
    sleep(Duration::from_millis(milliseconds));
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// Returns how far an id's time is ahead of the server's clock, in seconds.
fn ahead_of_clock(session: &mut Session, id: i64) -> f64 {
    session.one(&format!(
        "SELECT extract(epoch FROM snowflake_time({id}) - clock_timestamp())::float8"
    ))
}

/// A call does not wait an hour but fails immediately; minting continues when the clock is back.
#[test]
fn an_hour_back_is_refused_at_once() {
    let server = Server::start_with_clock("an hour back");
    let mut session = server.connect("postgres");
    let before: i64 = session.one(NEXT);

    server.set_clock("-3600");
    let refusal = session.refusal(NEXT);
    assert_eq!(refusal.code, "58000", "{refusal}");
    assert!(refusal.after < seconds(1.0), "{refusal}");
    refusal.assert_message("shard 7)");
    assert!(!refusal.hint.is_empty(), "no hint: {refusal}");

    server.set_clock("+0");
    let after: i64 = session.one(NEXT);
    assert_ascending(&[before, after]);
}

/// Ids can be two seconds ahead, so a step of three leaves one second to wait, less than the default max_wait of five.
#[test]
fn a_call_waits_after_a_step_of_three_seconds_back() {
    let server = Server::start_with_clock("three seconds back");
    let mut session = server.connect("postgres");
    let before: i64 = session.one(NEXT);

    server.set_clock("-3");
    let begun = Instant::now();
    let after: i64 = session.one(NEXT);
    let waited = begun.elapsed();
    assert_ascending(&[before, after]);
    assert!(
        waited > seconds(0.7) && waited < seconds(2.0),
        "waited {waited:?}"
    );

    session.run("SET pg_mint.max_wait = '100ms'");
    server.set_clock("-6");
    let refusal = session.refused(NEXT, "58000");
    assert!(
        refusal.after < seconds(0.5),
        "the call waited, although for longer than max_wait: {refusal}"
    );
}

/// A clock that jumps by years must not take the lane and its ceiling along without consent.
#[test]
fn two_years_forward_needs_consent() {
    let server = Server::start_with_clock("two years forward");
    let mut session = server.connect("postgres");
    let before: i64 = session.one(NEXT);

    server.set_clock("+2y");
    let refusal = session.refusal(NEXT);
    assert_eq!(refusal.code, "58000", "{refusal}");
    refusal.assert_hint("mint.accept_clock");
    server.refused(NEXT, "58000");
    session.refused("SELECT snowflake_next_id(8)", "58000");

    session.run("CREATE ROLE app LOGIN");
    let unprivileged = server
        .connect_as("app", "postgres")
        .refusal("SELECT mint.accept_clock()");
    assert_eq!(unprivileged.code, "42501", "{unprivileged}");

    // A reset of the ceiling does not follow the clock, and the layout has not ended.
    let refusal = session.refusal("SELECT mint.reset_ceiling(now())");
    refusal.assert_hint("mint.accept_clock");
    server.set_clock("+200y");
    let refusal = session.refusal(NEXT);
    refusal.assert_hint("mint.accept_clock");
    server.set_clock("+2y");

    session.run("SELECT mint.accept_clock()");
    let after: i64 = session.one(NEXT);
    assert_ascending(&[before, after]);
    let ahead = ahead_of_clock(&mut session, after);
    assert!(
        ahead.abs() < 3.0,
        "after consent an id is {ahead} s from the new clock"
    );
}

/// A jump that is corrected before anyone accepts it changes neither lanes nor ceilings.
#[test]
fn a_refused_jump_that_is_corrected_leaves_no_trace() {
    let server = Server::start_with_clock("a corrected jump");
    let mut session = server.connect("postgres");
    let (ids, refusals) = split(while_minting(&server, 3, NEXT, || {
        pause(200);
        server.set_clock("+2y");
        pause(700);
        server.set_clock("+0");
        pause(700);
    }));
    assert!(
        !refusals.is_empty(),
        "no call was refused after a jump of two years"
    );
    assert_sound(&ids);
    let after: i64 = session.one(NEXT);
    let ahead = ahead_of_clock(&mut session, after);
    assert!(
        ahead.abs() < 3.0,
        "an id is {ahead} s from the clock: the jump stayed in the lane"
    );

    // The ceiling on disk has not moved either.
    server.crash();
    let mut session = server.connect("postgres");
    let restarted: i64 = session.one(NEXT);
    let ahead = ahead_of_clock(&mut session, restarted);
    assert!(
        ahead.abs() < 3.0,
        "after a restart an id is {ahead} s from the clock: the jump stayed in the ceiling"
    );
    assert_ascending(&[after, restarted]);
}

/// With max_ahead and max_wait of zero, as Twitter had it, a step back is an error and repeats no id.
#[test]
fn without_slack_any_step_back_is_an_error() {
    let server = Server::build_with_clock("strict steps back");
    let server = server
        .alone()
        .conf("pg_mint.max_ahead = 0")
        .conf("pg_mint.max_wait = 0")
        .start();
    for step in ["-0.001", "-0.1", "-1"] {
        let mut all = Vec::new();
        // A step of one millisecond is noticed only by a call within that millisecond, so it is repeated.
        let noticed = (0..20).any(|_| {
            server.set_clock("+0");
            server.until_minted(|| server.connect("postgres").try_one::<i64>(NEXT));
            let (ids, refusals) = split(while_minting(&server, 3, NEXT, || {
                pause(100);
                server.set_clock(step);
                pause(150);
            }));
            assert!(
                refusals.iter().all(|refusal| refusal.code == "58000"),
                "{}",
                refusals[0]
            );
            all.extend(ids);
            !refusals.is_empty()
        });
        assert_sound(&all);
        assert!(noticed, "a step of {step} s was never an error");
    }
}

#[test]
fn ids_that_a_session_has_taken_outlast_a_step_back() {
    const NEXT: &str = "SELECT snowflake_next_id(7, 'time:20 shard:10 seq:30 unit:600s epoch:2024-01-01T00:00:00Z')";
    let server = Server::build_with_clock("taken ids").conf("pg_mint.session_cache = 16");
    let server = server.start();
    let mut session = server.connect("postgres");
    let first: i64 = session.one(NEXT);
    server.set_clock("-3600");
    server.refused(NEXT, "58000");
    assert_eq!(session.one::<i64>(NEXT), first + 1);
}
