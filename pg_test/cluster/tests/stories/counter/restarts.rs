//! Sequences over stops of every kind: nothing that anybody drew is drawn again.

use mint_cluster::load::sessions::while_asking;
use mint_cluster::{Server, assert_unique, count, say};
use std::time::Duration;

const TICKET: &str = "SELECT ticket_next('photos')";
const VALUE: &str = "SELECT segment_next('tag')";

/// Returns a server with tickets and segments from which one value each was drawn.
fn drawn_from(name: &str) -> Server {
    let server = Server::build(name).durable().start();
    server.run(
        "SELECT ticket_create('photos', server => 2, servers => 3), segment_create('tag', 100)",
    );
    draw(&server);
    server
}

/// Draws a ticket and a value in a session of its own.
fn draw(server: &Server) -> (i64, i64) {
    let mut session = server.connect("postgres");
    (session.one(TICKET), session.one(VALUE))
}

/// A sequence without a CACHE that has issued eight values continues within fifty, after stops of both kinds.
#[test]
fn a_restart_skips_few_values_of_a_seldom_used_sequence() {
    let server = Server::build("few skipped").durable().start();
    let create = "CREATE SEQUENCE seldom; SELECT ticket_create('flickr', 2, 2)";
    server.run(create);
    for next in ["segment_next('seldom')", "ticket_next('flickr') / 2"] {
        let eight = format!("SELECT {next} FROM generate_series(1, 8)");
        let drawn: Vec<i64> = server.column(&eight);
        assert_eq!(drawn, (1..=8).collect::<Vec<i64>>());
        server.restart();
        let after: i64 = server.one(&format!("SELECT {next}"));
        assert!((9..50).contains(&after), "{after} of {next}");
        server.crash();
        let next: i64 = server.one(&format!("SELECT {next}"));
        assert!((after + 1..50).contains(&next), "{next} after {after}");
    }
}

/// Sessions draw while the server is stopped in every way.
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
            std::thread::sleep(Duration::from_millis(50 + 13 * (round % 7)));
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
    assert!(values.len() > 1_000, "{}", values.len());
    assert_unique([&values]);
    assert_unique([&tickets]);
    say(format!(
        "{} values and {} tickets over stops of every kind, each once; the last is {}",
        values.len(),
        tickets.len(),
        values.last().copied().unwrap_or_default()
    ));
}

/// A standby that is promoted after a stop of its primary continues above all that was drawn.
#[test]
fn a_switchover_repeats_nothing() {
    let server = drawn_from("a switchover");
    let standby = server.standby("the next primary");
    let drawn = draw(&server);
    server.stop_fast();
    standby.promote();
    let next = draw(&standby);
    assert!(next.0 > drawn.0 && next.1 > drawn.1, "{next:?}");
}
