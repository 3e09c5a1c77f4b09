//! Savepoints, prepared transactions, locks of the caller, and calls that fail: no id repeats, and nobody waits for them.

use super::install;
use mint_cluster::{Server, assert_ascending};
use std::time::Instant;

const NEXT: &str = "SELECT mint_sql.snowflake_next_id(7)";

/// Ids ascend over savepoints that are rolled back, and over transactions that are prepared and committed or rolled back later.
#[test]
fn savepoints_and_prepared_transactions_give_no_id_back() {
    let server = Server::build("managed: transactions")
        .conf("max_prepared_transactions = 10")
        .durable()
        .start();
    let mut session = server.connect("postgres");
    install(&mut session);
    session.run("CREATE TABLE kept (id bigint PRIMARY KEY)");
    let mut drawn: Vec<i64> = vec![session.one(NEXT)];
    session.run("BEGIN");
    for place in 0..50 {
        session.run(&format!("SAVEPOINT s{place}"));
        drawn.push(session.one(NEXT));
        if place % 2 == 0 {
            session.run(&format!("ROLLBACK TO SAVEPOINT s{place}"));
            drawn.push(session.one(NEXT));
        }
    }
    session.run("ROLLBACK");
    // A tick has passed, so that the transaction moves the shard.
    session.run("SELECT pg_sleep(0.01); BEGIN");
    drawn.push(session.one("INSERT INTO kept VALUES (mint_sql.snowflake_next_id(7)) RETURNING id"));
    session.run("PREPARE TRANSACTION 'first'; BEGIN");
    drawn.push(session.one("INSERT INTO kept VALUES (mint_sql.snowflake_next_id(7)) RETURNING id"));
    session.run("PREPARE TRANSACTION 'second'");
    let mut other = server.connect("postgres");
    other.run("SET statement_timeout = '5s'");
    drawn.push(other.one(NEXT));
    other.run("COMMIT PREPARED 'second'");
    other.run("ROLLBACK PREPARED 'first'");
    drawn.push(other.one(NEXT));
    assert_ascending(&drawn);
    // Through a crash with a transaction that is prepared.
    other.run("BEGIN");
    drawn.push(other.one("INSERT INTO kept VALUES (mint_sql.snowflake_next_id(7)) RETURNING id"));
    other.run("PREPARE TRANSACTION 'third'");
    server.lose_power();
    let mut session = server.connect("postgres");
    drawn.push(session.one(NEXT));
    session.run("COMMIT PREPARED 'third'");
    drawn.push(session.one(NEXT));
    assert_ascending(&drawn);
}

/// Advisory locks of users have other keys. One with the key of a shard holds back its moves, and is seen in pg_locks.
#[test]
fn advisory_locks_of_users_have_other_keys() {
    let server = Server::start("managed: advisory locks");
    let mut user = server.connect("postgres");
    install(&mut user);
    let key = "(1835626100::bigint << 32) | 'mint_sql.instagram_7_floor'::regclass::oid::bigint";
    user.run(
        "SELECT pg_advisory_lock(n) FROM generate_series(1, 1000) AS n;
         SELECT pg_advisory_lock(1835626100, ('mint_sql.instagram_7_floor'::regclass)::oid::bigint::integer);
         SELECT mint_sql.snowflake_next_id(7), pg_sleep(0.01)",
    );
    let mut other = server.connect("postgres");
    other.run("SET statement_timeout = '1s'");
    let first: i64 = other.one(NEXT);
    // In a session that has such a lock itself, nothing waits, and the lock stays.
    user.run(&format!("SELECT pg_advisory_lock({key}), pg_sleep(0.01)"));
    let second: i64 = user.one(NEXT);
    other.run("SELECT pg_sleep(0.01)");
    other.refused(NEXT, "57014");
    let held: i64 = user.one(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND classid = 1835626100 AND objsubid = 1",
    );
    assert_eq!(held, 1, "the lock of the user was released");
    user.run("SELECT pg_advisory_unlock_all()");
    assert_ascending(&[first, second, other.one(NEXT)]);
}

