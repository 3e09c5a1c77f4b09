//! Hypertables by ids: chunks of a day, which conditions on the time of the id exclude.

use crate::orders::Extension;
use mint_cluster::server::installation;
use mint_cluster::{Server, Session};

/// A hypertable of eleven days or so with a row for each hour, a condition on its time, and the same rows by hand.
struct Hypertable {
    name: &'static str,
    column: &'static str,
    chunks: &'static str,
    /// The id of a timestamp.
    id: &'static str,
    /// Its time, where `id` is the column.
    time: &'static str,
    /// The end of the chunks that `drop_chunks` drops.
    older_than: &'static str,
}

const TABLES: [Hypertable; 3] = [
    Hypertable {
        name: "by_snowflake",
        column: "id bigint NOT NULL DEFAULT snowflake_next_id(5, 'twitter')",
        chunks: "by_range('id', snowflake_span('1 day', 'twitter'))",
        id: "snowflake_encode(at, 5, 0, 'twitter')",
        time: "snowflake_time(id, 'twitter')",
        older_than: "snowflake_min(now() - interval '5 days', 'twitter')",
    },
    Hypertable {
        name: "by_uuid",
        column: "id uuid NOT NULL DEFAULT uuid_v7()",
        chunks: "by_range('id', interval '1 day')",
        id: "uuid_v7(at)",
        time: "uuid_v7_time(id)",
        older_than: "interval '5 days'",
    },
    // A table by a time, with the id as a second column.
    Hypertable {
        name: "by_time",
        column: "id timestamptz NOT NULL, item bigint DEFAULT snowflake_next_id(5)",
        chunks: "by_range('id', interval '1 day')",
        id: "at",
        time: "id",
        older_than: "interval '5 days'",
    },
];

/// A row for each hour of ten days, in the middle of it, so that a row of the edge of a query is never due meanwhile.
const HOURS: usize = 240;

impl Hypertable {
    fn create(&self, session: &mut Session) {
        let Self {
            name,
            column,
            chunks,
            id,
            ..
        } = self;
        session.run(&format!(
            "CREATE TABLE {name} ({column}, n bigint, PRIMARY KEY (id)); SELECT create_hypertable('{name}', {chunks});
             INSERT INTO {name} (id, n) SELECT {id}, n
                 FROM (SELECT n, now() - n * interval '1 hour' - interval '30 minutes' AS at FROM generate_series(0, {HOURS} - 1) AS n) AS s;
             ANALYZE {name}"
        ));
    }

    fn chunks(&self, session: &mut Session) -> i64 {
        session.one(&format!(
            "SELECT count(*) FROM show_chunks('{}')",
            self.name
        ))
    }

    /// Asserts that the plan has only the chunks of the last day, of eleven or so, for a constant and for now().
    fn exclude(&self, session: &mut Session) {
        let Self { name, time, .. } = self;
        let chunks = self.chunks(session);
        assert!((10..=13).contains(&chunks), "{name}: {chunks} chunks");
        let constant: String = session.one("SELECT (now() - interval '1 day')::text");
        let constant = format!("SELECT n FROM {name} WHERE {time} > timestamptz '{constant}'");
        let startup = format!("SELECT n FROM {name} WHERE {time} > now() - interval '1 day'");
        for query in [&constant, &startup] {
            let found: Vec<i64> = session.column(&format!("{query} ORDER BY n"));
            let expected: Vec<i64> = (0..24).collect();
            assert_eq!(found, expected, "{query}");
        }

        // Chunks are scanned by their names; their indexes have others.
        let scanned = |plan: &str| plan.matches(" on _hyper_").count();
        let mut plan = |query: &str| {
            session
                .column::<String>(&format!("EXPLAIN (COSTS OFF) {query}"))
                .join("\n")
        };
        let at_plan = plan(&constant);
        assert!(
            !at_plan.contains("startup") && (1..=3).contains(&scanned(&at_plan)),
            "of {chunks} chunks:\n{at_plan}"
        );
        let at_startup = plan(&startup);
        assert!(
            at_startup.contains("Chunks excluded during startup: ")
                && (1..=3).contains(&scanned(&at_startup)),
            "of {chunks} chunks:\n{at_startup}"
        );
    }

