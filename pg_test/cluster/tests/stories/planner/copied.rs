//! COPY into tables whose ids are the default of a column.

use mint_cluster::{Server, Session, assert_unique, count};

/// Types with the defaults of each generator of one id a call.
const GENERATORS: [(&str, &str); 16] = [
    ("bigint", "snowflake_next_id()"),
    ("bigint", "snowflake_next_id(5)"),
    ("bigint", "snowflake_next_id(5, 'twitter')"),
    ("bigint", "snowflake_next('twitter')"),
    ("bigint", "snowflake_next_in(5, 4, 3)"),
    ("uuid", "uuid_v7()"),
    ("uuid", "uuid_v7_in(4, 3)"),
    ("uuid", "uuid_v6()"),
    ("uuid", "uuid_v4()"),
    ("uuid", "uuid_v1()"),
    ("text", "ulid()"),
    ("objectid", "objectid()"),
    ("objectid", "objectid_legacy()"),
    ("bigint", "segment_next('counted')"),
    ("bigint", "ticket_next('ticketed')"),
    ("text", "nano_id()"),
];

/// Starts a server with a file of numbers to copy.
fn server(name: &str, rows: u32) -> (Server, Session) {
    let server = Server::build(name).conf("pg_mint.node = 7").start();
    let mut session = server.connect("postgres");
    session.run("CREATE EXTENSION pg_walinspect");
    let to = file(&mut session);
    session.run(&format!(
        "COPY (SELECT generate_series(1, {rows})) TO '{to}'"
    ));
    (server, session)
}

fn file(session: &mut Session) -> String {
    session.one("SELECT current_setting('data_directory') || '/numbers'")
}

/// Copies the file into a new table with a default. Returns how many records of WAL each have one row, and several.
fn load(session: &mut Session, column: &str, default: &str) -> (i64, i64) {
    session.run("DROP TABLE IF EXISTS item");
    session.run(&format!(
        "CREATE TABLE item (id {column} PRIMARY KEY DEFAULT {default}, n int)"
    ));
    let start: String = session.one("SELECT pg_current_wal_insert_lsn()::text");
    let from = file(session);
    session.run(&format!("COPY item (n) FROM '{from}'"));
    let mut records = |kind| {
        session.one(&format!(
            "SELECT count(*) FROM pg_get_wal_records_info('{start}', pg_current_wal_flush_lsn())
             WHERE resource_manager LIKE 'Heap%' AND record_type ~ '^{kind}'"
        ))
    };
    (records("INSERT"), records("MULTI_INSERT"))
}

#[test]
fn copy_writes_generated_ids_in_batches() {
    let rows = 3_000;
    let (_server, mut session) = server("copied", rows);
    session.run("SELECT segment_create('counted'), ticket_create('ticketed')");
    let all: i64 = session
        .one("SELECT count(*) FROM pg_proc WHERE prosupport = 'mint.generator_support'::regproc AND proname <> 'generated'");
    assert_eq!(all, GENERATORS.len() as i64, "a generator is not tried");
    let nested = [
        ("bigint", "snowflake_scatter(snowflake_next_id(5))"),
        ("text", "typeid('user', uuid_v7())"),
        ("numeric", "snowflake_next_id(5)"),
        ("bigint", "snowflake_next_in(snowflake_own_shard(), 4, 3)"),
    ];
    for (column, default) in GENERATORS.into_iter().chain(nested) {
        let (single, batches) = load(&mut session, column, default);
        assert!(
            batches > 1 && single < 100,
            "{default}: {single} records of one row, {batches} of several"
        );
        let distinct: i64 = session.one("SELECT count(DISTINCT id::text) FROM item");
        assert_eq!(distinct, i64::from(rows), "{default}");
    }
    // The same figures of a default that COPY does not know, and where the server counts the generator's calls.
    let one_by_one = (i64::from(rows), 0);
    assert_eq!(load(&mut session, "uuid", "uuid_v7(now())"), one_by_one);
    session.run("SET track_functions = 'all'");
    assert_eq!(load(&mut session, "uuid", "uuid_v7()"), one_by_one);
}

