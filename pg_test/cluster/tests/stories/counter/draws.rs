//! Segments, tickets and user sequences on whole servers: load, crashes, failover, dumps and full tables.

use mint_cluster::load::sessions::{assert_sound, draw_at_once};
use mint_cluster::{Server, assert_ascending, assert_unique, count, say};

const NEXT: &str = "SELECT segment_next('tag')";

fn with_tag(name: &str, step: u32) -> Server {
    let server = Server::build(name).durable().start();
    let create = format!("SELECT segment_create('tag', {step})");
    server.run(&create);
    server
}

/// Sessions draw from one sequence in different ways.
#[test]
fn thirty_two_sessions_mix_segments_with_nextval_and_setval() {
    let server = with_tag("mixed", 50);
    let each = count(600, 60);
    let drawn = draw_at_once(&server, "postgres", 32, |session, number| {
        let mut ids = Vec::new();
        for round in 0..each {
            match (number + round) % 6 {
                0 => ids.push(session.one("SELECT nextval('tag')")),
                1 => ids.extend(session.column::<i64>(
                    "SELECT g FROM segment_next_range('tag', 30) r, generate_series(r.first, r.last, r.step) g",
                )),
                2 => ids.extend(session.column::<i64>(
                    "SELECT segment_next('tag') FROM generate_series(1, 120)",
                )),
                3 if number == 3 => {
                    // Upward, by more than others can draw in between. Two at once could set the sequence back.
                    session.run("SELECT setval('tag', nextval('tag') + 1000000000)");
                }
                _ => ids.push(session.one(NEXT)),
            }
        }
        ids
    });
    assert_unique(&drawn);
    let total: usize = drawn.iter().map(Vec::len).sum();
    say(format!("32 sessions: {total} values, each once"));
}

/// With one caller at a time, values ascend within each session: a later segment is above an earlier one.
#[test]
fn values_ascend_within_each_session() {
    let server = with_tag("ascending", 7);
    let each = count(5_000, 400);
    let drawn = draw_at_once(&server, "postgres", 8, |session, _| {
        (0..each).map(|_| session.one(NEXT)).collect()
    });
    assert_sound(&drawn);
}

/// Compares with rows `idgo`, `crash` and `seqsvr`, `steps` of the known ids.
#[test]
fn counters_restart_where_the_originals_do() {
    let server = Server::build("originals").durable().start();
    let mut session = server.connect("postgres");
    session.run(
        "CREATE SEQUENCE abc CACHE 2000; SELECT setval('abc', 100); SELECT user_sequence_create('seqsvr')",
    );
    let next = "SELECT user_sequence_next('seqsvr', 1)";
    assert_eq!(session.one::<i64>("SELECT segment_next('abc')"), 101);
    assert_eq!(session.one::<i64>(next), 1);
    server.crash();
    let mut session = server.connect("postgres");
    assert_eq!(session.one::<i64>("SELECT segment_next('abc')"), 2_101);
    assert_eq!(session.one::<i64>(next), 10_001);
    let current = "SELECT user_sequence_current('seqsvr', 1)";
    assert_eq!(session.one::<i64>(current), 10_001);
}

#[test]
fn a_standby_refuses_and_continues_above_when_promoted() {
    let primary = with_tag("counting primary", 10);
    let mut session = primary.connect("postgres");
    session.run("SELECT user_sequence_create('family'); SELECT ticket_create('photos', 2, 3)");
    let calls = [
        NEXT,
        "SELECT first FROM segment_next_range('tag', 3)",
        "SELECT ticket_next('photos')",
        "SELECT user_sequence_next('family', 1)",
        "SELECT user_sequence_next_for_commit('family', 1)",
    ];
    let standby = primary.standby("counting standby");
    let mut drawn: Vec<Vec<i64>> = calls.map(|_| Vec::new()).to_vec();
    for _ in 0..500 {
        for (call, drawn) in calls.iter().zip(&mut drawn) {
            drawn.push(session.one(call));
        }
    }
    primary.wait_for(&standby);
    let mut replica = standby.connect("postgres");
    for call in calls {
        replica.refused(call, "25006");
    }
    primary.stop_immediate();
    standby.promote();
    for _ in 0..100 {
        for (call, drawn) in calls.iter().zip(&mut drawn) {
            drawn.push(replica.one(call));
        }
    }
    // The two calls for a user draw the same numbers, and those for the tag the same values.
    assert_unique([&drawn[3], &drawn[4]]);
    for drawn in [0, 2, 3, 4].map(|call| &drawn[call]) {
        assert_ascending(drawn);
    }
    assert!(drawn[2].iter().all(|ticket| ticket % 3 == 2));
}

