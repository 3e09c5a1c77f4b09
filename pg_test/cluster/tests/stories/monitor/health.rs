//! `mint.health()`: each check notices what it is for.

use mint_cluster::{Server, Session};
use std::thread::sleep;
use std::time::Duration;

/// Returns the checks that are not ok.
fn failed_checks(session: &mut Session) -> Vec<String> {
    session.column("SELECT check_name || ': ' || detail FROM mint.health() WHERE status <> 'ok'")
}

#[test]
fn a_server_in_use_is_well() {
    let server = Server::build("well")
        .conf("pg_mint.max_segments = 4096")
        .start();
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE watcher LOGIN IN ROLE pg_monitor");
    // Before anything was used: nothing is made by asking.
    assert_eq!(failed_checks(&mut session), Vec::<String>::new());
    let checks: i64 = session.one("SELECT count(*) FROM mint.health()");
    assert_eq!(checks, 11);
    session.run(
        "SELECT snowflake_next_id(5), uuid_v7(), objectid(), segment_create('s'), ticket_create('t'), user_sequence_create('f');
         SELECT segment_next('s'), ticket_next('t'), user_sequence_next('f', 1)",
    );
    assert_eq!(failed_checks(&mut session), Vec::<String>::new());
    // A monitor's first call of a session, with all lanes, and thousands of sequences.
    session.run(
        "SELECT count(snowflake_next_id(g)) FROM generate_series(0, 8191) g;
         SELECT count(segment_create('s' || g)) FROM generate_series(1, 4096) g",
    );
    session.run("SELECT count(segment_next(('s' || g)::regclass)) FROM generate_series(1, 4096) g");
    assert!(
        session.one::<bool>("SELECT lanes >= 8191 AND segments > 4000 FROM mint.stats"),
        "{:?}",
        failed_checks(&mut session)
    );
    let mut watcher = server.connect_as("watcher", "postgres");
    watcher.run("SET default_transaction_read_only = on; SET statement_timeout = '1s'");
    watcher.run("SELECT * FROM mint.health()");
}

/// Another transaction has locked all that it can.
#[test]
fn it_waits_for_no_lock() {
    let server = Server::start("locked");
    let mut session = server.connect("postgres");
    session.run(
        "SELECT mint.registry_create(); SELECT snowflake_next_id(5);
         CREATE SEQUENCE s; SELECT segment_next('s'); SELECT user_sequence_create('f'); SELECT user_sequence_next('f', 1)",
    );
    session.run(
        "BEGIN; ALTER SEQUENCE mint.time_ceiling RENAME TO other; ALTER SEQUENCE s RENAME TO t;
         LOCK TABLE mint.registry, mint.registry_leases, f IN ACCESS EXCLUSIVE MODE;
         LOCK TABLE pg_publication, pg_subscription IN ACCESS EXCLUSIVE MODE",
    );
    let mut other = server.connect("postgres");
    other.run("SET statement_timeout = '2s'");
    other.assert_health("ceiling is ok: is locked by another transaction");
    other.assert_health("versions is ok: catalogs are locked");
    other.run("SELECT * FROM mint.stats");
    session.run("ROLLBACK");
    other.assert_health("ceiling is ok");
    other.assert_health("versions is ok: The library has version");
}

#[test]
fn a_clock_that_is_behind_is_noticed() {
    let server = Server::start_with_clock("clock behind");
    server.run("SELECT snowflake_next_id(5)");
    let mut session = server.connect("postgres");
    session.assert_health("clock is ok");
    server.set_clock("-5");
    session.assert_health("clock is warning: shard 5");
    server.set_clock("-60");
    session.assert_health("clock is critical: shard 5");
    session.assert_health("clock is critical: Correct the clock");
    server.stop_fast();
    server.start_again();
    // Nothing is in memory: the page says it.
    let mut session = server.connect("postgres");
    session.assert_health("clock is critical: the ceiling of this database");
    session.refusal("SELECT snowflake_next_id(5)");
    session.assert_health("clock is critical: the ceiling of database \"postgres\"");
    server.set_clock("+0");
    session.assert_health("clock is ok");
    // A lane that a ceiling has left far ahead needs no more shards.
    session.run("SELECT mint.reset_ceiling(now() + interval '1 second')");
    session.run("SELECT snowflake_next_id(5)");
    session.assert_health("clock is ok");
}

