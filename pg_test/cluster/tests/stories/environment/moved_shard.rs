//! A logical shard, a schema as Instagram has them, moves to another server; and who may start a shard above an id.

use mint_cluster::load::sessions::{assert_unique, split, while_asking};
use mint_cluster::registry::members::assert_refused;
use mint_cluster::{Place, Registry, Server, Session, assert_ascending, or_skip};
use std::time::Instant;

const SHARD: &str = "CREATE SCHEMA insta5;
    CREATE FUNCTION insta5.next_id(OUT result bigint) LANGUAGE sql RETURN snowflake_next_id(5);
    CREATE TABLE insta5.our_table (id bigint PRIMARY KEY DEFAULT insta5.next_id() CHECK (snowflake_shard(id) = 5));
    GRANT USAGE ON SCHEMA insta5 TO app; GRANT SELECT, INSERT, DELETE ON insta5.our_table TO app";

/// The statements of clients. The first one's rows stay, and the second one's are gone after a while, so that nothing in
/// the dump tells of their ids.
const LOAD: [&str; 2] = [
    "INSERT INTO insta5.our_table DEFAULT VALUES RETURNING id",
    "DELETE FROM insta5.our_table WHERE id = (SELECT max(id) FROM insta5.our_table) RETURNING id",
];

/// Stops the writers of the shard: new statements are refused, and those that run have ended.
fn stop_writers(old: &mut Session) {
    old.run("REVOKE ALL ON ALL TABLES IN SCHEMA insta5 FROM app");
    old.run("BEGIN; LOCK TABLE insta5.our_table IN SHARE MODE; COMMIT");
}

/// Sends the clients to another server.
fn send(old: &mut Session, place: &Place, new: &Server) {
    place.move_to(&new.place_of("app"));
    old.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'");
}

/// The new server's clock is a second behind, and it loses its power before it generates the first id.
#[test]
fn a_schema_moves_under_load_to_a_server_with_a_clock_behind() {
    let old = Server::start("the old server");
    let new = Server::build_with_clock("the new server");
    let new = new.start();
    let mut source = old.connect("postgres");
    for server in [&old, &new] {
        server.run("CREATE ROLE app LOGIN");
    }
    source.run(SHARD);
    let place = old.place_of("app");
    let mut above = 0;
    let statements = [LOAD[0], LOAD[0], LOAD[1]];
    let records = while_asking(&place, &statements, || {
        old.until("rows", || {
            source.one("SELECT count(*) > 200 FROM insta5.our_table")
        });
        stop_writers(&mut source);
        let stopped = Instant::now();
        above = source.one(
            "SELECT snowflake_encode(value, 5, 1023) FROM mint.ceilings WHERE database = current_database()",
        );
        let dump = old.dump_with("postgres", "postgres", &["-n", "insta5"]);
        new.restore("postgres", "postgres", &dump);
        let set_behind = || new.set_clock(&format!("-{}", stopped.elapsed().as_secs_f64() + 1.0));
        set_behind();
        new.run(&format!("SELECT snowflake_start_above({above})"));
        new.lose_power();
        set_behind();
        let mut target = new.connect("postgres");
        target.run("GRANT SELECT, INSERT, DELETE ON insta5.our_table TO app");
        send(&mut source, &place, &new);
        let after = format!("SELECT count(*) > 200 FROM insta5.our_table WHERE id > {above}");
        new.until("rows on the new server", || target.one(&after));
    });
    let (mut ids, refusals) = split(records);
    // Ids of deleted rows are among the inserted ones.
    let deleted = ids.pop().expect("three clients");
    assert!(!deleted.is_empty());
    assert_unique(&ids);
    for refusal in refusals {
        assert_eq!(refusal.code, "42501", "{refusal}");
    }
    for list in &ids {
        assert_ascending(list);
    }
    let after = ids.iter().flatten().filter(|&&id| id > above).count();
    assert!(after > 100, "{after} ids of the new server are above");
}

/// Returns the statement that starts a shard above an id so far ahead of the clock.
fn start_ahead(shard: u32, interval: &str) -> String {
    format!(
        "SELECT snowflake_start_above(snowflake_encode(clock_timestamp() + interval '{interval}', {shard}, 0))"
    )
}

#[test]
fn a_shard_starts_no_further_ahead_than_its_role_may() {
    let server = Server::start("how far ahead");
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE app LOGIN");
    let mut app = server.connect_as("app", "postgres");
    app.run(&start_ahead(6, "1 s"));
    for (session, interval, limit) in [
        (&mut app, "1 min", "at most 2 s"),
        (&mut session, "2 h", "at most 3600 s"),
    ] {
        let refusal = session.refused(&start_ahead(6, interval), "22023");
        refusal.assert_message("ahead of the system clock");
        refusal.assert_detail(limit);
    }
    assert!(app.one::<i64>("SELECT snowflake_next_id(6)") > 0);
    session.run(&start_ahead(7, "1 min"));
    app.refused("SELECT snowflake_next_id(7)", "58000");
    assert!(app.one::<i64>("SELECT snowflake_next_id(6)") > 0);

    session.run(
        "REVOKE EXECUTE ON FUNCTION snowflake_start_above(bigint, snowflake_layout) FROM PUBLIC",
    );
    app.refused(&start_ahead(6, "1 s"), "42501");
}

/// Ids that sessions have taken and not yet issued are dropped.
#[test]
fn other_sessions_drop_what_they_have_taken() {
    const LAYOUT: &str = "time:30 shard:10 seq:20 unit:3600s epoch:2020-01-01T00:00:00Z";
    let server = Server::start("taken before");
    let mut starter = server.connect("postgres");
    starter.set_for_server("pg_mint.session_cache", "64");
    let mut session = server.connect("postgres");
    let next = format!("SELECT snowflake_next_id(3, '{LAYOUT}')");
    let start = |id: i64| format!("SELECT snowflake_start_above({id}, '{LAYOUT}')");
    let first: i64 = session.one(&next);
    assert_eq!(
        session.one::<i64>(&next),
        first + 1,
        "not from the reservation"
    );
    starter.run(&start(first + 1_000));
    assert_eq!(session.one::<i64>(&next), first + 1_001);

    session.run(&format!(
        "BEGIN; DECLARE many CURSOR FOR SELECT snowflake_next_ids(3, 4000, '{LAYOUT}')"
    ));
    let second: i64 = session.one("FETCH many");
    assert_eq!(session.one::<i64>("FETCH many"), second + 1);
    starter.run(&start(second + 10_000));
    assert_eq!(session.one::<i64>("FETCH many"), second + 10_001);
}

/// With a registry, a server starts only shards that are its own, and no further than it can generate ids.
#[test]
fn a_registry_decides_which_shards_can_start() {
    let registry = or_skip!(Registry::start("started with a lease"));
    let member = registry.admit(Server::build("ada").conf("pg_mint.own_shards = '5'"));
    let mut session = member.connect("postgres");
    session.run(&start_ahead(5, "1 s"));
    assert!(session.one::<i64>("SELECT snowflake_next_id(5)") > 0);
    assert_refused(
        &session.refusal(&start_ahead(6, "1 s")),
        "does not belong to this server",
    );
    let refusal = session.refused(&start_ahead(5, "1 min"), "22023");
    refusal.assert_detail("at most 2 s");
}
