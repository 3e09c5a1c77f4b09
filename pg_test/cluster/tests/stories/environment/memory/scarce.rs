//! Dynamic shared memory that cannot grow, as in a container: families evict users, what generators need is reserved at the
//! first use, and `mint.health()` tells.

use mint_cluster::{MemoryKind, ScarceMemory, Server, Session, count, or_skip, short_form};

/// One call of everything that generates, in any database.
const ALL: &str = "SELECT snowflake_next_id(5), snowflake_next_id(6, 'twitter'), snowflake_next_id(1, 'unit:1s shard:8 seq:20 time:35 epoch:2020-01-01T00:00:00Z'),
    uuid_v1(), uuid_v2('org', 7), uuid_v4(), uuid_v6(), uuid_v7(), ulid(), typeid('a', uuid_v7()), objectid(), objectid_legacy(),
    segment_next('s'), ticket_next('t'), user_sequence_next('u', 1), user_sequence_next_for_commit('u', 2)";

const CREATE: &str = "SELECT segment_create('s'), ticket_create('t'), user_sequence_create('u');
     CREATE UNLOGGED TABLE drawn (round int, uid bigint, n bigint)";

fn start(story: &str, kind: MemoryKind, kilobytes: u32, conf: &str) -> Option<Server> {
    let limit = ScarceMemory::limit(story, kind, kilobytes)?;
    Some(Server::build(story).memory(limit).conf(conf).start())
}

/// Draws a number for each of so many users.
fn draw(session: &mut Session, round: usize, users: usize) {
    session.run(&format!(
        "INSERT INTO drawn SELECT {round}, g, user_sequence_next('u', g) FROM generate_series(1, {users}) g"
    ));
}

/// Asserts that the numbers of each user ascend from round to round, and how many there are.
#[track_caller]
fn assert_numbers(session: &mut Session, rounds: usize, users: usize) {
    // PostgreSQL's own need of memory might not be met.
    session.run("SET max_parallel_workers_per_gather = 0");
    let drawn: i64 = session.one("SELECT count(*) FROM drawn");
    assert_eq!(drawn, (rounds * users) as i64);
    let wrong: i64 = session.one(
        "SELECT count(*) FROM (SELECT n, lag(n) OVER (PARTITION BY uid ORDER BY round) AS before FROM drawn) d
         WHERE n <= before",
    );
    assert_eq!(wrong, 0, "numbers of a user that do not ascend");
}

/// Fills a file system of the server's namespace, or gives it back.
fn fill(session: &mut Session, place: &str) {
    session.run(&format!(
        "COPY (SELECT LIMIT 0) TO PROGRAM 'dd if=/dev/zero of={place}/ballast bs=4k 2>/dev/null || true'"
    ));
}

fn free(session: &mut Session, place: &str) {
    session.run(&format!(
        "COPY (SELECT LIMIT 0) TO PROGRAM 'rm {place}/ballast'"
    ));
}

const EVICTED: &str = "could not allocate shared memory for more users of user sequences";

