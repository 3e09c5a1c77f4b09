//! Sequences over a clean restart: what nobody drew is there again, and nothing that anybody drew.

use mint_cluster::load::sessions::while_asking;
use mint_cluster::{Server, Session, assert_ascending, assert_unique, count, say};
use std::time::Duration;

const TICKET: &str = "SELECT ticket_next('photos')";
const VALUE: &str = "SELECT segment_next('tag')";
const BACK: &str =
    "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'pg_mint give-back'";

/// Returns a server with tickets and segments from which one value each was drawn.
fn drawn_from(name: &str) -> Server {
    let server = Server::build(name).durable().start();
    server.connect("postgres").run(
        "SELECT ticket_create('photos', server => 2, servers => 3), segment_create('tag', 100)",
    );
    draw(&server);
    server
}

/// Draws a ticket and a value in a session of its own, and waits for the worker that gives values back.
fn draw(server: &Server) -> (i64, i64) {
    let mut session = server.connect("postgres");
    let drawn = (session.one(TICKET), session.one(VALUE));
    server.until("there is the worker", || session.one(BACK));
    drawn
}

/// No session is left that has drawn; and one that has not, one that idles, or one in a transaction that never commits.
#[test]
fn a_clean_restart_skips_nothing() {
    let server = drawn_from("clean restarts");
    server.restart();
    assert_eq!(draw(&server), (5, 2));
    for (round, open) in ["SELECT 1", VALUE, "BEGIN; SELECT segment_next('tag')"]
        .iter()
        .enumerate()
    {
        let mut session = server.connect("postgres");
        session.run(open);
        let last: i64 = session.one("SELECT segment_current('tag')");
        server.restart();
        let (ticket, value) = draw(&server);
        assert_eq!(ticket, 8 + 3 * round as i64, "{open}");
        assert_eq!(value, last + 1, "{open}");
    }
    let mut session = server.connect("postgres");
    session.run("SELECT segment_next('tag') FROM generate_series(1, 250)");
    let last: i64 = session.one("SELECT segment_current('tag')");
    drop(session);
    server.restart();
    assert_eq!(
        server
            .connect("postgres")
            .one::<i64>("SELECT last_value FROM tag"),
        last
    );
    assert_eq!(draw(&server).1, last + 1);
}

/// The row that is given back is what `nextval`, dumps and the next segment continue from; also of descending sequences,
/// of one at its end, and of those of several databases and tablespaces.
#[test]
fn every_kind_of_sequence_is_given_back() {
    let server = Server::build("kinds").durable().start();
    server.create_database("other");
    let create = "CREATE SEQUENCE down INCREMENT -3; CREATE SEQUENCE ends MAXVALUE 5 CACHE 10;
        CREATE SEQUENCE round MAXVALUE 5 CYCLE CACHE 2; CREATE SEQUENCE mixed CACHE 10; CREATE SEQUENCE ranged CACHE 10;
        CREATE SEQUENCE set CACHE 10; CREATE SEQUENCE altered CACHE 10";
    let next = |session: &mut Session, name: &str| -> Option<i64> {
        session
            .try_one(&format!("SELECT segment_next('{name}')"))
            .ok()
    };
    for database in ["postgres", "other"] {
        let mut session = server.connect(database);
        session.run(create);
        for name in ["down", "ends", "mixed", "ranged", "set", "altered"] {
            assert!(next(&mut session, name).is_some(), "{name}");
        }
        for _ in 0..4 {
            next(&mut session, "round");
        }
        session.run(
            "SELECT nextval('mixed'), segment_next_range('ranged', 500); SELECT setval('set', 7); BEGIN; ALTER SEQUENCE altered RESTART 70",
        );
        next(&mut session, "altered");
        session.run("COMMIT");
        server.until("there is the worker", || session.one(BACK));
    }
    server.restart();
    for database in ["postgres", "other"] {
        let mut session = server.connect(database);
        let mut all = Vec::new();
        for name in ["down", "ends", "round", "mixed", "ranged", "set", "altered"] {
            all.push(next(&mut session, name));
        }
        // Others have taken values from `mixed` and `ranged` since, so nothing went back: ten and 500.
        let expected = [-4, 2, 5, 21, 511, 8, 71];
        assert_eq!(all, expected.map(Some), "{database}");
        let rest = (0..4).map(|_| next(&mut session, "ends"));
        assert_eq!(rest.collect::<Vec<_>>(), [Some(3), Some(4), Some(5), None]);
    }
}

