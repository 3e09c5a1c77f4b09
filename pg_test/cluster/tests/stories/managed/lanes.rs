//! Ids of the file are unique and ascend, over sessions, rollbacks, kills, crashes and steps of the clock.

use super::{FILE, install};
use mint_cluster::load::sessions::{assert_sound, draw_at_once, split, while_minting};
use mint_cluster::{Server, assert_ascending, assert_unique, count};
use std::thread::sleep;
use std::time::Duration;

const NEXT: &str = "SELECT mint_sql.snowflake_next_id(7)";

/// A statement that commits an id in a row, and returns it.
const KEEP: &str = "INSERT INTO kept (id) VALUES (mint_sql.snowflake_next_id(7)) RETURNING id";

#[test]
fn sessions_at_once_draw_unique_ascending_ids() {
    let server = Server::start("managed: sessions");
    install(&mut server.connect("postgres"));
    // Layouts with few ids in a tick, and with ticks shorter than a call.
    let layouts = [
        "instagram",
        "time:50 shard:8 seq:1 unit:1ms epoch:2020-01-01T00:00:00Z",
        "time:52 shard:4 seq:2 unit:1us epoch:2020-01-01T00:00:00Z",
    ];
    let many = count(20_000, 2_000);
    for layout in layouts {
        if layout != "instagram" {
            server.run(&format!("SELECT mint_sql.shard_create(7, '{layout}')"));
        }
        let lists = draw_at_once(&server, "postgres", 8, |session, number| {
            let many = if layout == "instagram" {
                many
            } else {
                many / 4
            };
            // Half of the transactions roll back.
            if number % 2 == 0 {
                session.run("BEGIN");
            }
            let ids = session.column(&format!(
                "SELECT mint_sql.snowflake_next_id(7, '{layout}') FROM generate_series(1, {many})"
            ));
            if number % 2 == 0 {
                session.run("ROLLBACK");
            }
            ids
        });
        assert_sound(&lists);
    }
}

#[test]
fn what_cannot_be_generated_is_refused() {
    let server = Server::start("managed: refusals");
    let mut session = server.connect("postgres");
    install(&mut session);
    #[rustfmt::skip]
    let cases = [
        ("SELECT mint_sql.snowflake_next_id(6)", "55000", "shard 6 of layout \"instagram\" is not declared"),
        ("SELECT mint_sql.snowflake_next_id(8192)", "22003", "shard 8192 is out of range for layout \"instagram\""),
        ("SELECT mint_sql.snowflake_next_id(NULL)", "22004", "shard must not be null"),
        ("SELECT mint_sql.snowflake_next_id(7, NULL)", "22004", "layout must not be null"),
        ("SELECT mint_sql.snowflake_next_id()", "55000", "parameter \"pg_mint.node\" is not set"),
        ("SELECT mint_sql.snowflake_next_ids(7, -1)", "22023", "count must not be negative"),
        ("SELECT mint_sql.shard_create(7)", "42710", "already declared"),
        ("BEGIN READ ONLY; SELECT mint_sql.snowflake_next_id(7)", "25006", "read-only transaction"),
    ];
    for (sql, code, words) in cases {
        let refusal = session.refused(sql, code);
        assert!(refusal.to_string().contains(words), "{sql}: {refusal}");
    }
    session.run("ROLLBACK");
    let mut session = server.connect("postgres");
    session.run("SELECT mint_sql.shard_create(7, 'baidu')");
    session.refused("SELECT mint_sql.snowflake_next_id(7, 'baidu')", "2200H");
}

/// A session that is killed, terminated or canceled while it moves a shard holds back nobody.
#[test]
fn a_session_that_ends_in_a_move_holds_back_nobody() {
    let server = Server::start("managed: kills");
    install(&mut server.connect("postgres"));
    let records = while_minting(&server, 6, NEXT, || {
        let mut other = server.connect("postgres");
        let mut calls = ["pg_cancel_backend", "pg_terminate_backend"]
            .into_iter()
            .cycle();
        let mut disturbed = 0;
        // On a busy machine, sessions are not there yet.
        server.until("sessions are disturbed", || {
            let call = calls.next().unwrap_or_default();
            disturbed += other.column::<bool>(&format!(
                "SELECT {call}(pid) FROM pg_stat_activity
                 WHERE query LIKE 'SELECT mint_sql%' AND state = 'active' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 2"
            )).len();
            disturbed >= count(200, 40)
        });
    });
    let (ids, refusals) = split(records);
    assert_sound(&ids);
    assert!(!refusals.is_empty(), "no session was disturbed");
    let left: i64 = server.one("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'");
    assert_eq!(left, 0, "locks are left");
    server.one::<i64>(NEXT);
}

/// The machine fails again and again, and its clock is an hour back afterwards: no committed id is drawn again.
#[test]
fn no_crash_repeats_a_committed_id() {
    let server = Server::build_with_clock("managed: crashes")
        .durable()
        .start();
    install(&mut server.connect("postgres"));
    server.run("CREATE TABLE kept (n bigserial, id bigint PRIMARY KEY)");
    let mut all: Vec<i64> = Vec::new();
    for (round, clock) in ["-1", "+0", "-1.5", "+1", "-0.5"].into_iter().enumerate() {
        let records = while_minting(&server, 4, KEEP, || {
            sleep(Duration::from_millis(300));
            match round % 2 {
                0 => server.kill9_any(),
                _ => server.cut_power(),
            }
            server.set_clock(clock);
            if !server.is_up() {
                server.start_again();
            }
            sleep(Duration::from_millis(300));
        });
        let (ids, refusals) = split(records);
        let repeated: Vec<_> = refusals
            .iter()
            .filter(|refusal| refusal.code == "23505")
            .collect();
        assert!(
            repeated.is_empty(),
            "a committed id was drawn again: {}",
            repeated[0]
        );
        all.extend(ids.into_iter().flatten());
    }
    assert_unique([&all]);
    let mut session = server.connect("postgres");
    let kept: Vec<i64> = session.column("SELECT id FROM kept ORDER BY id");
    assert!(
        all.iter().all(|id| kept.binary_search(id).is_ok()),
        "a committed row is gone"
    );
    // A day back: nothing is drawn, rather than again.
    server.set_clock("-86400");
    let refusal = session.refused(KEEP, "58000");
    refusal.assert_message("behind the last id of lane (layout \"instagram\", shard 7)");
    server.lose_power();
    let mut session = server.connect("postgres");
    session.refused(KEEP, "58000");
    server.set_clock("+0");
    assert!(session.one::<i64>(KEEP) > *kept.last().expect("ids were kept"));
}

