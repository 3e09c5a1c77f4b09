//! pg_partman 4 and 5: 4 divides integers alone, by a distance of ids; 5 also UUIDs and texts by their time, with an encoder
//! and a decoder.

use crate::row::Neighbor;
use mint_cluster::server::installation;
use mint_cluster::{Server, Session, extension_folder};

/// The version of each: both are in one tree, where the control file is that of 4.
fn version(major: &str) -> Option<String> {
    let prefix = format!("pg_partman--{major}.");
    let mut found: Vec<String> = std::fs::read_dir(extension_folder())
        .ok()?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with(&prefix) && name.matches("--").count() == 1)
        .map(|name| name.replace("pg_partman--", "").replace(".sql", ""))
        .collect();
    found.sort();
    found
        .pop()
        .filter(|_| installation::has_extension("pg_partman"))
}

/// A server with pg_mint and pg_partman, each created first in one of two databases.
fn start(name: &str, version: &str) -> Server {
    let server = Server::build(name).start_empty();
    let partman = format!(
        "CREATE SCHEMA partman; CREATE EXTENSION pg_partman SCHEMA partman VERSION '{version}'"
    );
    server.run("CREATE DATABASE last");
    let create = ["CREATE EXTENSION pg_mint", &partman];
    for (database, order) in [("postgres", [0, 1]), ("last", [1, 0])] {
        let mut session = server.connect(database);
        for place in order {
            session.run(create[place]);
        }
    }
    server
}

fn partitions(session: &mut Session, table: &str) -> Vec<String> {
    session.column(&format!(
        "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = '{table}'::regclass AND inhrelid <> '{table}_default'::regclass ORDER BY 1"
    ))
}

/// A day of ids, made ahead, filled, and dropped when it is old; the rest of both versions is the same.
fn integers(server: &Server, database: &str, kind: &str) {
    let mut session = server.connect(database);
    session.run("SET timezone = 'UTC'; CREATE TABLE public.message (id bigint NOT NULL DEFAULT snowflake_next_id(5, 'twitter'), body text) PARTITION BY RANGE (id)");
    session.run(&format!(
        "SELECT partman.create_parent('public.message', 'id', p_type => '{kind}', p_interval => snowflake_span('1 day', 'twitter')::text,
             p_premake => 4, p_start_partition => snowflake_min(now() - interval '4 days', 'twitter')::text)"
    ));
    // Each day has its rows, and then maintenance.
    for day in (0..=4).rev() {
        session.run(&format!(
            "INSERT INTO message SELECT snowflake_encode(now() - {day} * interval '1 day', 5, n, 'twitter'), 'x' FROM generate_series(0, 99) AS n"
        ));
        session.run("SELECT partman.run_maintenance('public.message')");
    }
    session.run("INSERT INTO message (body) SELECT 'now' FROM generate_series(1, 1000)");
    assert_eq!(
        session.one::<i64>("SELECT count(*) FROM ONLY message_default"),
        0,
        "rows in no day"
    );
    let before = partitions(&mut session, "message");
    assert!(before.len() >= 9, "{before:?}");
    session.run("UPDATE partman.part_config SET retention = snowflake_span('2 days', 'twitter')::text, retention_keep_table = false WHERE parent_table = 'public.message'");
    session.run("SELECT partman.run_maintenance('public.message')");
    let after = partitions(&mut session, "message");
    assert!(
        !after.contains(&before[0]) && after.len() < before.len(),
        "{before:?}, {after:?}"
    );
    let kept: bool = session.one("SELECT min(snowflake_time(id, 'twitter')) > now() - interval '4 days' AND count(*) >= 1200 FROM message");
    assert!(kept, "rows of the last two days");
}

const CODERS: &str = include_str!("../../../../sql/compat/pg_partman.sql");

/// The layout of text ids, as the page has it.
const OF_TWITTER: &str =
    "CREATE FUNCTION twitter_encoder(at timestamptz) RETURNS text LANGUAGE sql IMMUTABLE STRICT
        RETURN public.snowflake_time_encoder(at, 'twitter');
    CREATE FUNCTION twitter_decoder(id text) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT
        RETURN public.snowflake_time_decoder(id, 'twitter')";

/// A table by time: its column, the id of a timestamp `at`, its encoder and decoder.
#[rustfmt::skip]
const BY_TIME: [(&str, &str, &str, &str); 4] = [
    ("by_uuid", "uuid NOT NULL DEFAULT uuid_v7()", "uuid_v7(at)", "public.uuid_v7_time"),
    ("by_ulid", "text NOT NULL DEFAULT ulid()", "uuid_to_ulid(uuid_v7(at))", "public.ulid_time"),
    (
        "by_text",
        "text NOT NULL DEFAULT snowflake_next_id(5)::text",
        "snowflake_encode(at, 5, 0)::text",
        "public.snowflake_time",
    ),
    (
        "by_twitter",
        "varchar NOT NULL DEFAULT snowflake_next_id(5, 'twitter')::varchar",
        "snowflake_encode(at, 5, 0, 'twitter')::varchar",
        "public.twitter",
    ),
];

