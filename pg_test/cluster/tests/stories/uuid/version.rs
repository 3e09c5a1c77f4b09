//! UUIDs and ObjectIDs of whole servers: unique and ascending over all sessions, with clock steps and on standbys.

use mint_cluster::{Server, Session, assert_ascending, count};
use std::collections::HashSet;

/// Generators whose ids ascend in the order of minting, as text in the same order.
const ASCENDING: [&str; 4] = [
    "uuid_v7()", "uuid_v6()", "uuid_v1_to_v6(uuid_v1())", "objectid()",
];

/// Sixteen sessions in two databases draw at once: ids are unique, and ascend within each session.
#[test]
fn sixteen_sessions_draw_millions() {
    const SESSIONS: usize = 16;
    let server = Server::build("sixteen sessions").alone().start();
    server.create_database("other");
    let each = count(125_000, 10_000);
    let table = "minted (session int, n int, v7 uuid, v6 uuid, v1 uuid, object objectid)";
    for database in ["postgres", "other"] {
        let mut session = server.connect(database);
        session.run(&format!("CREATE UNLOGGED TABLE {table}"));
    }
    std::thread::scope(|scope| {
        for number in 0..SESSIONS {
            let mut session = server.connect(["postgres", "other"][number % 2]);
            scope.spawn(move || {
                for chunk in 0..10 {
                    session.run(&format!(
                        "INSERT INTO minted SELECT {number}, {chunk} * {each} + g, uuid_v7(), uuid_v6(), uuid_v1(), objectid()
                         FROM generate_series(1, {each} / 10) g"
                    ));
                }
            });
        }
    });
    let mut session = server.connect("postgres");
    server
        .connect("other")
        .copy("SELECT * FROM minted", &mut session, "minted");
    let rows = (SESSIONS * each) as i64;
    for (column, sorts) in [
        ("v7", "v7"),
        ("v6", "v6"),
        ("v1", "uuid_v1_to_v6(v1)"),
        ("object", "object"),
    ] {
        let distinct: i64 = session.one(&format!("SELECT count(DISTINCT {column}) FROM minted"));
        assert_eq!(distinct, rows, "{} of {column} twice", rows - distinct);
        let backwards: i64 = session.one(&format!(
            "SELECT count(*) FROM (SELECT {sorts} <= lag({sorts}) OVER (PARTITION BY session ORDER BY n) AS back FROM minted) m WHERE back"
        ));
        assert_eq!(backwards, 0, "{column} out of order within a session");
    }
    // They are unique even without their random bits.
    let times: i64 =
        session.one("SELECT count(DISTINCT substring(uuid_send(v7) FOR 8)) FROM minted");
    assert_eq!(times, rows);
}

/// Ids that are minted one after the other in sixteen sessions ascend from session to session.
#[test]
fn ids_ascend_over_all_sessions() {
    let server = Server::start("order over sessions");
    let mut sessions: Vec<Session> = (0..16).map(|_| server.connect("postgres")).collect();
    for call in ASCENDING {
        let mut ids = Vec::new();
        for round in 0..count(200, 50) {
            for session in &mut sessions {
                ids.extend(session.mint(call, 1 + round % 3));
            }
        }
        assert_ascending(&ids);
    }
}

/// Steps of the clock, back a little, back an hour and forward again, neither delay a call nor break the order.
#[test]
fn clock_steps_neither_stop_nor_reorder_ids() {
    let server = Server::start_with_clock("clock steps of uuids");
    let mut sessions: Vec<Session> = (0..3).map(|_| server.connect("postgres")).collect();
    for session in &mut sessions {
        session.run("SET statement_timeout = '1s'");
    }
    let mut all = vec![Vec::new(); ASCENDING.len()];
    for offset in [
        "+0", "-0.001", "-2", "-3600", "-3599", "+0", "-86400", "+1", "-10y",
    ] {
        server.set_clock(offset);
        for session in &mut sessions {
            for (ids, call) in all.iter_mut().zip(ASCENDING) {
                ids.extend(session.mint(call, 300));
            }
        }
    }
    all.iter().for_each(|ids| assert_ascending(ids));
    // The ids did not follow the clock ten years back.
    let session = &mut sessions[0];
    let ahead: bool = session.one(
        "SELECT least(uuid_time(uuid_v7()), uuid_time(uuid_v6()), uuid_time(uuid_v1()), objectid_time(objectid()))
            > clock_timestamp() + interval '9 years'",
    );
    assert!(ahead, "the ids follow a clock that is ten years back");

    // After a restart ids start from the clock; node, clock sequence and random bytes keep them unique.
    server.restart();
    let mut session = server.connect("postgres");
    let at_the_clock: bool = session.one(
        "SELECT greatest(uuid_time(uuid_v7()), uuid_time(uuid_v6()), uuid_time(uuid_v1()), objectid_time(objectid()))
            < clock_timestamp() + interval '1 s'",
    );
    assert!(at_the_clock, "a restart does not begin at the clock");
}

/// Version 2 refuses when the clock is set back by more than a window.
#[test]
fn version_2_refuses_an_earlier_window() {
    let server = Server::start_with_clock("windows of version 2");
    let mut session = server.connect("postgres");
    let before = session.mint("uuid_v2('person', 501)", 10);
    server.set_clock("-3600");
    let refusal = session.refused("SELECT uuid_v2('person', 501)", "2200H");
    assert!(!refusal.hint.is_empty(), "{refusal}");
    server.set_clock("+430");
    let after = session.mint("uuid_v2('person', 501)", 64);
    let distinct: HashSet<String> = before.into_iter().chain(after).collect();
    assert_eq!(distinct.len(), 74);
}

/// A standby mints with a node and random bytes of its own, and continues when promoted.
#[test]
fn a_standby_mints_ids_of_its_own() {
    let primary = Server::start("primary of uuids");
    primary.run("CREATE TABLE seen (id objectid)");
    let standby = primary.standby("standby of uuids");
    primary.wait_for(&standby);
    let node = "SELECT uuid_node(uuid_v1())::text";
    let nodes = [&primary, &standby].map(|server| server.one::<String>(node));
    assert_ne!(nodes[0], nodes[1]);

    let mut session = standby.connect("postgres");
    assert!(session.one::<bool>("SELECT pg_is_in_recovery()"));
    let mut all: Vec<Vec<String>> = ASCENDING
        .iter()
        .map(|call| session.mint(call, 1_000))
        .collect();
    session.mint("uuid_v2('org', 7)", 10);
    session.mint("objectid_legacy()", 10);
    primary.stop_immediate();
    standby.promote();
    for (ids, call) in all.iter_mut().zip(ASCENDING) {
        ids.extend(session.mint(call, 1_000));
        assert_ascending(ids);
    }
}