/// A family gets more users than there is memory for: numbers are right, nothing fails, the log is told once, and
/// everything else works.
fn evicts(story: &str, kind: MemoryKind, kilobytes: u32, conf: &str) {
    let server = or_skip!(start(story, kind, kilobytes, conf));
    let users = count(1_500_000, 600_000);
    let mut session = server.connect("postgres");
    session.run(CREATE);
    draw(&mut session, 1, users);
    draw(&mut session, 2, users);
    let evictions: i64 = session.one("SELECT user_evictions FROM mint.stats");
    assert!(evictions > 0, "no user was evicted");
    let expected = "of the 65536 kB for users";
    session.assert_health(&format!("memory is warning: {expected}"));
    assert_eq!(server.log().matches(EVICTED).count(), 1, "{}", server.log());
    session.run(ALL);
    server.create_database("other");
    let mut other = server.connect("other");
    other.run(CREATE);
    other.run(ALL);
    draw(&mut other, 1, 10_000);
    // Errors that were caught left the session as it was.
    session.run("SET statement_timeout = '100ms'");
    let refusal = session
        .try_run("SELECT pg_sleep(20)")
        .expect_err("a timeout");
    assert_eq!(refusal.code, "57014", "{refusal}");
    // Where it is known how much there is, as much is left for parallel queries.
    if conf.is_empty() {
        session.run(
            "RESET statement_timeout; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
             SELECT count(*) FROM drawn",
        );
    }
    // Other processes, with new memory.
    server.kill9(other.pid);
    let mut session = server.connect("postgres");
    session.run(ALL);
    session.assert_health("memory is ok");
    // The crash has emptied the table.
    draw(&mut session, 3, users);
    session.assert_health(&format!("memory is warning: {expected}"));
    let lowest: i64 = session.one("SELECT min(n) FROM drawn WHERE round = 3");
    server.restart();
    let mut session = server.connect("postgres");
    draw(&mut session, 4, users);
    assert_numbers(&mut session, 2, users);
    assert!(lowest > 2, "numbers of before the crash");
    assert!(
        !server.log().contains("still referenced"),
        "{}",
        server.log()
    );
    assert!(!server.log().contains("Bus error"), "{}", server.log());
}

#[test]
fn a_family_evicts_in_8_mb_of_posix() {
    evicts("8 MB of posix", MemoryKind::Posix, 8_192, "");
}

/// With memory that the server reserves, how much there is cannot be known before an attempt.
#[test]
fn a_family_evicts_beside_reserved_memory() {
    let conf = "min_dynamic_shared_memory = 8MB\nmax_parallel_workers_per_gather = 0";
    evicts("8 MB are reserved", MemoryKind::Posix, 2_300, conf);
}

#[test]
fn a_family_evicts_in_8_mb_of_mmap() {
    evicts("8 MB of mmap", MemoryKind::Mmap, 8_192, "");
}

#[test]
fn a_family_evicts_in_8_mb_of_system_v() {
    let conf = "max_parallel_workers_per_gather = 0";
    evicts("8 MB of System V", MemoryKind::SystemV, 8_192, conf);
}

/// Docker's default: with all defaults, a million users have room, and the limit is what there is.
#[test]
fn the_defaults_work_in_64_mb() {
    let server = or_skip!(start("64 MB", MemoryKind::Posix, 65_536, ""));
    let mut session = server.connect("postgres");
    session.run(CREATE);
    draw(&mut session, 1, 1_000_000);
    draw(&mut session, 2, 1_000_000);
    assert_numbers(&mut session, 2, 1_000_000);
    session.assert_health("memory is ok");
    let evictions: i64 = session.one("SELECT user_evictions FROM mint.stats");
    assert_eq!(evictions, 0);
    session
        .run("SELECT count(user_sequence_next('u', g)) FROM generate_series(1000001, 4500000) g");
    session.assert_health("memory is warning: 32768 kB of the 65536 kB");
    session.run(ALL);
    draw(&mut session, 3, 1_000_000);
    assert_numbers(&mut session, 3, 1_000_000);
}

/// A file system without a limit does not say how much is free.
#[test]
fn memory_without_a_limit_is_used() {
    let server = or_skip!(start("no limit", MemoryKind::Posix, 0, ""));
    let mut session = server.connect("postgres");
    session.run(CREATE);
    session.run(ALL);
    draw(&mut session, 1, 600_000);
    session.assert_health("memory is ok");
    let evictions: i64 = session.one("SELECT user_evictions FROM mint.stats");
    assert_eq!(evictions, 0);
}

