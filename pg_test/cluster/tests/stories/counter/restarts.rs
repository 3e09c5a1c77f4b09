//! Sequences over stops of every kind: nothing that anybody drew is drawn again.

use mint_cluster::load::sessions::while_asking;
use mint_cluster::{Server, assert_unique, count};
use std::time::Duration;

const TICKET: &str = "SELECT ticket_next('photos')";
const VALUE: &str = "SELECT segment_next('tag')";
const NUMBER: &str = "SELECT user_sequence_next('family', 5)";

/// Returns a server with tickets, segments and numbers of users from which one value each was drawn.
fn drawn_from(name: &str) -> Server {
    let server = Server::build(name).durable().start();
    server.run(
        "SELECT ticket_create('photos', server => 2, servers => 3), segment_create('tag', 100),
             user_sequence_create('family', sections => 2, step => 20)",
    );
    draw(&server);
    server
}

/// Draws one of each in a session of its own.
fn draw(server: &Server) -> [i64; 3] {
    let mut session = server.connect("postgres");
    [TICKET, NUMBER, VALUE].map(|next| session.one(next))
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

/// Sessions draw while the server is stopped in every way. Numbers of a session that never commits count as well.
#[test]
fn no_stop_under_load_repeats_a_number() {
    let server = drawn_from("stops under load");
    let many = "SELECT segment_next('tag') FROM generate_series(1, 30)";
    let range =
        "SELECT g FROM segment_next_range('tag', 7) r, generate_series(r.first, r.last, r.step) g";
    let asked = [TICKET, TICKET, NUMBER, NUMBER, VALUE, VALUE, many, range];
    // Tickets, numbers of a user, and values.
    let mut all: [Vec<i64>; 3] = Default::default();
    for round in 0..count(40, 8) {
        let mut open = server.connect("postgres");
        open.run("BEGIN READ ONLY");
        all[2].push(open.one(VALUE));
        let records = while_asking(&server.place(), &asked, || {
            std::thread::sleep(Duration::from_millis(50 + 13 * (round % 7)));
            match round % 4 {
                0 | 2 => server.stop_fast(),
                1 => server.stop_immediate(),
                _ => return server.kill9_any(),
            }
            server.start_again();
        });
        for (client, record) in records.into_iter().enumerate() {
            all[2.min(client / 2)].extend(record.ids);
        }
        let next = draw(&server);
        for (drawn, next) in all.iter_mut().zip(next) {
            drawn.push(next);
        }
        // A range that is longer than the rest of a segment is above the next value; the others are drawn one by one.
        for (drawn, next) in all[..2].iter().zip(&next) {
            assert_eq!(drawn.iter().max(), Some(next), "round {round}");
        }
    }
    assert!(all[2].len() > 1_000, "{}", all[2].len());
    all.iter().for_each(|drawn| assert_unique([drawn]));
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
    let is_above = drawn.iter().zip(&next).all(|(drawn, next)| next > drawn);
    assert!(is_above, "{drawn:?}, then {next:?}");
}
