//! UUIDs and ObjectIDs of whole servers: unique and ascending over all sessions, whatever happens to the clock; drawn
//! from another random stream in every process; on standbys too.

use std::collections::HashSet;
use std::time::Duration;

use mint_cluster::{Server, Session, count, say};

/// What ascends in the order of minting, as text, whose order is that of the ids.
const ASCENDING: [&str; 4] = [
    "uuid_v7()",
    "uuid_v6()",
    "uuid_v1_to_v6(uuid_v1())",
    "objectid()",
];

fn draw(session: &mut Session, call: &str, many: usize) -> Vec<String> {
    session.column(&format!(
        "SELECT {call}::text FROM generate_series(1, {many})"
    ))
}

#[track_caller]
fn assert_ascending(ids: &[String]) {
    for pair in ids.windows(2) {
        assert!(pair[0] < pair[1], "{} was followed by {}", pair[0], pair[1]);
    }
}

#[track_caller]
fn assert_distinct<T: std::hash::Hash + Eq + std::fmt::Debug>(values: &[T]) {
    let distinct: HashSet<&T> = values.iter().collect();
    assert_eq!(distinct.len(), values.len(), "{values:?}");
}

/// Sixteen sessions at once, in two databases of the server: each id once, and each session's ascend.
#[test]
fn sixteen_sessions_draw_millions() {
    const SESSIONS: usize = 16;
    let server = Server::start("sixteen sessions");
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
    // The random bits are not what makes them unique: they differ before those.
    let times: i64 =
        session.one("SELECT count(DISTINCT substring(uuid_send(v7) FOR 8)) FROM minted");
    assert_eq!(times, rows);
    say(format!(
        "{SESSIONS} sessions: {rows} ids of each kind, each once"
    ));
}

/// Minted one after the other in sixteen sessions, the ids ascend from session to session.
#[test]
fn the_order_of_minting_is_the_order_of_the_ids() {
    let server = Server::start("order over sessions");
    let mut sessions: Vec<Session> = (0..16).map(|_| server.connect("postgres")).collect();
    for call in ASCENDING {
        let mut ids = Vec::new();
        for round in 0..count(200, 50) {
            for session in &mut sessions {
                ids.extend(draw(session, call, 1 + round % 3));
            }
        }
        assert_ascending(&ids);
    }
}

/// A clock that steps, back by a little and by an hour and forward again, neither stops the ids nor turns them around.
#[test]
fn clock_steps_neither_stop_nor_turn_them() {
    let Some(server) = Server::build_with_clock("clock steps of uuids") else {
        return;
    };
    let server = server.start();
    let mut sessions: Vec<Session> = (0..3).map(|_| server.connect("postgres")).collect();
    let mut all = vec![Vec::new(); ASCENDING.len()];
    for offset in [
        "+0", "-0.001", "-2", "-3600", "-3599", "+0", "-86400", "+1", "-10y",
    ] {
        server.set_clock(offset);
        for session in &mut sessions {
            for (ids, call) in all.iter_mut().zip(ASCENDING) {
                ids.extend(draw(session, call, 300));
            }
        }
    }
    all.iter().for_each(|ids| assert_ascending(ids));
    // They did not follow the clock ten years back.
    let session = &mut sessions[0];
    let ahead: bool = session.one(
        "SELECT least(uuid_time(uuid_v7()), uuid_time(uuid_v6()), uuid_time(uuid_v1()), objectid_time(objectid()))
            > clock_timestamp() + interval '9 years'",
    );
    assert!(ahead, "the ids follow a clock that is ten years back");

    // A restart begins at the clock; node, clock sequence and random bytes tell the ids apart.
    server.restart();
    let mut session = server.connect("postgres");
    let at_the_clock: bool = session.one(
        "SELECT greatest(uuid_time(uuid_v7()), uuid_time(uuid_v6()), uuid_time(uuid_v1()), objectid_time(objectid()))
            < clock_timestamp() + interval '1 s'",
    );
    assert!(at_the_clock, "a restart does not begin at the clock");
}

