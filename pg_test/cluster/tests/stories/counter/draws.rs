//! Segments, tickets and user sequences on whole servers: load, crashes, failover, dumps and full tables.

use mint_cluster::load::sessions::{assert_sound, draw_at_once};
use mint_cluster::{Server, assert_unique, count};

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

/// A parallel worker is the first process to use them; environment/statements.rs draws by many of them.
#[test]
fn a_parallel_worker_draws_first() {
    let server = Server::start("parallel counters");
    let mut session = server.connect("postgres");
    session.run("SELECT user_sequence_create('other'); CREATE SEQUENCE fresh");
    session.force_parallel();
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