/// Sessions draw while the server is stopped in every way. Nothing is repeated, and a clean stop skips nothing but what is
/// taken before it ended.
#[test]
fn no_stop_under_load_repeats_a_number() {
    let server = drawn_from("stops under load");
    let (mut values, mut tickets) = (Vec::new(), Vec::new());
    let many = "SELECT segment_next('tag') FROM generate_series(1, 30)";
    let range =
        "SELECT g FROM segment_next_range('tag', 7) r, generate_series(r.first, r.last, r.step) g";
    let asked = [VALUE, VALUE, many, range, TICKET, TICKET];
    for round in 0..count(40, 8) {
        let mut records = while_asking(&server.place(), &asked, || {
            server.until("the server draws", || {
                let session = server.place().try_connect();
                session.is_ok_and(|mut session| session.try_one::<bool>(BACK).unwrap_or(false))
            });
            std::thread::sleep(Duration::from_millis(20 + 13 * (round % 7)));
            match round % 4 {
                0 | 2 => server.stop_fast(),
                1 => server.stop_immediate(),
                _ => return server.kill9_any(),
            }
            server.start_again();
        });
        for record in records.drain(..4) {
            values.extend(record.ids);
        }
        tickets.extend(records.into_iter().flat_map(|record| record.ids));
        // A range that is longer than the rest of a segment is above the next value; tickets are drawn one by one.
        let (ticket, value) = draw(&server);
        values.push(value);
        tickets.push(ticket);
        assert_eq!(tickets.iter().max(), Some(&ticket), "round {round}");
    }
    assert_unique([&values]);
    assert_unique([&tickets]);
    say(format!(
        "{} values and {} tickets over stops of every kind, each once; the last is {}",
        values.len(),
        tickets.len(),
        values.last().copied().unwrap_or_default()
    ));
}

/// A standby that is promoted after a clean stop of its primary continues where that would.
#[test]
fn a_switchover_skips_and_repeats_nothing() {
    let server = drawn_from("a switchover");
    let standby = server.standby("the next primary");
    server.stop_fast();
    standby.promote();
    assert_eq!(draw(&standby), (5, 2));
}

/// An end of the worker while the server runs gives nothing back, and the next refill starts another one.
#[test]
fn the_worker_gives_nothing_back_while_the_server_runs() {
    let server = drawn_from("a worker that is ended");
    let mut session = server.connect("postgres");
    let end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE backend_type = 'pg_mint give-back'";
    assert!(session.one::<bool>(end));
    assert_eq!(session.one::<i64>("SELECT last_value FROM tag"), 100);
    let drawn: Vec<i64> = session.column("SELECT segment_next('tag') FROM generate_series(1, 99)");
    assert_ascending(&drawn);
    server.until("there is the worker again", || session.one(BACK));
    drop(session);
    server.restart();
    assert_eq!(draw(&server), (5, 101));
}

/// A server whose background workers are all in use stops and starts as it does after a crash.
#[test]
fn without_a_free_worker_values_are_skipped() {
    let server = Server::build("no worker")
        .conf("max_worker_processes = 0")
        .durable()
        .start();
    let mut session = server.connect("postgres");
    session.run("SELECT segment_create('tag', 100)");
    assert_eq!(session.one::<i64>(VALUE), 1);
    drop(session);
    server.restart();
    assert_eq!(server.connect("postgres").one::<i64>(VALUE), 101);
}