/// Version 2 is the one that ends: a clock set back by more than a window gives out no more of an id's.
#[test]
fn version_2_waits_for_its_window() {
    let Some(server) = Server::build_with_clock("windows of version 2") else {
        return;
    };
    let server = server.start();
    let mut session = server.connect("postgres");
    let before = draw(&mut session, "uuid_v2('person', 501)", 10);
    server.set_clock("-3600");
    let refusal = session.refusal("SELECT uuid_v2('person', 501)");
    assert_eq!(refusal.code, "2200H", "{refusal}");
    assert!(!refusal.hint.is_empty(), "{refusal}");
    server.set_clock("+430");
    let after = draw(&mut session, "uuid_v2('person', 501)", 64);
    assert_distinct(&[before, after].concat());
}

/// The first ids that a new session draws from its random stream.
fn stream(server: &Server) -> Vec<String> {
    draw(&mut server.connect("postgres"), "uuid_v4()", 20)
}

/// What a start of the server draws: node, clock sequence, the five bytes of an ObjectID.
fn start_of(server: &Server) -> String {
    server.connect("postgres").one(
        "SELECT concat_ws(' ', uuid_node(id), uuid_clock_sequence(id), substring(objectid()::text FROM 9 FOR 10))
         FROM (SELECT uuid_v1() AS id) t",
    )
}

/// Each process draws from a stream of its own, whatever was loaded before it was forked.
fn every_process_draws_another_stream(preload: bool) {
    let server = Server::build("random streams")
        .preload(preload)
        .conf("max_worker_processes = 16")
        .conf("max_parallel_workers = 12")
        .start();
    let mut ids = Vec::new();
    let mut starts = Vec::new();
    for round in 0..4 {
        for _ in 0..3 {
            ids.extend(stream(&server));
        }
        starts.push(start_of(&server));
        assert_eq!(starts.last(), Some(&start_of(&server)), "a session's own");
        ids.extend(by_workers(&server, "uuid_v4()"));
        match round {
            0 => server.restart(),
            1 => server.kill9(server.connect("postgres").pid),
            _ => {
                server.stop_immediate();
                server.start_again();
            }
        }
    }
    assert_distinct(&ids);
    assert_distinct(&starts);
    // No part of a start is the same in two of them either: each would be by chance once in 2^14 tries or more.
    for part in [0, 2] {
        let parts: Vec<_> = starts
            .iter()
            .map(|start| start.split(' ').nth(part))
            .collect();
        assert_distinct(&parts);
    }
}

#[test]
fn every_process_draws_another_random_stream() {
    every_process_draws_another_stream(false);
}

#[test]
fn every_process_draws_another_random_stream_preloaded() {
    every_process_draws_another_stream(true);
}

/// What parallel workers mint, the leader left out. A legacy ObjectID shows that it was several of them.
fn by_workers(server: &Server, call: &str) -> Vec<String> {
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE IF NOT EXISTS rows AS SELECT generate_series(1, 20000) AS n");
    session.run("ALTER TABLE rows SET (parallel_workers = 4)");
    session.run(
        "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
         SET parallel_leader_participation = off; SET max_parallel_workers_per_gather = 4",
    );
    let drawn: Vec<String> = session.column(&format!(
        "SELECT concat(objectid_legacy_pid(objectid_legacy()), ' ', {call}) FROM rows"
    ));
    let (workers, ids): (HashSet<String>, Vec<String>) = drawn
        .iter()
        .filter_map(|both| both.split_once(' '))
        .map(|(pid, id)| (pid.to_owned(), id.to_owned()))
        .unzip();
    assert_eq!(ids.len(), 20_000);
    assert!(workers.len() > 1, "not by parallel workers: {workers:?}");
    assert!(!workers.contains(&(session.pid & 0xffff).to_string()));
    ids
}

