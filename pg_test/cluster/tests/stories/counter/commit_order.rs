//! Numbers of users that become visible in the order of commits, and the locks that make them so.

use mint_cluster::load::sessions::{assert_sound, draw_at_once, while_minting};
use mint_cluster::{Server, Session, assert_ascending, count};

/// Numbers for commit become visible in their order, also behind a prepared transaction.
#[test]
fn numbers_become_visible_in_their_order() {
    let server = Server::build("order of commits")
        .conf("max_prepared_transactions = 5")
        .start();
    let mut setup = server.connect("postgres");
    setup.run(
        "SELECT user_sequence_create('family'); CREATE TABLE message (uid bigint, number bigint)",
    );
    let insert = |session: &mut Session, function: &str| {
        session.run(&format!(
            "BEGIN; INSERT INTO message VALUES (7, {function}('family', 7))"
        ));
    };
    // A reader that polls for all numbers above the last it saw.
    let poll = |session: &mut Session, above: i64| -> Vec<i64> {
        session.column(&format!(
            "SELECT number FROM message WHERE number > {above} ORDER BY number"
        ))
    };
    let (mut early, mut late) = (server.connect("postgres"), server.connect("postgres"));

    // With the plain form the reader misses a row for good.
    insert(&mut early, "user_sequence_next");
    insert(&mut late, "user_sequence_next");
    late.run("COMMIT");
    let seen = poll(&mut setup, 0);
    early.run("COMMIT");
    assert_eq!(
        (seen, poll(&mut setup, 2)),
        (vec![2], vec![]),
        "1 is missed"
    );

    // With this form the later number waits for the earlier one.
    insert(&mut early, "user_sequence_next_for_commit");
    late.run("SET lock_timeout = '200ms'");
    let draw = "SELECT user_sequence_next_for_commit('family', 7)";
    late.refused(draw, "55P03");
    assert_eq!(poll(&mut setup, 2), Vec::<i64>::new());
    // Other users' sessions do not wait.
    late.run("SELECT user_sequence_next_for_commit('family', 8)");
    early.run("PREPARE TRANSACTION 'early'");
    late.refused(draw, "55P03");
    setup.run("COMMIT PREPARED 'early'");
    late.run("SET lock_timeout = 0");
    insert(&mut late, "user_sequence_next_for_commit");
    assert_eq!(poll(&mut setup, 2), [3]);
    late.run("COMMIT");
    assert_eq!(poll(&mut setup, 3), [4]);

    // ROLLBACK TO releases the lock.
    early.run("BEGIN; SAVEPOINT here");
    early.run(draw);
    early.run("ROLLBACK TO here");
    late.run("SET lock_timeout = '200ms'");
    late.run(draw);
    early.run("ROLLBACK");
}

/// A reader that polls sees every number of many writers, in order.
#[test]
fn a_polling_reader_misses_nothing() {
    let server = Server::start("polling");
    let mut reader = server.connect("postgres");
    reader.run("SELECT user_sequence_create('family'); CREATE TABLE message (number bigint)");
    let mut seen: Vec<i64> = Vec::new();
    // A pause between drawing and committing, in which others could overtake.
    let insert = "INSERT INTO message SELECT n
        FROM (SELECT user_sequence_next_for_commit('family', 7) AS n OFFSET 0) AS drawn,
            LATERAL (SELECT pg_sleep(random() * 0.003 + n * 0)) AS late
        RETURNING number";
    let written = while_minting(&server, 6, insert, || {
        for _ in 0..count(300, 60) {
            let last = seen.last().copied().unwrap_or(0);
            seen.extend(reader.column::<i64>(&format!(
                "SELECT number FROM message WHERE number > {last} ORDER BY number"
            )));
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    });
    let last = seen.last().copied().unwrap_or(0);
    seen.extend(reader.column::<i64>(&format!(
        "SELECT number FROM message WHERE number > {last} ORDER BY number"
    )));
    let written: usize = written.iter().map(|record| record.ids.len()).sum();
    assert_eq!(seen.len(), written);
    assert_ascending(&seen);
}

/// Arrays of users are locked in one order, whatever the order of their elements.
#[test]
fn arrays_of_users_do_not_deadlock() {
    let server = Server::start("arrays");
    server.run("SELECT user_sequence_create('family')");
    let drawn = draw_at_once(&server, "postgres", 6, |session, number| {
        let users = if number % 2 == 0 {
            "ARRAY[1, 2, 3, 4]"
        } else {
            "ARRAY[4, 3, 2, 1]"
        };
        let sql = format!(
            "SELECT (user_sequence_next_for_commit('family', {users}))[{}]",
            if number % 2 == 0 { 1 } else { 4 }
        );
        (0..count(400, 80)).map(|_| session.one(&sql)).collect()
    });
    assert_sound(&drawn);
}