/// Only COPY takes a generator for a function that is not volatile: other statements would evaluate it once for all rows.
#[test]
fn a_generator_is_volatile_outside_of_copy() {
    let rows = 1_000;
    let (server, mut session) = server("volatile", rows);
    let from = file(&mut session);
    session.run(
        "CREATE TABLE other (n int); INSERT INTO other SELECT generate_series(1, 1000);
         CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), n int);
         CREATE FUNCTION add_ids() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             EXECUTE 'ALTER TABLE other ADD COLUMN id_' || NEW.n || ' bigint DEFAULT snowflake_next_id(5)';
             RETURN NEW;
         END $$;
         CREATE TRIGGER add_ids AFTER INSERT ON item FOR EACH ROW WHEN (NEW.n <= 3) EXECUTE FUNCTION add_ids();",
    );
    // A new session, which loads the library in COPY.
    drop(session);
    let mut session = server.connect("postgres");
    session.run(&format!("COPY item (n) FROM '{from}'"));
    session.run("ALTER TABLE other ADD COLUMN id_4 bigint DEFAULT snowflake_next_id(5)");
    let ids: Vec<i64> = session.column(
        "SELECT id FROM item UNION ALL SELECT unnest(ARRAY[id_1, id_2, id_3, id_4]) FROM other",
    );
    assert_eq!(ids.len(), 5_000);
    assert_unique([&ids]);
    // A function in SQL is inlined if its argument is cheap and not volatile, and would then call the generator twice. The cost
    // of the second argument is not a number.
    session.run(
        "CREATE FUNCTION dear(int, int) RETURNS bool STABLE COST 1e39 LANGUAGE plpgsql AS 'BEGIN RETURN $1 = $2; END';
         CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = dear);
         CREATE FUNCTION twice(id text) RETURNS text IMMUTABLE LANGUAGE sql RETURN id || ' ' || id;
         SET jit = off",
    );
    let defaults = [
        "twice(snowflake_next_id(5)::text)",
        "twice(uuid_v7()::text || (1 === ANY('{}'::int[])))",
    ];
    for cost in ["0", "0.0025", "1e10", "1e308"] {
        session.run(&format!("SET cpu_operator_cost = '{cost}'"));
        for default in defaults {
            load(&mut session, "text", default);
            let equal: i64 = session.one(
                "SELECT count(*) FROM item WHERE split_part(id, ' ', 1) = split_part(id, ' ', 2)",
            );
            assert_eq!(equal, i64::from(rows), "{default}, {cost}");
        }
    }
}

/// The server also plans expressions of indexes, partitions and domains in the memory of COPY, and keeps them for the session.
#[test]
fn what_the_server_keeps_of_a_copy_has_the_rights_of_its_caller() {
    let (server, mut session) = server("kept", 10);
    let from = file(&mut session);
    session.run(
        "CREATE ROLE mallory; GRANT CREATE ON SCHEMA public TO mallory; SET ROLE mallory;
         CREATE FUNCTION lie(int) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT $1::text';
         CREATE TABLE indexed (n int); CREATE INDEX ON indexed (length(lie(n)));
         CREATE TABLE partial (n int); CREATE INDEX ON partial (n) WHERE n > 5 OR length(lie(n)) = 26;
         CREATE TABLE parted (n int) PARTITION BY HASH (length(lie(n)));
         CREATE TABLE part PARTITION OF parted FOR VALUES WITH (MODULUS 1, REMAINDER 0);
         CREATE OR REPLACE FUNCTION lie(int) RETURNS text LANGUAGE sql AS 'SELECT ulid()';
         CREATE DOMAIN later AS bigint CHECK (VALUE < snowflake_next_id(5));
         CREATE TABLE checked (id later DEFAULT 1, n int);
         RESET ROLE",
    );
    drop(session);
    for revoked in [false, true] {
        let mut session = server.connect("postgres");
        if revoked {
            session.run("REVOKE EXECUTE ON FUNCTION ulid(), snowflake_next_id(int) FROM PUBLIC");
        }
        let tables = ["indexed", "partial", "parted", "checked"];
        for table in tables {
            session.run(&format!("COPY (SELECT n FROM {table}) TO '/dev/null'"));
        }
        for table in tables {
            session.run(&format!("COPY {table} (n) FROM '{from}'"));
            // Memory of other nodes in the place of those of COPY.
            session.run(&format!(
                "COPY (SELECT CASE WHEN n < 0 THEN ARRAY[{}] END FROM {table}) TO '/dev/null'",
                vec!["upper('a')"; 300].join(", ")
            ));
            // An expression that is kept is shown as it was written.
            assert!(session.one::<bool>(
                "SELECT pg_get_partition_constraintdef('part'::regclass) LIKE '%ulid()%'"
            ));
            session.run("SET enable_seqscan = off; SET enable_indexscan = off; SET enable_indexonlyscan = off");
            session.column::<String>("EXPLAIN SELECT n FROM partial WHERE n = 1 AND n > 7");
            session.run("SET ROLE mallory");
            let insert = format!("INSERT INTO {table} (n) SELECT generate_series(1, 3)");
            match session.try_run(&insert) {
                Ok(_) => assert!(!revoked, "{table}"),
                Err(refusal) => assert!(revoked && refusal.code == "42501", "{table}: {refusal}"),
            }
            session.run("RESET ROLE");
        }
    }
}