/// A call that fails because the clock is behind draws nothing, or calls that are repeated would never catch up with the clock.
#[test]
fn calls_that_fail_draw_nothing() {
    let server = Server::build_with_clock("managed: failures").start();
    // Ten ids a second.
    const SLOW: &str = "time:41 shard:8 seq:1 unit:100ms epoch:2020-01-01T00:00:00Z";
    let next = format!("SELECT mint_sql.snowflake_next_id(7, '{SLOW}')");
    let mut session = server.connect("postgres");
    install(&mut session);
    session.run(&format!("SELECT mint_sql.shard_create(7, '{SLOW}')"));
    server.set_clock("+60");
    let last: i64 = session.one(&next);
    server.set_clock("+0");
    let position = "SELECT last_id FROM mint_sql.shards WHERE layout LIKE 'time:41 shard:8%'";
    assert_eq!(session.one::<i64>(position), last);
    for _ in 0..200 {
        session.refused(&next, "58000");
    }
    assert_eq!(
        session.one::<i64>(position),
        last,
        "failed calls have drawn"
    );
    server.set_clock("+60");
    assert_ascending(&[last, session.one(&next)]);
    // A burst continues up to 2 s ahead of the clock, and then waits for it.
    let began = Instant::now();
    let ids: Vec<i64> = session.column(&format!(
        "SELECT mint_sql.snowflake_next_id(7, '{SLOW}') FROM generate_series(1, 60)"
    ));
    assert_ascending(&ids);
    assert!(
        began.elapsed().as_millis() > 500,
        "60 ids came in {:?}",
        began.elapsed()
    );
}

/// At its last value, a sequence that a shard is made of is an error, and does not begin again.
#[test]
fn the_end_of_a_sequence_is_an_error() {
    let server = Server::start("managed: end");
    let mut session = server.connect("postgres");
    install(&mut session);
    let last: i64 = session.one(NEXT);
    session.run(
        "SELECT setval('mint_sql.instagram_7', 9223372036854775806),
             setval('mint_sql.instagram_7_floor', -9223372036854775806 + (SELECT last_value FROM mint_sql.instagram_7_floor))",
    );
    assert_ascending(&[last, session.one(NEXT)]);
    for _ in 0..20 {
        session.refused(NEXT, "2200H");
    }
    assert!(session.one::<i64>("SELECT last_id FROM mint_sql.shards") > last);
}

/// The last id of a layout of 63 bits without shards is followed by the error of its end, not by one of bigint; and the shard
/// can start above it, as in the extension.
#[test]
fn the_end_of_a_layout_is_an_error() {
    let server = Server::start("managed: end of a layout");
    let mut session = server.connect("postgres");
    install(&mut session);
    for (bits, last) in [
        ("time:43 seq:20", i64::MAX),
        ("time:43 seq:10", (1 << 53) - 1),
    ] {
        let layout: String = session.one(&format!(
            "SELECT '{bits} epoch:' || to_char((now() - interval '8796093022208 ms' + interval '2 s') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
        ));
        session.run(&format!("SELECT mint_sql.shard_create(0, '{layout}')"));
        let next = format!("SELECT mint_sql.snowflake_next_id(0, '{layout}')");
        let first: i64 = session.one(&next);
        for schema in ["mint_sql", "public"] {
            session.run(&format!(
                "SELECT {schema}.snowflake_start_above({}, '{layout}')",
                last - 3
            ));
        }
        let ids = session.column::<i64>(&format!("{next} FROM generate_series(1, 3)"));
        assert_ascending(&[first, ids[0], ids[1], ids[2]]);
        assert_eq!(ids[2], last);
        let above = format!("SELECT mint_sql.snowflake_start_above({last}, '{layout}')");
        for _ in 0..2 {
            for call in [&next, &next.replace("mint_sql", "public")] {
                if call.contains("public") {
                    session.run(&above.replace("mint_sql", "public"));
                }
                let refusal = session.refused(call, "2200H");
                refusal.assert_message("end of its time field");
            }
            session.run(&above);
        }
    }
}

/// A layout with so many bits of the sequence that a tick is longer than any burst moves ahead for a queue without an overflow.
#[test]
fn layouts_of_extreme_widths_draw_ascending_ids() {
    let server = Server::start("managed: widths");
    let mut session = server.connect("postgres");
    install(&mut session);
    let layouts = [
        "time:2 seq:61 unit:3600s epoch:",
        "time:20 seq:43 unit:1s epoch:",
        "time:33 seq:30 unit:1us epoch:",
        "time:62 seq:1 unit:1us epoch:",
        "time:4 shard:10 seq:1 unit:3600s epoch:",
    ];
    for layout in layouts {
        let layout: String = session.one(&format!(
            "SELECT '{layout}' || to_char(date_trunc('second', now()) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
        ));
        session.run(&format!("SELECT mint_sql.shard_create(0, '{layout}')"));
        let many = if layout.starts_with("time:4") { 1 } else { 50 };
        let lists = mint_cluster::load::sessions::draw_at_once(
            &server,
            "postgres",
            4,
            |session, number| {
                if many == 1 && number > 1 {
                    return Vec::new();
                }
                session.column(&format!("SELECT mint_sql.snowflake_next_id(0, '{layout}') FROM generate_series(1, {many})"))
            },
        );
        mint_cluster::load::sessions::assert_sound(&lists);
    }
}
