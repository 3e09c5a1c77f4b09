//! Conversions of columns of type bigint: under load, without a lock, interrupted, dumped and restored.

use super::load::during;
use mint_cluster::{Server, Session, count, say};
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);

/// The schema as a dump says it.
fn schema(server: &Server, database: &str) -> String {
    let dump = server.dump_with("postgres", database, &["--schema-only"]);
    // Newer versions write a random word.
    let lines = dump.lines().filter(|line| !line.starts_with('\\'));
    lines.map(|line| format!("{line}\n")).collect()
}

/// A table is converted and reverted while programs insert with its default, call nextval() themselves, update and read it.
/// No statement waits for a second, and none fails but calls of nextval() while the sequence is at its end.
#[test]
fn conversions_under_load_disturb_nobody() {
    let server = Server::start("converted under load");
    let mut setup = server.connect("postgres");
    let rows = count(1_000_000, 100_000);
    setup.run(&format!(
        "CREATE TABLE plain (id bigserial PRIMARY KEY, n int);
         CREATE TABLE always (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n int);
         CREATE TABLE parted (id bigserial, n int, PRIMARY KEY (id, n)) PARTITION BY HASH (n);
         CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
         CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
         CREATE TABLE asked (id bigserial PRIMARY KEY, n int);
         INSERT INTO asked (n) SELECT g FROM generate_series(1, {rows}) g;
         INSERT INTO plain (n) SELECT g FROM generate_series(1, {rows}) g;
         INSERT INTO always (n) SELECT g FROM generate_series(1, {rows}) g;
         INSERT INTO parted (n) SELECT g FROM generate_series(1, {rows}) g"
    ));
    let tables = ["plain", "always", "parted", "asked"];
    let with_default = ["plain", "always", "parted"];
    let inserts =
        with_default.map(|table| format!("INSERT INTO {table} (n) VALUES (1) RETURNING id"));
    let updates = tables.map(|table| format!("UPDATE {table} SET n = n WHERE id = 7"));
    let reads = tables.map(|table| format!("SELECT max(id), min(id) FROM {table}"));
    let before = schema(&server, "postgres");
    let clients: Vec<Vec<&str>> = vec![
        inserts.iter().map(String::as_str).collect(),
        updates.iter().chain(&reads).map(String::as_str).collect(),
        // As some programs do, which ask for the id first.
        vec![
            "BEGIN",
            "SELECT nextval('asked_id_seq')",
            "INSERT INTO asked (id, n) VALUES (currval('asked_id_seq'), 2)",
            "COMMIT",
        ],
        vec!["BEGIN", &inserts[0], &inserts[1], &updates[2], "COMMIT"],
    ];
    let clients: Vec<&[&str]> = clients.iter().map(Vec::as_slice).collect();
    let rounds = count(20, 3);
    let (longest, seen) = during(&server, &clients, || {
        let mut session = server.connect("postgres");
        let mut longest = Duration::ZERO;
        for _ in 0..rounds {
            for table in tables {
                let begun = Instant::now();
                let way_back: String = session.one(&format!(
                    "SELECT mint.convert('{table}', 'id', 'snowflake_next_id(5)', '500 ms', 20)"
                ));
                assert!(way_back.contains("mint.convert_revert"), "{way_back}");
                std::thread::sleep(Duration::from_millis(50));
                let back: bool = session.one(&format!(
                    "SELECT mint.convert_revert('{table}', 'id', '500 ms', 20)"
                ));
                assert!(back);
                longest = longest.max(begun.elapsed());
            }
        }
        longest
    });
    say(format!(
        "{} statements, the longest {:?}; a conversion and its revert took at most {longest:?}",
        seen.statements, seen.longest
    ));
    seen.assert_undisturbed(SECOND, &["2200H"]);
    assert_eq!(schema(&server, "postgres"), before);
    for table in tables {
        let small: i64 = setup.one(&format!(
            "SELECT count(*) - (SELECT last_value FROM {table}_id_seq) FROM {table} WHERE id < 1000000000000"
        ));
        assert!(small <= 0, "{table}: {small} values were drawn twice");
    }
}

