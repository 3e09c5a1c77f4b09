//! Calls of a layout with few ids a second take turns, in the order in which they have come.

use super::install;
use mint_cluster::load::sessions::{draw_at_once, split, while_asking};
use mint_cluster::{Server, Session, assert_unique, count};

const SLOW: &str = "time:33 shard:8 seq:1 unit:1s epoch:2020-01-01T00:00:00Z";
/// 400 ids a second.
const QUICKER: &str = "time:41 shard:8 seq:2 unit:10ms epoch:2020-01-01T00:00:00Z";

const WAITS: &str = "SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";

fn declare(session: &mut Session) {
    for layout in [SLOW, QUICKER] {
        session.run(&format!(
            "SELECT mint_sql.shard_create(7, '{layout}'), mint_sql.shard_create(8, '{layout}')"
        ));
    }
}

/// A statement that draws many ids lets others draw between its own, and a cancel ends it.
#[test]
fn a_batch_lets_others_draw() {
    let server = Server::start("managed: turns");
    let mut owner = server.connect("postgres");
    install(&mut owner);
    declare(&mut owner);
    std::thread::scope(|scope| {
        let mut batch = server.connect("postgres");
        batch.run("SET statement_timeout = '60s'");
        let pid: i32 = batch.one("SELECT pg_backend_pid()");
        let batch = scope.spawn(move || {
            batch.refusal(&format!(
                "SELECT mint_sql.snowflake_next_ids(7, 100000, '{SLOW}')"
            ))
        });
        while !owner.one::<bool>(&format!(
            "SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND pid = {pid}"
        )) {}
        // A bound that is far above the wait for a turn, or the story would hang where there is none.
        let mut other = server.connect("postgres");
        other.run("SET statement_timeout = '9s'");
        let ids: Vec<i64> = (0..3)
            .map(|_| other.one(&format!("SELECT mint_sql.snowflake_next_id(7, '{SLOW}')")))
            .collect();
        assert_unique([&ids]);
        owner.run(&format!("SELECT pg_cancel_backend({pid})"));
        assert_eq!(batch.join().expect("a session").code, "57014");
    });
    assert!(!owner.one::<bool>(WAITS), "a lock is left");
}

/// The wait for a turn is one for a lock: it is seen in pg_locks, and ends by its timeout.
#[test]
fn the_wait_for_a_turn_is_one_for_a_lock() {
    let server = Server::start("managed: wait for a turn");
    let mut holder = server.connect("postgres");
    install(&mut holder);
    declare(&mut holder);
    holder.run(
        "SELECT pg_advisory_lock((1835626100::bigint << 32) | ('mint_sql.' || name)::regclass::oid::bigint) FROM mint_sql.shards WHERE layout <> 'instagram'",
    );
    let call = format!("SELECT mint_sql.snowflake_next_id(7, '{SLOW}')");
    for (setting, code) in [("lock_timeout", "55P03"), ("statement_timeout", "57014")] {
        let mut waiting = server.connect("postgres");
        waiting.run(&format!(
            "SET statement_timeout = '9s'; SET {setting} = '300ms'"
        ));
        waiting.refused(&call, code);
    }
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| server.one::<i64>(&call));
        while !holder.one::<bool>(WAITS) {}
        holder.run("SELECT pg_advisory_unlock_all()");
        assert!(waiting.join().expect("a session") > 0);
    });
}

/// Transactions that draw from two shards in either order do not wait for each other.
#[test]
fn shards_in_either_order_do_not_deadlock() {
    let server = Server::start("managed: turns of two shards");
    let mut owner = server.connect("postgres");
    install(&mut owner);
    declare(&mut owner);
    let many = count(200, 50);
    let lists = draw_at_once(&server, "postgres", 4, |session, number| {
        let (first, second) = if number % 2 == 0 { (7, 8) } else { (8, 7) };
        session.column(&format!(
            "SELECT unnest(ARRAY[mint_sql.snowflake_next_id({first}, '{QUICKER}'), mint_sql.snowflake_next_id({second}, '{QUICKER}')]) FROM generate_series(1, {many})"
        ))
    });
    assert_unique(&lists);
    // A session that moves a shard meanwhile has the same lock.
    let next = format!("SELECT mint_sql.snowflake_next_id(7, '{QUICKER}')");
    let above = format!(
        "SELECT max(id) FROM (SELECT mint_sql.snowflake_next_id(7, '{QUICKER}') AS id OFFSET 0) AS i, mint_sql.snowflake_start_above(id, '{QUICKER}')"
    );
    let records = while_asking(&server.place(), &[&next, &next, &above], || {
        std::thread::sleep(std::time::Duration::from_millis(500));
    });
    let (ids, refusals) = split(records);
    assert!(refusals.is_empty(), "{}", refusals[0]);
    assert_unique(&ids);
}