/// Once anything was generated, neighbors can take all of the memory that is left.
#[test]
fn neighbors_fill_the_memory() {
    let server = or_skip!(start("neighbors", MemoryKind::Posix, 65_536, ""));
    let mut session = server.connect("postgres");
    session.run(CREATE);
    session.run("SELECT uuid_v7()");
    let segments = "SELECT count(*) FROM pg_shmem_allocations WHERE name LIKE 'pg_mint %'";
    let reserved: i64 = session.one(segments);
    fill(&mut session, "/dev/shm");
    server.create_database("other");
    let mut other = server.connect("other");
    other.run(CREATE);
    for session in [&mut session, &mut other] {
        session.run(ALL);
        draw(session, 1, 300_000);
        draw(session, 2, 300_000);
        session.run(ALL);
        assert_numbers(session, 2, 300_000);
    }
    session.run("SELECT * FROM mint.stats; SELECT * FROM mint.lanes; SELECT * FROM mint.leases");
    session.assert_health("memory is warning: evicted");
    assert_eq!(session.one::<i64>(segments), reserved, "made later");
    let log = server.log();
    assert_eq!(log.matches(EVICTED).count(), 1, "{log}");
    free(&mut session, "/dev/shm");
    session.assert_health("memory is ok");
    if !short_form() {
        // The next try is a minute later.
        std::thread::sleep(std::time::Duration::from_secs(61));
        session.run("SELECT count(user_sequence_next('u', g)) FROM generate_series(1, 2000000) g");
        let grown = "SELECT substring(detail from '([0-9]+) kB')::int > 10000 FROM mint.health() WHERE check_name = 'memory'";
        assert!(session.one::<bool>(grown), "the table did not grow");
    }
}

/// A registry is configured while there is no memory left.
#[test]
fn a_lease_needs_no_memory_later() {
    let server = or_skip!(start("leases", MemoryKind::Posix, 65_536, ""));
    let mut session = server.connect("postgres");
    session.run("SELECT snowflake_next_id(5)");
    fill(&mut session, "/dev/shm");
    session.run("ALTER SYSTEM SET pg_mint.registry = 'none'");
    session.run("ALTER SYSTEM SET pg_mint.node = 'auto'");
    session.run("SELECT pg_reload_conf(), pg_sleep(0.5)");
    let mut session = server.connect("postgres");
    let refusal = session
        .try_run("SELECT snowflake_next_id()")
        .expect_err("no such registry");
    assert_eq!(refusal.code, "55000", "{refusal}");
}

/// Without memory for anything, the first call says so, and the next ones work once there is some.
#[test]
fn the_first_use_fails_with_a_hint_or_never() {
    let server = or_skip!(start("nothing is left", MemoryKind::Posix, 16_384, ""));
    let mut session = server.connect("postgres");
    session.run(CREATE);
    fill(&mut session, "/dev/shm");
    for call in [
        "uuid_v7()", "snowflake_next_id(5)", "user_sequence_next('u', 1)", "segment_next('s')",
    ] {
        let refusal = session
            .try_run(&format!("SELECT {call}"))
            .expect_err("no memory");
        assert_eq!(refusal.code, "53200", "{call}: {refusal}");
        refusal.assert_message("could not allocate shared memory");
        refusal.assert_hint("/dev/shm");
    }
    session.assert_health("memory is critical: and calls fail");
    session.run("SET statement_timeout = '100ms'");
    let refusal = session
        .try_run("SELECT pg_sleep(20)")
        .expect_err("a timeout");
    assert_eq!(refusal.code, "57014", "{refusal}");
    session.run("RESET statement_timeout");
    free(&mut session, "/dev/shm");
    session.run(ALL);
    session.assert_health("memory is ok");
}

/// Tables that follow a setting are smaller if there is no memory for them, and nothing fails.
#[test]
fn tables_are_smaller_in_2300_kb() {
    let server = or_skip!(start("2300 kB", MemoryKind::Posix, 2_300, ""));
    let mut session = server.connect("postgres");
    session.run(CREATE);
    session.run(ALL);
    session.assert_health("memory is warning: There was too little memory for all of");
    let lines = server.log().matches("is smaller than configured").count();
    assert_eq!(lines, 1, "{}", server.log());
    let users = count(400_000, 200_000);
    draw(&mut session, 1, users);
    draw(&mut session, 2, users);
    assert_numbers(&mut session, 2, users);
    let ids: Vec<i64> =
        session.column("SELECT snowflake_next_id(g % 8192) FROM generate_series(1, 20000) g");
    mint_cluster::assert_unique([&ids]);
    session.run(ALL);
    server.create_database("other");
    let mut other = server.connect("other");
    other.run(CREATE);
    other.run(ALL);
}