#[test]
fn parallel_workers_mint_each_id_once() {
    let server = Server::start("parallel workers");
    for call in ["uuid_v1()", "uuid_v6()", "uuid_v7()", "objectid()"] {
        let ids = by_workers(&server, call);
        assert_eq!(
            ids.iter().collect::<HashSet<_>>().len(),
            ids.len(),
            "{call}"
        );
    }
}

/// A standby mints, with a node and random bytes of its own, and goes on when it is promoted.
#[test]
fn a_standby_mints_its_own() {
    let primary = Server::start("primary of uuids");
    primary
        .connect("postgres")
        .run("CREATE TABLE seen (id objectid)");
    let standby = primary.standby("standby of uuids");
    primary.wait_for(&standby);
    assert_ne!(start_of(&primary), start_of(&standby));

    let mut session = standby.connect("postgres");
    assert!(session.one::<bool>("SELECT pg_is_in_recovery()"));
    let mut all: Vec<Vec<String>> = ASCENDING
        .iter()
        .map(|call| draw(&mut session, call, 1_000))
        .collect();
    draw(&mut session, "uuid_v2('org', 7)", 10);
    draw(&mut session, "objectid_legacy()", 10);
    primary.stop_immediate();
    standby.promote();
    for (ids, call) in all.iter_mut().zip(ASCENDING) {
        ids.extend(draw(&mut session, call, 1_000));
        assert_ascending(ids);
    }
}

/// The node may be the machine's, if a superuser says so.
#[test]
fn the_machines_address_is_shown_on_request_only() {
    let server = Server::start("node of uuids");
    let mut session = server.connect("postgres");
    let random: String = session.one("SELECT uuid_node(uuid_v1())::text");
    session.run("SET pg_mint.uuid_node = 'mac'");
    match session.try_one::<String>("SELECT uuid_node(uuid_v1())::text") {
        Ok(node) => {
            assert_ne!(node, random);
            let interfaces = std::fs::read_dir("/sys/class/net").expect("interfaces");
            let addresses: Vec<String> = interfaces
                .flatten()
                .filter_map(|one| std::fs::read_to_string(one.path().join("address")).ok())
                .collect();
            assert!(addresses.iter().any(|one| one.trim() == node), "{node}");
        }
        // A machine without one, as a container may be.
        Err(refusal) => assert_eq!(refusal.code, "55000", "{refusal}"),
    }
    // Others' sessions are not concerned.
    let mut other = server.connect("postgres");
    assert_eq!(
        other.one::<String>("SELECT uuid_node(uuid_v1())::text"),
        random
    );
    session.run("RESET pg_mint.uuid_node");
    assert_eq!(
        session.one::<String>("SELECT uuid_node(uuid_v6())::text"),
        random
    );
}

/// A field of a binary COPY: anything of any length. Twelve bytes are an ObjectID, all else is refused in the
/// protocol's words, and no session is lost.
#[test]
fn binary_input_takes_twelve_bytes_and_nothing_else() {
    let server = Server::start("binary input");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE taken (id objectid)");
    let directory: String = session.one("SHOW data_directory");
    let copy = format!("COPY taken FROM '{directory}/fuzz.bin' (FORMAT binary)");
    let mut random: u64 = 42;
    let mut next = || {
        // Numerical Recipes' generator: any bytes do.
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize
    };
    for round in 0..count(300, 60) {
        let length = if round % 4 == 0 { 12 } else { next() % 40 };
        let field: Vec<u8> = (0..length).map(|_| next() as u8).collect();
        let mut file = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x01".to_vec();
        file.extend((length as u32).to_be_bytes());
        file.extend(&field);
        file.extend([0xff, 0xff]);
        std::fs::write(format!("{directory}/fuzz.bin"), &file).expect("the file is written");
        session.run("TRUNCATE taken");
        if length == 12 {
            session.run(&copy);
            let hex: String = field.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(session.one::<String>("SELECT id::text FROM taken"), hex);
        } else {
            let refusal = session.refusal(&copy);
            assert!(
                ["22P03", "08P01"].contains(&refusal.code.as_str()),
                "{refusal}"
            );
        }
        let bytes: String = field.iter().map(|byte| format!("{byte:02x}")).collect();
        for (call, right) in [
            ("bytea '\\x{}'::objectid", length == 12),
            ("uuid_v8('\\x{}')", length == 16),
            ("bin_to_uuid('\\x{}', true)", length == 16),
        ] {
            let sql = format!("SELECT {}", call.replace("{}", &bytes));
            if right {
                session.run(&sql);
            } else {
                let refusal = session.refusal(&sql);
                assert_eq!(refusal.code, "22P03", "{refusal}");
            }
        }
    }
    // And out again, in both formats.
    session
        .run("TRUNCATE taken; INSERT INTO taken SELECT objectid() FROM generate_series(1, 1000)");
    for format in ["binary", "text", "csv"] {
        session.run(&format!(
            "COPY taken TO '{directory}/out' (FORMAT {format}); CREATE TEMP TABLE back (id objectid);
             COPY back FROM '{directory}/out' (FORMAT {format})"
        ));
        assert_eq!(
            session.one::<i64>("SELECT count(*) FROM taken JOIN back USING (id)"),
            1_000
        );
        session.run("DROP TABLE back");
    }
}