/// Ids follow a clock that jumps forward, and no id is drawn after it is corrected. A clock that is set back during a wait lets
/// the call wait on, which a cancel ends.
#[test]
fn clocks_that_jump_repeat_nothing() {
    let server = Server::build_with_clock("managed: jumps").start();
    let mut session = server.connect("postgres");
    install(&mut session);
    let before: i64 = session.one(NEXT);
    server.set_clock("+10800");
    let ahead: i64 = session.one(NEXT);
    assert!(
        session.one::<bool>(&format!(
            "SELECT mint_sql.snowflake_time({ahead}) - mint_sql.snowflake_time({before}) BETWEEN '179 min' AND '181 min'"
        )),
        "ids do not follow the clock"
    );
    server.set_clock("+0");
    session.refused(NEXT, "58000");

    // Six seconds ahead is a wait of four.
    const OTHER: &str = "SELECT mint_sql.snowflake_next_id(8)";
    session.run("SELECT mint_sql.shard_create(8)");
    server.set_clock("+6");
    let last: i64 = session.one(OTHER);
    server.set_clock("+0");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| server.refusal(OTHER));
        sleep(Duration::from_millis(1_200));
        server.set_clock("-3600");
        sleep(Duration::from_millis(2_500));
        assert!(!waiting.is_finished(), "the wait has ended");
        session.run(&format!(
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query = '{OTHER}' AND state = 'active'"
        ));
        let refusal = waiting.join().expect("the wait ended");
        assert_eq!(refusal.code, "57014", "{refusal}");
    });
    session.refused(OTHER, "58000");
    server.set_clock("+7");
    assert_ascending(&[last, session.one(OTHER)]);
}

/// A declared layout costs as much as one that is built in: it is not parsed at each call, which would be a hundred times as much.
#[test]
fn a_declared_layout_is_not_parsed_at_each_call() {
    const LAYOUT: &str = "time:41 shard:13 seq:9 epoch:2011-08-24T21:07:01.721Z";
    let server = Server::start("managed: declared");
    let mut session = server.connect("postgres");
    install(&mut session);
    session.run(&format!("SELECT mint_sql.shard_create(7, '{LAYOUT}')"));
    // A run of the file keeps it.
    for again in ["SELECT 1", &format!("BEGIN; {FILE} COMMIT")] {
        session.run(again);
        session.run("SELECT pg_stat_reset()");
        let mut session = server.connect("postgres");
        session.run("SET track_functions = 'all'");
        let ids: i64 = session.one(&format!(
            "SELECT count(mint_sql.snowflake_next_id(7, '{LAYOUT}')) FROM generate_series(1, 500)"
        ));
        assert_eq!(ids, 500);
        session.run("SELECT pg_stat_force_next_flush()");
        let parsed: i64 = session.one(
            "SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_user_functions WHERE funcname = 'layout_parse'",
        );
        assert!(parsed < 10, "layout_parse was called {parsed} times");
        let calls: i64 = session.one("SELECT sum(calls)::bigint FROM pg_stat_user_functions WHERE funcname = 'snowflake_next_id'");
        assert_eq!(calls, 500, "calls are counted");
    }
    let commented: i64 = session.one(
        "SELECT count(*) FROM pg_proc WHERE pronamespace = 'mint_sql'::regnamespace AND obj_description(oid, 'pg_proc') IS NULL",
    );
    assert_eq!(commented, 0, "functions have no comment");
}

/// A standby that is promoted continues above the ids of all rows that it has.
#[test]
fn a_promoted_standby_continues_above_its_rows() {
    let server = Server::start("managed: primary");
    let mut session = server.connect("postgres");
    install(&mut session);
    session.run("CREATE TABLE kept (n bigserial, id bigint PRIMARY KEY)");
    let standby = server.standby("managed: standby");
    session.run(
        "INSERT INTO kept (id) SELECT mint_sql.snowflake_next_id(7) FROM generate_series(1, 5000)",
    );
    server.wait_for(&standby);
    let mut there = standby.connect("postgres");
    there.refused(NEXT, "25006");
    server.stop_immediate();
    standby.promote();
    let highest: i64 = there.one("SELECT max(id) FROM kept");
    assert_ascending(&[highest, there.one(NEXT)]);
}

/// The file can be run again: functions are replaced, not made again. change.rs restores dumps of what uses them.
#[test]
fn the_file_is_run_again() {
    let server = Server::build("managed: again").start_empty();
    let mut maker = server.owned_database("maker", "shop");
    install(&mut maker);
    let functions = "SELECT string_agg(oid::text, ',' ORDER BY oid) FROM pg_proc
        WHERE pronamespace = 'mint_sql'::regnamespace";
    let before: String = maker.one(functions);
    maker.run(&format!("BEGIN; {FILE} COMMIT"));
    assert_eq!(before, maker.one::<String>(functions));
}
