//! Counters on a standby that is promoted: they continue above all that it has received the log for.

use mint_cluster::load::sessions::{split, while_asking, while_minting};
use mint_cluster::{Server, Session, assert_ascending, say};
use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::Duration;

const USERS: i64 = 20;
/// A number of a user is told as one value.
const EACH: i64 = 1_000_000_000;

/// The greatest number of each user.
type Numbers = BTreeMap<i64, i64>;

fn greatest<'a>(lists: impl IntoIterator<Item = &'a Vec<i64>>) -> Numbers {
    let mut numbers = Numbers::new();
    for value in lists.into_iter().flatten() {
        let number = numbers.entry(value / EACH).or_default();
        *number = (*number).max(value % EACH);
    }
    numbers
}

fn of_users(expression: &str) -> String {
    format!("SELECT u * {EACH} + {expression} FROM generate_series(1, {USERS}::bigint) u")
}

/// Draws a number of each user.
fn next_of_users(session: &mut Session) -> Numbers {
    greatest([&session.column(&of_users("user_sequence_next('mail', u)"))])
}

#[track_caller]
fn assert_above(next: &Numbers, last: &Numbers) {
    assert_eq!(next.len(), last.len());
    for (user, number) in next {
        assert!(number > &last[user], "user {user}: {number}, {last:?}");
    }
}

/// Starts a primary with counters, each of which takes a hundred values at a time.
fn start(name: &str) -> Server {
    let primary = Server::start(name);
    primary.run(
        "SELECT user_sequence_create('mail', sections => 4, step => 100);
         SELECT segment_create('orders', step => 100);
         SELECT ticket_create('photos', server => 2, servers => 5); ALTER SEQUENCE photos CACHE 100;
         CREATE TABLE message (uid bigint, number bigint, PRIMARY KEY (uid, number))",
    );
    primary
}

const SEQUENCES: [&str; 2] = ["segment_next('orders')", "ticket_next('photos')"];

#[test]
fn a_standby_that_lags_continues_above_all_that_it_has_received() {
    let primary = start("counters of a primary");
    let standby = primary.standby("a standby that lags");
    let users = of_users("user_sequence_next('mail', u)");
    let [order, ticket] = SEQUENCES.map(|next| format!("SELECT {next} FROM generate_series(1, 7)"));
    let statements = [&users, &users, &order, &order, &ticket];
    let records = while_asking(&primary.place(), &statements, || {
        sleep(Duration::from_millis(500));
    });
    let (lists, refusals) = split(records);
    assert!(refusals.is_empty(), "{refusals:?}");
    let replicated = greatest(&lists[..2]);
    let most = [2..4, 4..5].map(|of| lists[of].iter().flatten().max().copied());
    primary.wait_for(&standby);
    standby.stop_receiving();
    let mut replica = standby.connect("postgres");
    // The log is written ahead, so that the first numbers after it are covered as well.
    let bound = greatest([&replica.column(&of_users("user_sequence_current('mail', u)"))]);
    for (user, bound) in &bound {
        assert!(bound >= &replicated[user], "user {user}: {bound}");
    }
    let mut session = primary.connect("postgres");
    for _ in 0..10 {
        session.run(&format!("{users}, generate_series(1, 100)"));
    }
    let lost = next_of_users(&mut session);
    primary.stop_immediate();
    standby.promote();
    let next = next_of_users(&mut replica);
    assert_above(&next, &bound);
    // The standby repeats numbers whose WAL it has not received, as the documents say.
    let again = next.iter().filter(|(user, number)| *number <= &lost[user]);
    assert_eq!(
        again.count(),
        lost.len(),
        "the standby did not lag, so the story shows nothing"
    );
    assert_above(&next_of_users(&mut replica), &next);
    for (next, most) in SEQUENCES.iter().zip(most) {
        let values: Vec<i64> =
            replica.column(&format!("SELECT {next} FROM generate_series(1, 300)"));
        assert!(
            values.first() > most.as_ref(),
            "{next}: {values:?}, {most:?}"
        );
        assert_ascending(&values);
    }
    let photo: i64 = replica.one("SELECT ticket_last('photos')");
    assert_eq!(photo % 5, 2);
}

/// The primary is lost in the middle of commits that wait for the standby.
#[test]
fn a_synchronous_standby_repeats_no_number_of_a_committed_row() {
    let primary = start("counters of a synchronous primary");
    let standby = primary.standby("a synchronous standby");
    let mut session = primary.connect("postgres");
    session.set_for_server("synchronous_standby_names", "'*'");
    primary.until("the standby is synchronous", || {
        session.one("SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')")
    });
    let insert = format!(
        "INSERT INTO message SELECT u, user_sequence_next('mail', u) FROM generate_series(1, {USERS}::bigint) u
         RETURNING uid * {EACH} + number"
    );
    let records = while_minting(&primary, 3, &insert, || {
        sleep(Duration::from_secs(1));
        primary.cut_power();
    });
    standby.promote();
    let (lists, refusals) = split(records);
    assert!(refusals.is_empty(), "{refusals:?}");
    let committed = greatest(&lists);
    let mut session = standby.connect("postgres");
    let rows: i64 = session.one("SELECT count(*) FROM message");
    let told: usize = lists.iter().map(Vec::len).sum();
    say(format!(
        "{told} rows were committed; the standby has {rows}"
    ));
    assert!(rows >= told as i64, "{rows}, {told}");
    // Also of rows whose clients were not told that they were committed.
    let there = greatest([&session.column(&format!(
        "SELECT uid * {EACH} + max(number) FROM message GROUP BY uid"
    ))]);
    let next = greatest([&session.column(&insert)]);
    assert_above(&next, &there);
    assert_above(&next, &committed);
}
