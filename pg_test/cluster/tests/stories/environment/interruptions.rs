//! Administration of databases and files, and statements that are cut short: no value is repeated.

use mint_cluster::load::sessions::{Record, while_asking};
use mint_cluster::{Rng, Server, Session, assert_ascending, assert_unique, count};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// One draw of each kind that has state on disk.
const KINDS: [&str; 4] = [
    "snowflake_next_id(7)",
    "segment_next('tag')",
    "ticket_next('ticket')",
    "user_sequence_next('family', 7)",
];

const CREATE: &str =
    "CREATE EXTENSION pg_mint; SELECT segment_create('tag', 20); SELECT ticket_create('ticket');
    SELECT user_sequence_create('family', 2, 20)";

/// The values drawn of each kind, in order.
#[derive(Default)]
struct Drawn([Vec<i64>; KINDS.len()]);

impl Drawn {
    fn draw(&mut self, session: &mut Session) {
        for (kind, all) in KINDS.iter().zip(&mut self.0) {
            all.extend(
                session.column::<i64>(&format!("SELECT {kind} FROM generate_series(1, 50)")),
            );
        }
    }

    #[track_caller]
    fn check(&self) {
        self.0.iter().for_each(|all| assert_ascending(all));
    }
}

#[test]
fn a_renamed_and_moved_database_continues() {
    let server = Server::build_with_clock("renamed and moved");
    let server = server.start_empty();
    let mut postgres = server.connect("postgres");
    postgres.run("CREATE DATABASE shop");
    server.connect("shop").run(CREATE);
    let mut drawn = Drawn::default();
    drawn.draw(&mut server.connect("shop"));
    let quiet = |postgres: &mut Session| {
        let others = "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname LIKE 'shop%'";
        server.until("the database has no sessions", || postgres.one(others));
    };
    quiet(&mut postgres);
    postgres.run("ALTER DATABASE shop RENAME TO shop2");
    drawn.draw(&mut server.connect("shop2"));
    quiet(&mut postgres);
    postgres.run(&format!(
        "CREATE TABLESPACE elsewhere LOCATION '{}'",
        server.folder("elsewhere")
    ));
    postgres.run("ALTER DATABASE shop2 SET TABLESPACE elsewhere");
    drawn.draw(&mut server.connect("shop2"));
    server.crash_with_the_clock_back();
    drawn.draw(&mut server.connect("shop2"));
    drawn.check();
}

/// A copy by either strategy continues above the values of its original, and after a crash above its own.
#[test]
fn a_copy_by_either_strategy_continues() {
    let server = Server::build_with_clock("copied by strategy");
    let server = server.start_empty();
    let mut postgres = server.connect("postgres");
    postgres.run("CREATE DATABASE original");
    server.connect("original").run(CREATE);
    for strategy in ["file_copy", "wal_log"] {
        let mut drawn = Drawn::default();
        drawn.draw(&mut server.connect("original"));
        let others = "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = 'original'";
        server.until("the database has no sessions", || postgres.one(others));
        postgres.run(&format!(
            "CREATE DATABASE {strategy} TEMPLATE original STRATEGY {strategy}"
        ));
        drawn.draw(&mut server.connect(strategy));
        drop(postgres);
        server.crash_with_the_clock_back();
        drawn.draw(&mut server.connect(strategy));
        drawn.check();
        server.set_clock("+0");
        postgres = server.connect("postgres");
    }
}

/// The WAL of a stopped server has nothing that its files lack. The WAL of a crashed server has, and then only its clock
/// keeps it from repeating ids, as the documents say of restores: once it has passed the newest id.
#[test]
fn a_reset_of_the_wal_repeats_nothing() {
    let server = Server::build("pg_resetwal").start_empty();
    server.run(CREATE);
    let mut drawn = Drawn::default();
    drawn.draw(&mut server.connect("postgres"));
    server.stop_fast();
    server.reset_wal();
    server.start_again();
    drawn.draw(&mut server.connect("postgres"));
    drawn.check();
    server.stop_immediate();
    server.reset_wal();
    server.start_again();
    // After a restart, ids begin at the ceiling: up to half a second ahead of the clock.
    let newest = drawn.0[0].last().copied().unwrap_or_default();
    let passed = format!("SELECT snowflake_time({newest}) < clock_timestamp()");
    server.until("the clock passes the newest id", || server.one(&passed));
    let next = "SELECT snowflake_next_id(7) FROM generate_series(1, 50)";
    drawn.0[0].extend(server.until_minted(|| server.connect("postgres").try_column::<i64>(next)));
    assert_ascending(&drawn.0[0]);
}