/// Calls fail until the jump is confirmed or corrected, and so long it is critical, also in a database that has issued nothing.
#[test]
fn a_clock_that_jumped_forward_is_noticed() {
    let server = Server::start_with_clock("clock forward");
    let mut session = server.connect("postgres");
    session.run("SELECT snowflake_next_id(5)");
    session.assert_health("clock is ok");
    server.set_clock("+1800");
    session.assert_health("clock is ok");
    session.run("SELECT snowflake_next_id(5)");
    server.set_clock("+3d");
    session.assert_health("clock is critical: jumped forward by 3 days");
    session.refused("SELECT snowflake_next_id(5)", "58000");
    session.assert_health("clock is critical: mint.accept_clock()");
    server.set_clock("+1800");
    session.assert_health("clock is ok");
    session.run("SELECT snowflake_next_id(5)");
    server.set_clock("+3d");
    session.run("SELECT mint.accept_clock(), snowflake_next_id(5)");
    session.assert_health("clock is ok");
}

/// The defaults tell that a node is needed.
#[test]
fn a_node_that_defaults_need_is_noticed() {
    const HERE: &str = "SELECT status = 'critical' FROM mint.health() WHERE check_name = 'node'";
    let server = Server::start("no node");
    let mut session = server.connect("postgres");
    session.run(
        "CREATE TABLE passed (id bigint DEFAULT snowflake_next_id(5), other bigint DEFAULT snowflake_next_id((random() * 5)::int),
             alone bigint DEFAULT snowflake_next('time:53 seq:10 unit:1ms epoch:2026-01-01T00:00:00Z'))",
    );
    session.run("INSERT INTO passed DEFAULT VALUES");
    session.assert_health("node is ok");
    for default in ["snowflake_next_id()", "snowflake_next('twitter')"] {
        session.run(&format!("CREATE TABLE item (id bigint DEFAULT {default})"));
        session.refused("INSERT INTO item DEFAULT VALUES", "55000");
        session.assert_health("node is critical: table public.item");
        session.assert_health("node is critical: pg_reload_conf()");
        session.run("SET pg_mint.node = 8192");
        session.assert_health(
            "node is critical: is out of range. The default of column \"id\" of table public.item",
        );
        session.run("SET pg_mint.node = 7");
        session.run("INSERT INTO item DEFAULT VALUES");
        session.assert_health("node is ok");
        session.run("RESET pg_mint.node; DROP TABLE item");
        session.assert_health("node is ok");
    }
    // Sessions of another role have one.
    session.run("CREATE TABLE item (id bigint DEFAULT snowflake_next_id()); CREATE ROLE app");
    assert!(session.one::<bool>(HERE));
    session.run("ALTER ROLE app SET pg_mint.node = 7");
    session.assert_health("node is warning: is not set");
    session.run("ALTER ROLE app RESET pg_mint.node");
    session.set_for_server("pg_mint.node", "7");
    server.until("a node", || session.health("node") == "ok");
}

#[test]
fn a_ceiling_that_was_set_back_is_noticed() {
    let server = Server::start("ceiling set back");
    let mut session = server.connect("postgres");
    session.run("SELECT snowflake_next_id(5)");
    session.assert_health("ceiling is ok");
    session.run("SELECT setval('mint.time_ceiling', 1000000)");
    session.assert_health("ceiling is critical: 1970-01-01T00:00:01Z");
    // The hint gives this remedy.
    sleep(Duration::from_millis(600));
    session.run("SELECT snowflake_next_id(5)");
    session.assert_health("ceiling is ok");
}

#[test]
fn lanes_near_capacity_and_layouts_that_end_are_noticed() {
    let server = Server::start("near capacity");
    let mut session = server.connect("postgres");
    session.assert_health("clock is ok");
    // 100 ms of Sonyflake hold 2,560 ids.
    session.run("SELECT count(snowflake_next_id(3, 'sonyflake')) FROM generate_series(1, 60000)");
    session.assert_health("clock is warning: shard 3");
    session.assert_health("clock is warning: Use more shards");
    session.assert_health("layouts is ok");
    // 2^25 and 2^21 seconds from now on: 388 days, of which some are past, and 24. Any role may generate such ids; what is of a
    // default is critical.
    for (bits, past) in [(25, "40 days"), (21, "1 day")] {
        let epoch: String = session.one(&format!(
            "SELECT to_char((now() - interval '{past}') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
        ));
        let layout = format!("time:{bits} shard:10 seq:12 unit:1s epoch:{epoch}");
        session.run(&format!("SELECT snowflake_next_id(1, '{layout}')"));
        session.assert_health(&format!("layouts is warning: time:{bits}"));
        if bits == 21 {
            session.run(&format!(
                "CREATE TABLE ending (id bigint DEFAULT snowflake_next_id(1, '{layout}'))"
            ));
            session.assert_health("layouts is critical: table public.ending");
        }
    }
}