/// A session that uses the table for long is not stopped: the conversion gives up, and leaves everything as it was. One that is
/// let in between takes place.
#[test]
fn a_lock_that_is_not_obtained_changes_nothing() {
    let server = Server::start("no lock");
    let (mut session, mut other) = (server.connect("postgres"), server.connect("postgres"));
    session.run("CREATE TABLE t (id bigserial PRIMARY KEY); INSERT INTO t DEFAULT VALUES");
    let before = schema(&server, "postgres");
    let convert = "SELECT mint.convert('t', 'id', 'snowflake_next_id(5)', lock_timeout => '100 ms', retries => 2)";
    for hold in ["SELECT * FROM t", "SELECT nextval('t_id_seq')"] {
        other.run(&format!("BEGIN; {hold}"));
        let begun = Instant::now();
        let refusal = session.refusal(convert);
        assert_eq!(refusal.code, "55P03", "{refusal}");
        assert!(refusal.detail.contains("3 attempts"), "{refusal}");
        assert!(begun.elapsed() < 5 * SECOND, "{:?}", begun.elapsed());
        // Who has the sequence and inserts then meets no deadlock.
        other.run("INSERT INTO t VALUES (DEFAULT); COMMIT");
        assert_eq!(schema(&server, "postgres"), before, "{hold}");
    }
    // The transaction around it continues without it.
    other.run("BEGIN; SELECT * FROM t");
    session.run(
        "DO $$ BEGIN
             INSERT INTO t DEFAULT VALUES;
             CREATE TABLE made (n int);
             PERFORM mint.convert('t', 'id', 'snowflake_next_id(5)', '50 ms', 0);
         EXCEPTION WHEN lock_not_available THEN
             CREATE TABLE caught (n int);
         END $$",
    );
    other.run("COMMIT");
    session.run("SELECT * FROM caught; DROP TABLE caught");
    assert_eq!(session.refusal("SELECT * FROM made").code, "42P01");

    other.run("BEGIN; SELECT * FROM t");
    let converted = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let patient = "SELECT mint.convert('t', 'id', 'snowflake_next_id(5)', '100 ms', 50)";
            server.connect("postgres").one::<String>(patient)
        });
        std::thread::sleep(SECOND);
        other.run("COMMIT");
        waiting.join().expect("the conversion")
    });
    assert_eq!(converted, "SELECT mint.convert_revert('public.t', 'id')");
}

/// A conversion that is interrupted at any point has either happened or not.
#[test]
fn an_interrupted_conversion_has_happened_or_not() {
    let server = Server::start("interrupted conversions");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE t (id bigint GENERATED ALWAYS AS IDENTITY (CACHE 3) PRIMARY KEY);
         CREATE TABLE s (id bigserial PRIMARY KEY);
         INSERT INTO t SELECT FROM generate_series(1, 10); INSERT INTO s SELECT FROM generate_series(1, 10)");
    let before = schema(&server, "postgres");
    let state = "SELECT row((SELECT row(last_value, is_called) FROM s_id_seq), (SELECT row(last_value, is_called) FROM t_id_seq))::text";
    let values: String = session.one(state);
    let (mut stopped, mut done) = (0, 0);
    // Longer after each that was stopped, so that every point comes up, however slow the server is.
    const SHORTEST: u64 = 200;
    let mut micros = SHORTEST;
    for round in 0..count(400, 120) {
        let table = ["t", "s"][round % 2];
        let pid: i32 = session.one("SELECT pg_backend_pid()");
        let answer = std::thread::scope(|scope| {
            let running = scope.spawn(|| {
                session.try_one::<String>(&format!(
                    "SELECT mint.convert('{table}', 'id', 'snowflake_next_id(5)')"
                ))
            });
            let mut killer = server.connect("postgres");
            std::thread::sleep(Duration::from_micros(micros));
            let _: bool = killer.one(&format!("SELECT pg_cancel_backend({pid})"));
            running.join().expect("a conversion")
        });
        // The cancellation can come after the end.
        let _ = session.try_run("SELECT 1");
        match answer {
            Ok(_) => {
                done += 1;
                micros = SHORTEST;
                session.run(&format!("SELECT mint.convert_revert('{table}', 'id')"));
            }
            Err(refusal) => {
                stopped += 1;
                micros += micros / 8;
                assert_eq!(refusal.code, "57014", "{refusal}");
            }
        }
        assert_eq!(session.one::<String>(state), values, "round {round}");
    }
    assert_eq!(schema(&server, "postgres"), before);
    assert!(stopped > 0 && done > 0, "{stopped} stopped, {done} done");
    say(format!("{stopped} conversions stopped, {done} done"));
}