#[test]
fn single_user_mode_continues_the_values_of_the_server() {
    let server = Server::build("single user").start_empty();
    server.run(CREATE);
    let mut drawn = Drawn::default();
    drawn.draw(&mut server.connect("postgres"));
    for _ in 0..2 {
        server.stop_fast();
        let script: String = KINDS
            .iter()
            .map(|kind| format!("SELECT {kind} AS drawn;\n\n"))
            .collect();
        let said = server.single_user("postgres", &script);
        let values = said
            .split("drawn = \"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap_or_default());
        let values: Vec<i64> = values.filter_map(|value| value.parse().ok()).collect();
        assert_eq!(values.len(), KINDS.len(), "{said}");
        for (all, value) in drawn.0.iter_mut().zip(values) {
            all.push(value);
        }
        server.start_again();
        drawn.draw(&mut server.connect("postgres"));
        server.crash();
        drawn.draw(&mut server.connect("postgres"));
    }
    drawn.check();
}

/// With wal_level = minimal, new sequences are not logged but synced at the end of the transaction. With every kind of
/// shared memory, a kill repeats nothing.
#[test]
fn minimal_wal_and_other_shared_memory_lose_nothing() {
    for kind in ["posix", "mmap", "sysv"].into_iter().take(count(3, 2)) {
        let server = Server::build("minimal WAL")
            .durable()
            .conf("wal_level = minimal")
            .conf("max_wal_senders = 0")
            .conf(&format!("dynamic_shared_memory_type = {kind}"))
            .start_empty();
        let mut session = server.connect("postgres");
        let mut drawn = Drawn::default();
        session.run("BEGIN");
        session.run(CREATE);
        drawn.draw(&mut session);
        session.run("ALTER SEQUENCE tag CACHE 30; ALTER SEQUENCE ticket CACHE 30");
        drawn.draw(&mut session);
        session.run("COMMIT");
        drawn.draw(&mut session);
        server.crash();
        drawn.draw(&mut server.connect("postgres"));
        server.kill9(server.connect("postgres").pid);
        drawn.draw(&mut server.connect("postgres"));
        drawn.check();
    }
}

/// After a crash too, sessions wait for a prepared transaction that drew for its commit.
#[test]
fn a_prepared_transaction_keeps_its_user_over_a_crash() {
    let server = Server::build("prepared")
        .durable()
        .conf("max_prepared_transactions = 5")
        .start();
    let mut session = server.connect("postgres");
    session.run("SELECT user_sequence_create('family'); CREATE TABLE message (n bigint)");
    let draw = |uid: u8| format!("SELECT user_sequence_next_for_commit('family', {uid})");
    session.run(&format!(
        "BEGIN; INSERT INTO message {}; SELECT segment_create('tag')",
        draw(7)
    ));
    let snowflake: i64 = session.one("SELECT snowflake_next_id(5)");
    session.run("PREPARE TRANSACTION 'kept'");
    for end in ["stop", "kill -9"] {
        if end == "stop" {
            server.crash();
        } else {
            server.kill9(server.connect("postgres").pid);
        }
        let mut session = server.connect("postgres");
        session.run("SET lock_timeout = '200ms'");
        session.refused(&draw(7), "55P03");
        session.run(&draw(8));
    }
    let mut session = server.connect("postgres");
    session.run("COMMIT PREPARED 'kept'");
    session.run("SET lock_timeout = '200ms'");
    let (before, after): (i64, i64) = (session.one("SELECT n FROM message"), session.one(&draw(7)));
    assert!(after > before, "{after} after {before}");
    assert!(session.one::<i64>("SELECT snowflake_next_id(5)") > snowflake);
    assert_eq!(session.one::<i64>("SELECT segment_next('tag')"), 1);
}

/// Statements end at any point, by a timeout, a cancel or a termination, while each of them has to write first. No value
/// is returned twice, and no lock, pin or slot is leaked.
#[test]
fn statements_cut_short_leave_nothing_behind() {
    let server = Server::build("cut short")
        .durable()
        .conf("pg_mint.ceiling_window = '100ms'")
        .conf("pg_mint.max_sections = 64")
        .conf("pg_mint.max_segments = 16")
        .start_empty();
    let mut session = server.connect("postgres");
    session.run("CREATE EXTENSION pg_mint; SELECT user_sequence_create('family', 200, 2)");
    session.run("SELECT segment_create('tag' || n, 2) FROM generate_series(1, 40) n");
    // Each kind of value has a space of its own, and each statement runs in two sessions.
    let statements: Vec<String> = [
        "SELECT snowflake_next_id(7) FROM generate_series(1, 400)",
        "SELECT snowflake_next_ids(8, 3000, 'sonyflake')",
        "SELECT segment_next('tag1') FROM generate_series(1, 40)",
        "SELECT user_sequence_next('family', 5) FROM generate_series(1, 20)",
    ]
    .into_iter()
    .flat_map(|sql| [sql.to_owned(), sql.to_owned()])
    .collect();
    let mut other = server.connect("postgres");
    other.run("ALTER ROLE postgres SET statement_timeout = '6ms'");
    drop(session);
    let stop = AtomicBool::new(false);
    let records = std::thread::scope(|scope| {
        for client in 0..2 {
            let (server, stop) = (&server, &stop);
            scope.spawn(move || evict_slots(server, client, stop));
        }
        let records = while_asking(&server.place(), &statements, || {
            cut_statements_short(&mut other, count(1_500, 600));
            other.run("ALTER ROLE postgres RESET statement_timeout");
        });
        stop.store(true, Ordering::Relaxed);
        records
    });
    check_records(records);
    assert_slots_are_free(&mut server.connect("postgres"));
}

/// Draws from more sequences, sections and nodes than there are slots for, until told to stop.
fn evict_slots(server: &Server, client: u64, stop: &AtomicBool) {
    let mut rng = Rng::seeded(client);
    while !stop.load(Ordering::Relaxed) {
        let Ok(mut session) = server.place().try_connect() else {
            continue;
        };
        for _ in 0..20 {
            let place = 1 + rng.below(40);
            let timeout = 1 + rng.below(9);
            let user = 1_000 + rng.below(100_000);
            for sql in [
                format!("SET statement_timeout = {timeout}"),
                format!("SELECT segment_next('tag{}')", place.max(2)),
                format!("SELECT user_sequence_next('family', {user})"),
                format!("SELECT snowflake_next_id({})", 100 + place),
            ] {
                let _ = session.try_run(&sql);
            }
        }
    }
}

/// Cancels or terminates one session after another.
fn cut_statements_short(session: &mut Session, rounds: usize) {
    let mut rng = Rng::seeded(7);
    for round in 0..rounds {
        sleep(Duration::from_millis(5));
        let way = ["pg_cancel_backend", "pg_terminate_backend"][usize::from(round % 5 == 0)];
        session.run(&format!(
            "SELECT {way}(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
             ORDER BY pid OFFSET {} LIMIT 1",
            rng.below(10)
        ));
    }
}

/// Asserts that statements were cut short and nothing else, and that each pair of sessions drew no value twice.
fn check_records(mut records: Vec<Record>) {
    let refusals = || records.iter().flat_map(|record| &record.refusals);
    let strange = refusals().find(|refusal| refusal.code != "57014");
    assert!(
        strange.is_none(),
        "{}",
        strange.map_or_else(String::new, ToString::to_string)
    );
    let cut = refusals().count();
    let whole: usize = records.iter().map(|record| record.ids.len()).sum();
    assert!(cut > 20 && whole > 1_000, "{cut} cut short, {whole} values");
    for pair in records.chunks_mut(2) {
        let lists: Vec<Vec<i64>> = pair
            .iter_mut()
            .map(|record| std::mem::take(&mut record.ids))
            .collect();
        if lists.iter().any(|list| !list.is_empty()) {
            assert_unique(&lists);
        }
    }
}

/// Asserts that each of more sections and sequences than there are slots for finds one, and that no lock is left.
fn assert_slots_are_free(session: &mut Session) {
    session.run("SET statement_timeout = '60s'");
    session.run("SELECT user_sequence_next('family', uid) FROM generate_series(1, 3000) uid");
    for place in 1..=40 {
        session.run(&format!("SELECT segment_next('tag{place}')"));
    }
    session.run("SELECT snowflake_next_id(7), snowflake_next_id(500)");
    let locks: i64 = session.one(
        "SELECT count(*) FROM pg_locks WHERE pid <> pg_backend_pid() AND locktype = 'advisory'",
    );
    assert_eq!(locks, 0);
}