/// In a database of another encoding, texts are bytes as any others: none is a panic.
#[test]
fn another_encoding_than_utf8() {
    let server = Server::start("latin1");
    server.connect("postgres").run(
        "CREATE DATABASE latin1 ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'",
    );
    let mut session = server.connect("latin1");
    session.run("CREATE EXTENSION pg_mint");
    // Names are hashed as they are stored; this is how uuid-ossp has it too.
    let hashed: bool = session.one(
        "SELECT uuid_v5('dns', 'Z' || chr(252) || 'rich') <> uuid_v5('dns', 'Zurich')
            AND NOT is_uuid(repeat(chr(252), 32)) AND is_uuid(repeat('1', 32))",
    );
    assert!(hashed);
    for (sql, code) in [
        ("SELECT uuid_v5('d' || chr(252), 'a')", "22P02"),
        ("SELECT uuid_to_bin(chr(252))", "22P02"),
        ("SELECT (chr(252) || repeat('1', 23))::objectid", "22P02"),
        ("SELECT uuid_v2(chr(252), 1)", "22023"),
    ] {
        let refusal = session.refusal(sql);
        assert_eq!(refusal.code, code, "{refusal}");
        assert!(refusal.message.contains('?'), "{refusal}");
    }
}

/// Asked whether a text is an ObjectID, PostgreSQL 16 and later say no without an error.
#[test]
fn a_bad_text_is_a_question_where_postgresql_asks() {
    let server = Server::start("soft errors");
    let mut session = server.connect("postgres");
    if session.one::<String>("SHOW server_version_num").as_str() < "160000" {
        return say("SKIPPED: PostgreSQL 15 has no pg_input_is_valid");
    }
    assert!(session.one::<bool>(
        "SELECT pg_input_is_valid('507f1f77bcf86cd799439011', 'objectid')
            AND NOT pg_input_is_valid('507f1f77bcf86cd79943901', 'objectid')"
    ));
    let said: String = session.one(
        "SELECT concat_ws(' ', sql_error_code, message) FROM pg_input_error_info('%s', 'objectid')",
    );
    assert_eq!(said, "22P02 invalid input syntax for type objectid: \"%s\"");
}

/// A call takes no time to speak of, also when the clock is far behind.
#[test]
fn nothing_waits() {
    let Some(server) = Server::build_with_clock("no waits") else {
        return;
    };
    let server = server.start();
    let mut session = server.connect("postgres");
    session.run("SET statement_timeout = '5s'");
    session.run(&format!("SELECT {}", ASCENDING.join(", ")));
    server.set_clock("-86400");
    let begun = std::time::Instant::now();
    session.run(&format!("SELECT {}", ASCENDING.join(", ")));
    assert!(
        begun.elapsed() < Duration::from_secs(1),
        "{:?}",
        begun.elapsed()
    );
}
