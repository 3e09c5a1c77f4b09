//! What the id does to the table: time, size, WAL, buffers, and the scan of the newest rows.

use crate::chart;
use crate::report::{self, Report, Table, number};
use crate::{Scale, Server};
use mint_cluster::Session;
use std::time::Instant;

/// A kind of primary key.
struct Key {
    name: &'static str,
    column: &'static str,
    call: &'static str,
    /// The smallest key of a moment, where keys are in order of time.
    since: Option<&'static str>,
    ours: bool,
}

const KEYS: [Key; 7] = [
    Key {
        name: "serial",
        column: "bigint",
        call: "nextval('bench_cached')",
        since: None,
        ours: false,
    },
    Key {
        name: "snowflake",
        column: "bigint",
        call: "snowflake_next_id(i & 7, 'twitter')",
        since: Some("snowflake_min($1, 'twitter')"),
        ours: true,
    },
    Key {
        name: "snowflake, scattered",
        column: "bigint",
        call: "snowflake_scatter(snowflake_next_id(i & 7, 'twitter'))",
        since: None,
        ours: true,
    },
    Key {
        name: "uuid_v7",
        column: "uuid",
        call: "uuid_v7()",
        since: Some("uuid_v7_min($1)"),
        ours: true,
    },
    Key {
        name: "objectid",
        column: "objectid",
        call: "objectid()",
        since: Some("objectid_min($1)"),
        ours: true,
    },
    Key {
        name: "uuid_v4",
        column: "uuid",
        call: "uuid_v4()",
        since: None,
        ours: true,
    },
    Key {
        name: "gen_random_uuid",
        column: "uuid",
        call: "gen_random_uuid()",
        since: None,
        ours: false,
    },
];

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    let rows: u32 = scale.pick(5_000_000, 200_000);
    let mut table = Table::new(
        "tables",
        "What the id does to the table",
        &format!(
            "{rows} rows of (key, timestamptz, 40 bytes), in transactions of 50000, with the key as the primary key. \
             Buffers are those that the key's index had to read from outside of shared_buffers (256 MB). The scan \
             reads the newest hundredth of the rows: by the key where keys are in order of time, else by an index on \
             the timestamp, whose size is given beside it."
        ),
        &[
            "key",
            "seconds",
            "table MB",
            "key's index MB",
            "WAL MB",
            "buffers read",
            "scan ms",
            "scan buffers",
            "scan by",
        ],
    );
    let mut session = server.connect("postgres");
    let mut wal = Vec::new();
    for key in KEYS {
        let there = session.try_one::<i64>(&format!(
            "SELECT count({}) FROM (SELECT 1) AS s(i)",
            key.call
        ));
        if let Err(refusal) = there {
            table.note(&format!("Not measured: {}: {}.", key.name, refusal.message));
            continue;
        }
        report::progress(&format!("  {}", key.name));
        let one = fill(&mut session, &key, rows);
        let (scan_ms, scan_buffers, by) = scan(&mut session, &key);
        table.row(&[
            key.name.to_owned(),
            number(one.seconds),
            number(one.table_mb),
            number(one.index_mb),
            number(one.wal_mb),
            one.buffers.to_string(),
            number(scan_ms),
            scan_buffers.to_string(),
            by,
        ]);
        wal.push((key.name.to_owned(), one.wal_mb, key.ours));
        session.run("DROP TABLE bench_rows");
    }
    chart::bars(
        &report.place("tables.svg"),
        &format!("WAL of {rows} inserted rows"),
        "MB (log scale)",
        &wal,
    );
    table.chart("tables.svg");
    report.add(table);
}

struct Filled {
    seconds: f64,
    table_mb: f64,
    index_mb: f64,
    wal_mb: f64,
    buffers: i64,
}

fn fill(session: &mut Session, key: &Key, rows: u32) -> Filled {
    const BATCH: u32 = 50_000;
    session.run(&format!(
        "CREATE TABLE bench_rows (id {} PRIMARY KEY, at timestamptz NOT NULL, body text)",
        key.column
    ));
    session.run("CHECKPOINT");
    let before: String = session.one("SELECT pg_current_wal_insert_lsn()::text");
    let began = Instant::now();
    for batch in 0..rows / BATCH {
        session.run(&format!(
            "INSERT INTO bench_rows
             SELECT {}, clock_timestamp(), repeat('x', 40) FROM generate_series(1, {BATCH}) AS i",
            key.call
        ));
        if batch % 20 == 19 {
            report::progress(&format!("    {} of {rows} rows", (batch + 1) * BATCH));
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let mb = |session: &mut Session, what: &str| -> f64 {
        session.one::<f64>(&format!("SELECT ({what})::float8 / 1e6"))
    };
    // Statistics arrive when the session has told them.
    session.run("SELECT pg_stat_force_next_flush()");
    Filled {
        seconds,
        table_mb: mb(session, "pg_relation_size('bench_rows')"),
        index_mb: mb(session, "pg_relation_size('bench_rows_pkey')"),
        wal_mb: mb(
            session,
            &format!("pg_current_wal_insert_lsn() - '{before}'"),
        ),
        buffers: session
            .one("SELECT idx_blks_read FROM pg_statio_user_tables WHERE relname = 'bench_rows'"),
    }
}

/// Reads the newest hundredth: milliseconds, buffers touched, and by what.
fn scan(session: &mut Session, key: &Key) -> (f64, i64, String) {
    session.run("VACUUM ANALYZE bench_rows");
    let newest = "(SELECT max(at) - (max(at) - min(at)) / 100 FROM bench_rows)";
    let moment: String = session.one(&format!("SELECT {newest}::text"));
    let (condition, by) = match key.since {
        Some(since) => (
            format!(
                "id >= {}",
                since.replace("$1", &format!("'{moment}'::timestamptz"))
            ),
            "the key".to_owned(),
        ),
        None => {
            session.run("CREATE INDEX bench_rows_at ON bench_rows (at)");
            let size: f64 = session.one("SELECT pg_relation_size('bench_rows_at')::float8 / 1e6");
            (
                format!("at >= '{moment}'"),
                format!("an index on the timestamp, {} MB", number(size)),
            )
        }
    };
    let query = format!("SELECT count(body) FROM bench_rows WHERE {condition}");
    session.one::<i64>(&query);
    let began = Instant::now();
    session.one::<i64>(&query);
    let ms = began.elapsed().as_secs_f64() * 1e3;
    let plan = session.column::<String>(&format!(
        "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) {query}"
    ));
    let touched = plan
        .iter()
        .find_map(|line| line.split_once("shared hit="))
        .map_or(0, |(_, rest)| {
            rest.split(|c: char| !c.is_ascii_digit())
                .filter_map(|digits| digits.parse::<i64>().ok())
                .sum()
        });
    (ms, touched, by)
}
