//! A server that subscribes to all sequences of another one, as 19 can: they are set to the values there, also to lower
//! ones, and no library is told.

use mint_cluster::{Server, Session, assert_ascending, assert_unique, or_skip, say};

const MANY: &str = "SELECT snowflake_next_id(7) FROM generate_series(1, 1000)";
const CEILING: &str = "SELECT last_value FROM mint.time_ceiling";
const DRAW: &str = "SELECT ticket_next('photos') FROM generate_series(1, 30)";

/// Starts a server whose sequences are published, and one whose clock the test sets. Before 19 it returns `None`, with a message.
fn start(name: &str, conf: &str) -> Option<[Server; 2]> {
    let builder = Server::build_with_clock(name).conf("wal_retrieve_retry_interval = '100ms'");
    let publisher = Server::build("the publisher")
        .conf("wal_level = logical")
        .start();
    if publisher.major() < 19 {
        say(format!("SKIPPED {name}: it needs PostgreSQL 19"));
        return None;
    }
    let subscriber = builder.conf(conf).start();
    for (number, server) in [(1, &publisher), (2, &subscriber)] {
        server.run(&format!(
            "SELECT ticket_create('photos', server => {number}, servers => 2), segment_create('orders')"
        ));
    }
    publisher.run("CREATE PUBLICATION counters FOR ALL SEQUENCES");
    Some([publisher, subscriber])
}

/// Sets the subscriber's sequences to the publisher's values, and waits until that is done.
fn refresh([publisher, subscriber]: &[Server; 2]) {
    let mut session = subscriber.connect("postgres");
    if session.one::<i64>("SELECT count(*) FROM pg_subscription") == 0 {
        session.run(&format!(
            "CREATE SUBSCRIPTION counters CONNECTION 'host={} port=5432 user=postgres dbname=postgres' PUBLICATION counters",
            publisher.socket().display()
        ));
    } else {
        session.run("ALTER SUBSCRIPTION counters REFRESH SEQUENCES");
    }
    subscriber.until("the sequences are set", || {
        session.one(
            "SELECT count(*) = 2 FROM pg_subscription_rel
             WHERE srsubstate = 'r' AND srrelid IN ('mint.time_ceiling'::regclass, 'orders'::regclass)",
        )
    });
}

/// The first id after it puts the ceiling back, long before the window would make a session write it. So it is there at a
/// crash.
#[test]
fn a_lowered_ceiling_repeats_no_id() {
    let servers = or_skip!(start("a lowered ceiling", "pg_mint.ceiling_window = '5s'"));
    let subscriber = &servers[1];
    let mut session = subscriber.connect("postgres");
    let mut all: Vec<i64> = session.column(MANY);
    let ceiling: i64 = session.one(CEILING);
    refresh(&servers);
    assert!(session.one::<i64>(CEILING) < ceiling, "it was lowered");
    all.extend(session.column::<i64>(MANY));
    assert!(session.one::<i64>(CEILING) >= ceiling, "it was raised");
    refresh(&servers);
    assert!(session.one::<i64>(CEILING) < ceiling, "it was lowered");
    let mut other = subscriber.connect("postgres");
    all.extend(other.column::<i64>(MANY));
    assert!(other.one::<i64>(CEILING) >= ceiling, "it was raised");
    assert_eq!(
        subscriber
            .log()
            .matches("ceiling of this database was set back")
            .count(),
        2
    );
    subscriber.crash_with_the_clock_back();
    let mut session = subscriber.connect("postgres");
    all.extend(subscriber.until_minted(|| session.try_column::<i64>(MANY)));
    assert_ascending(&all);
}

/// A subscriber that takes over mints above what the publisher has minted, though its clock is behind.
#[test]
fn a_subscriber_that_takes_over_repeats_no_id() {
    let servers = or_skip!(start("a subscriber that takes over", ""));
    servers[1].set_clock("-1.5");
    let mut session = servers[1].connect("postgres");
    session.run("SELECT snowflake_next_id(8)");
    let mut all: Vec<i64> = servers[0].column(MANY);
    refresh(&servers);
    servers[0].stop_immediate();
    all.extend(servers[1].until_minted(|| session.try_column::<i64>(MANY)));
    assert_ascending(&all);
}

/// Sequences that have another definition are not set, so tickets of another server stay. Segments are set: both servers
/// draw the same values.
#[test]
fn tickets_of_each_server_stay_and_segments_do_not() {
    let servers = or_skip!(start("tickets and segments", ""));
    let mut sessions = servers.each_ref().map(|server| server.connect("postgres"));
    let draw = |session: &mut Session| session.column::<i64>(DRAW);
    let mut tickets: Vec<Vec<i64>> = sessions.iter_mut().map(draw).collect();
    let orders = "SELECT segment_next('orders') FROM generate_series(1, 30)";
    let drawn: Vec<i64> = sessions[1].column(orders);
    let page = "SELECT last_value FROM photos";
    let before: i64 = sessions[1].one(page);
    refresh(&servers);
    let refused = "mismatched or renamed sequence on subscriber (\"public.photos\")";
    servers[1].until("the tickets are left alone", || {
        servers[1].log().contains(refused)
    });
    assert_eq!(sessions[1].one::<i64>(page), before);
    tickets.extend(sessions.iter_mut().map(draw));
    // Replication does not flush the values that it sets.
    sessions[1].run("CHECKPOINT");
    servers[1].crash();
    let mut session = servers[1].connect("postgres");
    tickets.push(draw(&mut session));
    assert_unique(&tickets);
    for (number, list) in [(1, &tickets[2]), (0, &tickets[4])] {
        assert!(list.iter().all(|ticket| ticket % 2 == number), "{list:?}");
    }
    assert_eq!(session.column::<i64>(orders), drawn);
}