fn make_shop(session: &mut Session) {
    session.run(
        "CREATE TABLE customer (id bigserial PRIMARY KEY, name text);
         CREATE TABLE orders (id bigint GENERATED BY DEFAULT AS IDENTITY (START 7 INCREMENT 3 CYCLE) PRIMARY KEY,
             customer bigint REFERENCES customer);
         COMMENT ON SEQUENCE orders_id_seq IS 'the \"numbers\" of ''orders''';
         GRANT USAGE ON SEQUENCE orders_id_seq TO reader;
         CREATE TABLE event (id bigserial, at int, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
         CREATE TABLE event_1 PARTITION OF event FOR VALUES FROM (0) TO (10);
         CREATE TABLE event_2 (id bigint NOT NULL, at int NOT NULL);
         ALTER TABLE event ATTACH PARTITION event_2 FOR VALUES FROM (10) TO (20);
         INSERT INTO customer (name) VALUES ('a'), ('b'); INSERT INTO orders (customer) VALUES (1), (2);
         INSERT INTO event (at) VALUES (1), (11)",
    );
}

/// After a revert a dump is what it was, apart from the rows minted in between, and so is that of a database that was
/// restored from a dump in between, by an owner who is not a superuser.
#[test]
fn a_revert_gives_the_dump_of_before() {
    let server = Server::start("dumps of conversions");
    let mut setup = server.connect("postgres");
    setup.run("CREATE ROLE keeper LOGIN; CREATE ROLE reader");
    setup.run("CREATE DATABASE shop OWNER keeper");
    setup.run("CREATE DATABASE copy OWNER keeper");
    let keeper = |database: &str| server.connect_as("keeper", database);
    let mut session = keeper("shop");
    session.run("CREATE EXTENSION pg_mint");
    make_shop(&mut session);
    let before = server.dump("keeper", "shop");
    let tables = ["customer", "orders", "event"];
    for table in tables {
        session.run(&format!(
            "SELECT mint.convert('{table}', 'id', 'snowflake_next_id(5)')"
        ));
    }
    session.run("INSERT INTO customer (name) VALUES ('c'); INSERT INTO orders (customer) SELECT max(id) FROM customer;
        INSERT INTO event (at) VALUES (2), (12)");
    let records = "SELECT string_agg(row(c.*)::text, ' ') FROM mint.conversions c";
    let known: String = session.one(records);
    let during = server.dump("keeper", "shop");
    server.restore("keeper", "copy", &during);
    let mut copy = keeper("copy");
    assert_eq!(copy.one::<String>(records), known);
    for session in [&mut session, &mut copy] {
        for table in tables {
            let back: bool = session.one(&format!("SELECT mint.convert_revert('{table}', 'id')"));
            assert!(back, "{table}");
        }
        session.run(
            "DELETE FROM orders WHERE id > 1000000; DELETE FROM customer WHERE id > 1000000;
            DELETE FROM event WHERE id > 1000000",
        );
    }
    let plain = |dump: &str| -> Vec<String> {
        let lines = dump
            .lines()
            .filter(|line| !line.starts_with('\\') || *line == "\\.");
        lines.map(str::to_owned).collect()
    };
    // The ceiling of the extension, and the lines of its own, move on.
    let own = |line: &String| !line.contains("mint.time_ceiling");
    let of = |database: &str| -> Vec<String> {
        plain(&server.dump("keeper", database))
            .into_iter()
            .filter(own)
            .collect()
    };
    let before: Vec<String> = plain(&before).into_iter().filter(own).collect();
    assert_eq!(of("shop"), before);
    assert_eq!(of("copy"), before);
}

/// A standby converts nothing, and a conversion reaches it.
#[test]
fn a_standby_refuses() {
    let server = Server::start("converted primary");
    let mut session = server.connect("postgres");
    session.run("CREATE TABLE t (id bigserial PRIMARY KEY)");
    let standby = server.standby("converted standby");
    server.wait_for(&standby);
    let mut reader = standby.connect("postgres");
    for call in [
        "convert('t', 'id', 'snowflake_next_id(5)')",
        "convert_revert('t', 'id')",
    ] {
        let refusal = reader.refusal(&format!("SELECT mint.{call}"));
        assert_eq!(refusal.code, "25006", "{refusal}");
    }
    reader.run("SELECT * FROM mint.convert_plan('t', 'id', 'snowflake_next_id(5)')");
    session.run("SELECT mint.convert('t', 'id', 'snowflake_next_id(5)')");
    server.wait_for(&standby);
    let table: String = reader.one("SELECT table_name::text FROM mint.conversions");
    assert_eq!(table, "t");
}