    fn drop_old(&self, session: &mut Session) {
        let Self {
            name,
            older_than,
            time,
            ..
        } = self;
        let before = self.chunks(session);
        let dropped: Vec<String> = session.column(&format!(
            "SELECT drop_chunks('{name}', older_than => {older_than})::text"
        ));
        assert!((4..=6).contains(&dropped.len()), "{dropped:?}");
        assert_eq!(self.chunks(session), before - dropped.len() as i64);
        let kept: (i64, bool) = (
            session.one(&format!(
                "SELECT count(*) FROM {name} WHERE {time} > now() - interval '5 days'"
            )),
            session.one(&format!(
                "SELECT min({time}) > now() - interval '6 days 1 hour' FROM {name}"
            )),
        );
        assert_eq!(kept, (120, true), "{name}");
    }
}

fn work(_: &Server, session: &mut Session) {
    session.run("SET timezone = 'UTC'");
    for table in &TABLES {
        table.create(session);
        table.exclude(session);
    }
    // The policies of TimescaleDB take this function for now() in a table by integers.
    session.run(
        "CREATE FUNCTION now_as_id() RETURNS bigint LANGUAGE sql STABLE RETURN snowflake_min(now(), 'twitter');
         SELECT set_integer_now_func('by_snowflake', 'now_as_id')",
    );
    let function: String = session.one("SELECT integer_now_func::text FROM timescaledb_information.dimensions WHERE hypertable_name = 'by_snowflake'");
    assert_eq!(function, "now_as_id");
    for table in &TABLES {
        table.drop_old(session);
        session.run(
            &format!(
                "INSERT INTO {} (n) SELECT -1 FROM generate_series(1, 100) AS one (row)",
                table.name
            )
            .replace(
                "by_time (n) SELECT -1",
                // Two rows can be of one microsecond.
                "by_time (id, n) SELECT now() - one.row * interval '1 us', -1",
            ),
        );
    }
    let setting = session.one::<i64>("SELECT count(*) FROM by_snowflake WHERE snowflake_time(id, 'twitter') > now() - interval '1 minute'");
    assert_eq!(setting, 100);
    // With the bounds off, the same rows from all chunks.
    let all = "SELECT sum(n)::bigint FROM by_snowflake WHERE snowflake_time(id, 'twitter') > now() - interval '1 day'";
    let with: i64 = session.one(all);
    session.run("SET pg_mint.time_predicates = off");
    assert_eq!(session.one::<i64>(all), with);
    let plan = session
        .column::<String>(&format!("EXPLAIN (COSTS OFF) {all}"))
        .join("\n");
    assert!(plan.contains("Chunks excluded during startup: 0"), "{plan}");
}

#[test]
fn hypertables() {
    let what = "hypertables by snowflake, UUID and time: exclusion of chunks at plan time and at startup, `drop_chunks`";
    Extension::new("TimescaleDB", what, "timescaledb")
        .preloaded("timescaledb.telemetry_level = off")
        .run(work);
}

/// Chunks are as long as the interval says: ids of neighboring days are in neighboring chunks.
#[test]
fn chunks_are_of_the_span() {
    if !installation::has_extension("timescaledb") {
        mint_cluster::say("SKIPPED timescaledb: not in this tree");
        return;
    }
    let server = Server::build("chunks")
        .conf("shared_preload_libraries = 'timescaledb'\ntimescaledb.telemetry_level = off")
        .start();
    let mut session = server.connect("postgres");
    session.run("CREATE EXTENSION timescaledb; SET timezone = 'UTC'");
    for layout in [
        "instagram",
        "twitter",
        "sonyflake",
        "time:32 shard:16 seq:15 unit:1s epoch:2020-01-01T00:00:00Z",
    ] {
        session.run(&format!(
            "CREATE TABLE item (id bigint NOT NULL); SELECT create_hypertable('item', by_range('id', snowflake_span('7 days', '{layout}')));
             INSERT INTO item SELECT snowflake_encode(timestamptz '2026-01-01' + n * interval '1 day', 3, 0, '{layout}') FROM generate_series(0, 69) AS n"
        ));
        let most: i64 = session
            .one("SELECT max(n) FROM (SELECT count(*) AS n FROM item GROUP BY tableoid) AS s");
        let chunks: i64 = session.one("SELECT count(*) FROM show_chunks('item')");
        assert!(
            most == 7 && (10..=11).contains(&chunks),
            "{layout}: {most} days in a chunk, {chunks} chunks"
        );
        session.run("DROP TABLE item");
    }
}