#[test]
fn parallel_workers_draw() {
    let server = Server::start("parallel counters");
    let mut session = server.connect("postgres");
    session.run("SELECT segment_create('tag', 100); SELECT user_sequence_create('family')");
    let rows = count(200_000, 50_000);
    session.run(&format!(
        "CREATE TABLE row AS SELECT g FROM generate_series(1, {rows}) g; ANALYZE row"
    ));
    session.run("SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0");
    for sql in [
        "SELECT segment_next('tag') FROM row",
        "SELECT user_sequence_next('family', 3) FROM row",
    ] {
        let plan = session.explain(sql);
        assert!(plan.contains("Workers Launched: 2"), "{plan}");
        let all: Vec<i64> = session.column(sql);
        assert_eq!(all.len(), rows);
        assert_unique([&all]);
    }
    session.run(
        "DO $$ BEGIN PERFORM set_config(name, 'on', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query'); END $$",
    );
    // A worker is the first process to use both.
    session.run("SELECT user_sequence_create('other'); CREATE SEQUENCE fresh");
    assert_eq!(session.one::<i64>("SELECT segment_next('fresh')"), 1);
    let first = "SELECT user_sequence_next('other', 1)";
    assert_eq!(session.one::<i64>(first), 1);
}

/// A restored dump repeats no value and keeps names, steps and privileges.
#[test]
fn a_dump_carries_counters() {
    let server = Server::start("dump of counters");
    let mut session = server.connect("postgres");
    session.run("CREATE ROLE drawer; SELECT segment_create('tag', 30); SELECT user_sequence_create('family', 3, 40)");
    session.run("SELECT ticket_create('photos', 2, 5); GRANT USAGE ON SEQUENCE tag TO drawer");
    session.run("CREATE TABLE item (id bigint DEFAULT segment_next('tag'))");
    let calls = [
        "SELECT segment_next('tag')",
        "SELECT ticket_next('photos')",
        "SELECT user_sequence_next('family', 9)",
    ];
    let most = calls.map(|call| (0..75).map(|_| session.one::<i64>(call)).max());
    session.run("CREATE DATABASE copy");
    server.restore("postgres", "copy", &server.dump("postgres", "postgres"));
    let mut copy = server.connect("copy");
    for (call, most) in calls.iter().zip(most) {
        let next: i64 = copy.one(call);
        assert!(Some(next) > most, "{call}: {next}");
    }
    assert_eq!(copy.one::<i64>("SELECT ticket_next('photos')") % 5, 2);
    let restored: String = copy.one(
        "SELECT format('%s %s %s', (SELECT seqcache FROM pg_sequence WHERE seqrelid = 'tag'::regclass),
            has_sequence_privilege('drawer', 'tag', 'USAGE'), (SELECT max(seqcache) FROM pg_sequence))",
    );
    assert_eq!(restored, "30 t 40");
    let id: i64 = copy.one("INSERT INTO item DEFAULT VALUES RETURNING id");
    assert_eq!(id, copy.one::<i64>(calls[0]) - 1);
}

/// More sections and users of two families than there is memory for evict each other, and repeat nothing.
#[test]
fn many_users_share_little_memory() {
    let server = Server::build("little memory")
        .conf("pg_mint.max_sections = 64")
        .conf("pg_mint.user_memory = '1MB'")
        .start();
    server.run("SELECT user_sequence_create('a', 50), user_sequence_create('b', 50)");
    let drawn = draw_at_once(&server, "postgres", 4, |session, number| {
        let family = ["a", "b"][number % 2];
        session.column::<i64>(&format!(
            "SELECT user_sequence_next('{family}', g % 90000) * 180000 + g % 90000 + {} FROM generate_series(1, {}) g",
            number % 2 * 90_000,
            count(400_000, 80_000)
        ))
    });
    assert_unique(&drawn);
}

/// Many more users than there is memory for, with ids from all of 64 bits: an evicted user skips numbers and repeats none.
#[test]
fn millions_of_users_in_bounded_memory() {
    let users = count(10_000_000, 300_000);
    let server = Server::build("millions of users")
        .conf(&format!("pg_mint.user_memory = '{}MB'", count(64, 2)))
        .start();
    let mut session = server.connect("postgres");
    session.run("SELECT user_sequence_create('family')");
    session.run(
        "CREATE UNLOGGED TABLE known AS SELECT uid, user_sequence_next('family', uid) AS number
            FROM generate_series(1, 20000) g, hashint8extended(g, 1) AS uid",
    );
    for pass in 1..=2_i64 {
        let least: i64 = session.one(&format!(
            "SELECT min(user_sequence_next('family', hashint8extended(g, 1))) FROM generate_series(1, {users}) g"
        ));
        assert!(least >= pass, "{least} in pass {pass}");
        let back: i64 = session.one(
            "SELECT count(*) FROM known WHERE user_sequence_next('family', uid) <= number + 1",
        );
        assert_eq!(back, 0, "users went back in pass {pass}");
    }
}