#[test]
fn tables_that_are_nearly_full_are_noticed() {
    let server = Server::build("nearly full")
        .conf("pg_mint.max_lanes = 16\npg_mint.max_segments = 16\npg_mint.max_sections = 64")
        .start();
    let mut session = server.connect("postgres");
    session.run("SELECT snowflake_next_id(g) FROM generate_series(1, 12) g");
    session.assert_health("memory is ok");
    session.run("SELECT snowflake_next_id(13)");
    session.assert_health("memory is warning: 13 of 16 lanes");
    session.run("SELECT snowflake_next_id(g) FROM generate_series(1, 16) g");
    session.assert_health("memory is warning: 16 of 16 lanes");
    session.run("CREATE TABLE item (id bigint DEFAULT snowflake_next_id(16))");
    session.assert_health("memory is warning");
    session.run("CREATE TABLE late (id bigint DEFAULT snowflake_next_id(17))");
    session.assert_health("memory is warning: table public.late");
    session.run("SELECT segment_create('s' || g) FROM generate_series(1, 13) g; SELECT segment_next(('s' || g)::regclass) FROM generate_series(1, 13) g");
    session.assert_health("memory is warning: 13 of 16 segments");
    session.run("SELECT user_sequence_create('f', 64); SELECT count(user_sequence_next('f', g)) FROM generate_series(1, 10000) g");
    session.assert_health("memory is warning: 64 of 64 sections");
    let detail: String =
        session.one("SELECT detail FROM mint.health() WHERE check_name = 'memory'");
    for table in ["users", "ceilings", "leases"] {
        assert!(!detail.contains(table), "{detail}");
    }
}

#[test]
fn a_sequence_near_its_end_is_noticed() {
    let server = Server::start("near its end");
    let mut session = server.connect("postgres");
    session.run("CREATE SEQUENCE s MAXVALUE 40000; CREATE SEQUENCE again MAXVALUE 10 CYCLE");
    session.run("SELECT count(segment_next('again')) FROM generate_series(1, 25)");
    session.run("SELECT count(segment_next('s')) FROM generate_series(1, 20000)");
    session.assert_health("sequences is ok");
    session.run("SELECT count(segment_next('s')) FROM generate_series(1, 16800)");
    session.assert_health("sequences is warning: Sequence \"s\"");
    session.run("SELECT count(segment_next('s')) FROM generate_series(1, 3200)");
    session.assert_health("sequences is critical: Sequence \"s\"");
    // The hint gives this remedy.
    session.run("ALTER SEQUENCE s MAXVALUE 1000000; SELECT segment_next('s')");
    session.assert_health("sequences is ok");
    session.run("CREATE SEQUENCE t MAXVALUE 40000");
    session.run("SELECT count(segment_next('t')) FROM generate_series(1, 40000)");
    session.assert_health("sequences is critical: Sequence \"t\"");
    server.restart();
    let mut session = server.connect("postgres");
    assert_eq!(session.refusal("SELECT segment_next('t')").code, "2200H");
    session.assert_health("sequences is critical: Sequence \"t\"");
    session.run("DROP SEQUENCE t");
    session.assert_health("sequences is ok");
}

#[test]
fn settings_that_wait_for_a_restart_are_noticed() {
    let server = Server::start("waiting settings");
    let mut session = server.connect("postgres");
    session.run("SELECT snowflake_next_id(5)");
    session.assert_health("settings is ok");
    session.set_for_server("pg_mint.max_lanes", "64");
    session.assert_health("settings is warning: \"pg_mint.max_lanes\"");
    server.restart();
    let mut session = server.connect("postgres");
    session.run("SELECT snowflake_next_id(5)");
    session.assert_health("settings is ok");
}

#[test]
fn versions_that_differ_are_noticed() {
    let server = Server::start("versions");
    let mut session = server.connect("postgres");
    session.assert_health("versions is ok");
    session.run("UPDATE pg_extension SET extversion = '0.0.9' WHERE extname = 'pg_mint'");
    session.assert_health("versions is warning: 0.0.9");
    session.run("UPDATE pg_extension SET extversion = mint.version() WHERE extname = 'pg_mint'");
    // A library with another form of the ceilings, of ObjectIDs or of the lanes, beside memory of this one.
    session.run("SELECT snowflake_next_id(5), objectid()");
    for segment in *b"col" {
        let mut stamp = *b"mint\x9d\xc5\xfe ";
        stamp[7] = segment;
        server.install_library(|library| {
            let places: Vec<usize> = (0..library.len() - 12)
                .filter(|&at| library[at..at + 8] == stamp)
                .collect();
            assert_eq!(places.len(), 1);
            library[places[0] + 8] += 1;
        });
        let mut newer = server.connect("postgres");
        newer.assert_health("versions is critical: another version of the library");
        let refusal = newer.refusal("SELECT snowflake_next_id(5), objectid()");
        assert_eq!(refusal.code, "55000");
    }
}
