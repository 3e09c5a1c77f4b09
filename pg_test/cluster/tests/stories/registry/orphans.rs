//! Orphans: sessions whose postmaster was killed, while another server may have taken over by now.

use mint_cluster::registry::members::first_id;
use mint_cluster::{Refusal, Registry, Server, Session, or_skip};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time of a statement that nothing ends.
const LONG: &str = "40 s";

/// Returns one long statement that draws again and again, and logs what it got.
fn draw_and_log(name: &str, draw: &str) -> String {
    format!(
        "DO $$
         DECLARE start timestamptz := clock_timestamp();
         BEGIN
             WHILE clock_timestamp() < start + interval '{LONG}' LOOP
                 RAISE LOG '{name}: %.', {draw};
                 PERFORM count(*) FROM generate_series(1, 20000);
             END LOOP;
         END $$"
    )
}

/// Returns what was logged of a statement.
fn numbers(server: &Server, name: &str) -> Vec<i64> {
    let (log, before) = (server.log(), format!("LOG:  {name}: "));
    let values = log.lines().filter_map(|line| {
        let (_, value) = line.split_once(&before)?;
        value.strip_suffix('.')?.parse().ok()
    });
    values.collect()
}

/// Runs a statement for each of `draws` in a session of its own, and kills the postmaster. Returns when that was, in
/// microseconds since 1970, and how the statements ended.
fn orphan(server: &Server, draws: &[(&str, &str)]) -> (i64, Vec<Result<(), Refusal>>) {
    std::thread::scope(|scope| {
        let sessions: Vec<_> = draws
            .iter()
            .map(|(name, draw)| {
                let (mut session, statement) =
                    (server.connect("postgres"), draw_and_log(name, draw));
                // The log has a line for each value, and no other.
                session.run("SET log_error_verbosity = terse; SET log_min_error_statement = panic");
                scope.spawn(move || session.try_run(&statement))
            })
            .collect();
        server.until("all of them draw", || {
            draws
                .iter()
                .all(|(name, _)| !numbers(server, name).is_empty())
        });
        let killed = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .expect("a time after 1970");
        let killed = killed.as_micros() as i64;
        server.kill9_postmaster();
        let ends = sessions.into_iter();
        let ends = ends.map(|session| session.join().expect("a session"));
        (killed, ends.collect())
    })
}

/// Asserts that the server ended the statements. The client may notice the end of the connection before it reads why.
#[track_caller]
fn assert_ended(server: &Server, ends: &[Result<(), Refusal>]) {
    const FATAL: &str = "FATAL:  terminating connection due to unexpected postmaster exit";
    for end in ends {
        let end = end.as_ref();
        let refusal = end.expect_err("the statement of an orphan ended by itself");
        assert!(refusal.is_loss(), "{refusal}");
    }
    assert_eq!(server.log().matches(FATAL).count(), ends.len());
}

/// Returns the time of an id, in microseconds since 1970.
fn time_of(session: &mut Session, id: i64) -> i64 {
    session.one(&format!(
        "SELECT (extract(epoch FROM snowflake_time({id})) * 1000000)::bigint"
    ))
}

#[test]
fn an_orphan_issues_what_was_on_disk_and_no_more() {
    let server = Server::build("orphans").durable().start();
    server.run(
        "SELECT segment_create('orders', step => 100);
         SELECT user_sequence_create('messages', sections => 1, step => 100)",
    );
    let draws = [
        ("id", "snowflake_next_id(7)"),
        ("order", "segment_next('orders')"),
        ("message", "user_sequence_next('messages', 1)"),
    ];
    let (killed, ends) = orphan(&server, &draws);
    assert_ended(&server, &ends);
    server.start_again();
    let mut session = server.connect("postgres");
    let [id, order, message] = draws.map(|(name, _)| numbers(&server, name).into_iter().max());
    let ceiling: i64 = session.one("SELECT last_value FROM mint.time_ceiling");
    let last = time_of(&mut session, id.expect("ids"));
    assert!(last < ceiling, "{last} is not below {ceiling}");
    let late = Duration::from_micros((ceiling - killed).max(0).unsigned_abs());
    assert!(
        late < Duration::from_secs(10),
        "the ceiling was raised until {late:?} after the kill"
    );
    let next: i64 = session.one("SELECT segment_next('orders')");
    assert!(order.expect("orders") < next, "{order:?}, then {next}");
    let next: i64 = session.one("SELECT user_sequence_next('messages', 1)");
    assert!(
        message.expect("messages") < next,
        "{message:?}, then {next}"
    );
}

/// The worker ends the leases: long before they end, and before the ceiling is reached.
#[test]
fn an_orphan_loses_its_leases_at_once() {
    let registry = or_skip!(Registry::start("an orphan of a fleet"));
    let window = "pg_mint.ceiling_window = '10s'";
    let ada = registry.admit(
        Server::build("ada")
            .conf("pg_mint.node = 'auto'")
            .conf(window)
            .durable(),
    );
    first_id(&ada, "SELECT snowflake_next_id()");
    let (killed, ends) = orphan(&ada, &[("id", "snowflake_next_id()")]);
    assert_ended(&ada, &ends);
    let last = numbers(&ada, "id").into_iter().max().expect("ids");
    let last = time_of(&mut registry.connect(), last);
    let late = Duration::from_micros((last - killed).max(0).unsigned_abs());
    assert!(
        late < Duration::from_secs(4),
        "the last id is from {late:?} after the kill"
    );
}
