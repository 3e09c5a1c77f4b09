//! Changes that would let ids repeat or run ahead are refused: altered sequences, declarations that are rolled back, slow layouts.

use super::install;
use mint_cluster::load::sessions::{assert_sound, draw_at_once};
use mint_cluster::{Server, assert_ascending};

const NEXT: &str = "SELECT mint_sql.snowflake_next_id(7)";

/// ALTER SEQUENCE copies the value of an unlogged sequence into the file that it has after a crash.
#[test]
fn a_floor_that_was_altered_repeats_nothing_after_a_crash() {
    for sequence in ["instagram_7", "instagram_7_floor"] {
        let server = Server::build_with_clock("managed: altered")
            .durable()
            .start();
        let mut session = server.connect("postgres");
        install(&mut session);
        session.one::<i64>(NEXT);
        session.run(&format!(
            "ALTER SEQUENCE mint_sql.{sequence} NO CYCLE; CHECKPOINT"
        ));
        session.run("CREATE TABLE kept (id bigint PRIMARY KEY); INSERT INTO kept SELECT mint_sql.snowflake_next_id(7) FROM generate_series(1, 5000)");
        session.run(
            "INSERT INTO kept SELECT mint_sql.snowflake_next_id(7) FROM generate_series(1, 5000)",
        );
        let last: i64 = session.one("SELECT max(id) FROM kept");
        server.cut_power();
        server.set_clock("-1.5");
        server.start_again();
        let mut session = server.connect("postgres");
        assert_ascending(&[last, session.one(NEXT), session.one(NEXT)]);
        let shown: i64 = session.one("SELECT last_id FROM mint_sql.shards");
        assert!(shown > last, "the view shows an older id");
    }
}

/// A ceiling that a crash would empty is not used.
#[test]
fn an_unlogged_ceiling_is_refused() {
    let server = Server::start("managed: unlogged ceiling");
    let mut session = server.connect("postgres");
    install(&mut session);
    let last: i64 = session.one(NEXT);
    session.run("ALTER SEQUENCE mint_sql.instagram_7_ceiling SET UNLOGGED");
    let move_it = format!("SELECT mint_sql.snowflake_start_above({last} + (10000::bigint << 23))");
    session.refused(&move_it, "55000");
    session.run("ALTER SEQUENCE mint_sql.instagram_7_ceiling SET LOGGED");
    session.run(&move_it);
}

/// A declaration that is rolled back has given no id, or a later one would give it again.
#[test]
fn the_transaction_that_declares_a_shard_does_not_use_it() {
    let server = Server::start("managed: declaring");
    let mut session = server.connect("postgres");
    install(&mut session);
    let above = "SELECT mint_sql.snowflake_start_above(mint_sql.snowflake_encode(now(), 8, 1))";
    for declare in [
        "BEGIN; SELECT mint_sql.shard_create(8)",
        "BEGIN; SAVEPOINT a; SELECT mint_sql.shard_create(8); RELEASE SAVEPOINT a",
    ] {
        for call in [&NEXT.replace('7', "8"), above] {
            session.run(declare);
            session.refused(call, "55000");
            session.run("ROLLBACK");
        }
    }
    session.run("SELECT mint_sql.shard_create(8)");
    session.run(&format!("{above}; {}", NEXT.replace('7', "8")));
}

/// Calls of a layout with few ids wait for their own tick, and not together for one: no id is more than 2 s ahead of the clock when
/// it is returned, and no call fails.
#[test]
fn slow_layouts_run_2_s_ahead_and_wait() {
    let server = Server::start("managed: slow layouts");
    let mut session = server.connect("postgres");
    install(&mut session);
    for layout in [
        "time:32 shard:8 seq:1 unit:1s epoch:2020-01-01T00:00:00Z",
        "time:30 shard:8 seq:3 unit:4s epoch:2020-01-01T00:00:00Z",
    ] {
        session.run(&format!("SELECT mint_sql.shard_create(7, '{layout}')"));
        let lists = draw_at_once(&server, "postgres", 12, |session, _| {
            // A setting, which every role has, gives no turn.
            session.run("SET mint_sql.turn = 'on'");
            (0..2)
                .map(|_| {
                    session.one(&format!(
                        "SELECT CASE WHEN mint_sql.snowflake_time(id, '{layout}') - clock_timestamp() <= '2 s' THEN id ELSE -id END
                         FROM (SELECT mint_sql.snowflake_next_id(7, '{layout}') AS id OFFSET 0) AS i"
                    ))
                })
                .collect()
        });
        let ahead: Vec<&i64> = lists.iter().flatten().filter(|id| **id < 0).collect();
        assert!(
            ahead.is_empty(),
            "{layout}: ids were more than 2 s ahead: {ahead:?}"
        );
        assert_sound(&lists);
    }
}

/// At the end of a layout of 63 bits, a shard without any id starts above the last one, and the view shows all shards.
#[test]
fn the_end_of_a_layout_hides_no_shard() {
    let server = Server::start("managed: end of 63 bits");
    let mut session = server.connect("postgres");
    install(&mut session);
    let layout: String = session.one(
        "SELECT 'time:45 seq:18 unit:1us epoch:' || to_char((now() - interval '35184372088832 us' + interval '30 s') AT TIME ZONE interval '0', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')",
    );
    session.run(&format!("SELECT mint_sql.shard_create(0, '{layout}')"));
    session.run(&format!(
        "SELECT mint_sql.snowflake_start_above({}, '{layout}')",
        i64::MAX
    ));
    for _ in 0..3 {
        let refusal = session.refusal(&format!("SELECT mint_sql.snowflake_next_id(0, '{layout}')"));
        assert_eq!(refusal.code, "2200H", "{refusal}");
    }
    // Sessions that drew at the same time leave the sequence so.
    session.run("SELECT nextval('mint_sql.' || left(name, -6)) FROM mint_sql.shards WHERE layout LIKE 'time%'");
    let last: i64 = session.one("SELECT max(last_id) FROM mint_sql.shards");
    assert_eq!(last, i64::MAX);
    session.run(&format!(
        "SELECT mint_sql.snowflake_start_above({}, '{layout}')",
        i64::MAX
    ));
}