/// Months and days of the calendar; rows go where their time belongs, maintenance makes what is missing, retention drops.
fn times(server: &Server, database: &str) {
    let mut session = server.connect(database);
    session.run("SET timezone = 'UTC'");
    session.run(CODERS);
    session.run(OF_TWITTER);
    for (table, column, id, functions) in BY_TIME {
        session.run(&format!(
            "CREATE TABLE public.{table} (id {column}, day date) PARTITION BY RANGE (id)"
        ));
        session.run(&format!(
            "SELECT partman.create_parent('public.{table}', 'id', '1 day', p_premake => 2, p_start_partition => (now() - interval '5 days')::text,
                 p_time_encoder => '{functions}_encoder', p_time_decoder => '{functions}_decoder')"
        ));
        let made = partitions(&mut session, table);
        assert_eq!(made.len(), 8, "{made:?}");
        // The first and the last millisecond of each day, in its own partition.
        session.run(&format!(
            "INSERT INTO {table} (id, day) SELECT {id}, day FROM generate_series(current_date - 5, current_date + 2, '1 day') AS of (day),
                 LATERAL (VALUES (day::timestamptz), (day + interval '1 day' - interval '1 ms')) AS edges (at)"
        ));
        let strays: i64 = session.one(&format!(
            "SELECT count(*) FROM {table} WHERE tableoid::regclass::text <> '{table}_p' || to_char(day, 'YYYYMMDD')"
        ));
        assert_eq!(strays, 0, "{table}: rows of another day");
        // The newest row is of the last day, so that maintenance makes two more.
        session.run(&format!("SELECT partman.run_maintenance('public.{table}')"));
        let more = partitions(&mut session, table);
        assert!(more.len() > made.len(), "{more:?}");
        session.run(&format!("UPDATE partman.part_config SET retention = '3 days', retention_keep_table = false WHERE parent_table = 'public.{table}'"));
        session.run(&format!("SELECT partman.run_maintenance('public.{table}')"));
        let kept = partitions(&mut session, table);
        let oldest: bool = session.one(&format!("SELECT '{}' = '{table}_p' || to_char(current_date - 4, 'YYYYMMDD') OR '{}' = '{table}_p' || to_char(current_date - 3, 'YYYYMMDD')", kept[0], kept[0]));
        assert!(oldest, "{kept:?}");
        session.run(&format!(
            "INSERT INTO {table} (day) SELECT current_date FROM generate_series(1, 100)"
        ));
        let now: i64 = session.one(&format!("SELECT count(*) FROM {table} WHERE tableoid::regclass::text = '{table}_p' || to_char(now(), 'YYYYMMDD')"));
        assert_eq!(now, 102, "{table}");
    }
    // It does not take a bigint by its time.
    session.run("CREATE TABLE public.by_bigint (id bigint NOT NULL) PARTITION BY RANGE (id)");
    let refusal = session.refusal(
        "SELECT partman.create_parent('public.by_bigint', 'id', '1 day', p_time_encoder => 'public.snowflake_time_encoder', p_time_decoder => 'public.snowflake_time_decoder')",
    );
    refusal.assert_message("can only be used with text/uuid");
}

/// Restores a dump of the partitions and of the configuration.
fn restore_dump(server: &Server, version: &str, tables: &[&str]) {
    server.run("CREATE DATABASE restored");
    // A dump names no version, and the tree has two.
    let create = "CREATE EXTENSION IF NOT EXISTS pg_partman WITH SCHEMA partman";
    let dump = server
        .dump("postgres", "postgres")
        .replace(create, &format!("{create} VERSION '{version}'"));
    server.restore("postgres", "restored", &dump);
    let (mut before, mut after) = (server.connect("postgres"), server.connect("restored"));
    for table in tables {
        let count = format!("SELECT count(*) FROM {table}");
        assert_eq!(
            after.one::<i64>(&count),
            before.one::<i64>(&count),
            "{table}"
        );
        after.run(&format!("SELECT partman.run_maintenance('public.{table}')"));
    }
}

/// A version, its kind of partitions, and whether it has those by time.
fn run(neighbor: &Neighbor, major: &str, kind: &str, has_times: bool) {
    let Some(version) = version(major) else {
        return neighbor.not_run("no package of this Debian, and no source");
    };
    let server = start(neighbor.name, &version);
    let mut tables = vec!["message"];
    for database in ["postgres", "last"] {
        integers(&server, database, kind);
        if has_times {
            times(&server, database);
        }
    }
    if has_times {
        tables.extend(BY_TIME.map(|(table, ..)| table));
    }
    restore_dump(&server, &version, &tables);
    neighbor.works(&version);
}

#[test]
fn version_4() {
    let neighbor = Neighbor {
        name: "pg_partman 4",
        what: "days of a bigint by `snowflake_span`: create_parent, run_maintenance, retention",
    };
    run(&neighbor, "4", "native", false);
}

#[test]
fn version_5() {
    let neighbor = Neighbor {
        name: "pg_partman 5",
        what: "days of a bigint by `snowflake_span`, of UUIDs, ULIDs and snowflakes as text by encoders: create_parent, run_maintenance, retention",
    };
    run(&neighbor, "5", "range", true);
}