/// An administrator can take the right to execute new functions from all roles; generators are then granted one by one.
#[test]
fn copy_needs_no_right_that_insert_does_not_need() {
    let server = Server::build("hardened").start_empty();
    let mut session = server.connect("postgres");
    session.run(
        "ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC; CREATE EXTENSION pg_mint;
         CREATE ROLE loader; GRANT pg_read_server_files TO loader;
         CREATE TABLE item (id bigint DEFAULT snowflake_next_id(5), n int); GRANT ALL ON item TO loader;
         GRANT EXECUTE ON FUNCTION snowflake_next_id(int) TO loader;
         REVOKE EXECUTE ON FUNCTION mint.generated(internal) FROM PUBLIC",
    );
    let from = file(&mut session);
    session.run(&format!(
        "COPY (SELECT generate_series(1, 10)) TO '{from}'; SET ROLE loader"
    ));
    session.run(&format!("COPY item (n) FROM '{from}'"));
    assert_eq!(session.one::<i64>("SELECT count(*) FROM item"), 10);
}

/// The role needs the right to execute the generator, as elsewhere.
#[test]
fn copy_needs_the_right_to_execute_the_generator() {
    let (server, mut session) = server("copied rights", 10);
    let from = file(&mut session);
    session.run(
        "CREATE ROLE loader LOGIN; GRANT pg_read_server_files TO loader;
         CREATE TABLE item (id bigint DEFAULT snowflake_next_id(5), n int); GRANT ALL ON item TO loader;
         REVOKE EXECUTE ON FUNCTION snowflake_next_id(int) FROM PUBLIC",
    );
    let mut loader = server.connect_as("loader", "postgres");
    let copy = format!("COPY item (n) FROM '{from}'");
    let refusal = loader.refused(&copy, "42501");
    let words = "permission denied for function snowflake_next_id";
    assert_eq!(refusal.message, words);
    session.run("GRANT EXECUTE ON FUNCTION snowflake_next_id(int) TO loader");
    loader.run(&copy);
    // An error in a generator ends the statement, and the session continues.
    session.run("ALTER TABLE item ALTER id SET DEFAULT snowflake_next_id(8192)");
    loader.refused(&copy, "22003");
    session.run("ALTER TABLE item ALTER id SET DEFAULT snowflake_next_id(NULL)");
    loader.refused(&copy, "22004");
    assert_eq!(loader.one::<i64>("SELECT count(*) FROM item"), 10);
}

#[test]
fn sessions_that_copy_and_insert_at_the_same_time_share_a_shard() {
    let rows = count(200_000, 20_000);
    let (server, mut session) = server("copying", rows);
    let from = file(&mut session);
    session.run("CREATE TABLE item (id bigint DEFAULT snowflake_next_id(5, 'twitter'), n int)");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (server, from) = (&server, &from);
            scope.spawn(move || {
                let mut session = server.connect("postgres");
                session.run(&match writer % 2 {
                    0 => format!("COPY item (n) FROM '{from}'"),
                    _ => format!("INSERT INTO item (n) SELECT generate_series(1, {rows})"),
                });
            });
        }
    });
    let ids: Vec<i64> = session.column("SELECT id FROM item");
    assert_eq!(ids.len(), 4 * rows as usize);
    assert_unique([&ids]);
}
