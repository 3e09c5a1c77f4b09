//! Effect of the key on its table: time, size, WAL, buffers, and the scan of the newest rows.

pub mod bulk;
pub mod natural_forms;
pub mod planning;
pub mod time_predicates;

use crate::candidates::QUICK_START;
use crate::chart::{self, Axis, Bar};
use crate::report::{self, Report, Table, number};
use crate::scale::Scale;
use crate::stats::Spread;
use mint_cluster::{Server, Session};
use std::time::Instant;

/// A kind of primary key.
struct Key {
    name: &'static str,
    column: &'static str,
    call: &'static str,
    /// True if a range of time is a range of the key.
    in_time: bool,
    ours: bool,
    /// True if the table is 16 partitions by the hash of the key.
    partitioned: bool,
}

const fn ours(name: &'static str, column: &'static str, call: &'static str, in_time: bool) -> Key {
    Key {
        name,
        column,
        call,
        in_time,
        ours: true,
        partitioned: false,
    }
}

/// The same in 16 partitions by the hash of the key, as TiDB's regions that are split beforehand.
const fn partitioned(key: Key) -> Key {
    Key {
        name: "snowflake, 16 hash partitions",
        partitioned: true,
        ..key
    }
}

const fn theirs(name: &'static str, column: &'static str, call: &'static str) -> Key {
    Key {
        name,
        column,
        call,
        in_time: false,
        ours: false,
        partitioned: false,
    }
}

#[rustfmt::skip]
const KEYS: [Key; 12] = [
    theirs("serial", "bigint", "nextval('bench_plain')"),
    ours("snowflake", "bigint", QUICK_START, true),
    ours("snowflake, 8 shards", "bigint", "snowflake_next_id(i & 7, 'twitter')", true),
    ours("snowflake, scattered", "bigint", "snowflake_scatter(snowflake_next_id(1, 'twitter'))", false),
    ours("snowflake, 2 digits scattered", "bigint", "snowflake_scatter(snowflake_next_id(1, 'twitter'), 2)", false),
    ours("snowflake, 3 digits scattered", "bigint", "snowflake_scatter(snowflake_next_id(1, 'twitter'), 3)", false),
    ours("snowflake as text", "text", "snowflake_next_id(1, 'twitter')::text", false),
    partitioned(ours("", "bigint", "snowflake_next_id(1, 'twitter')", true)),
    ours("uuid_v7", "uuid", "uuid_v7()", true),
    ours("objectid", "objectid", "objectid()", true),
    ours("uuid_v4", "uuid", "uuid_v4()", false),
    theirs("gen_random_uuid", "uuid", "gen_random_uuid()"),
];

/// Rows of a transaction.
pub const BATCH: u32 = 10_000;

/// Cost of filling one table.
pub struct Filled {
    pub seconds: f64,
    pub wal_mb: f64,
    buffers: i64,
}

fn fills_table(rows: u32, rounds: u32) -> Table {
    let mut table = Table::new(
        "tables",
        "What the id does to the table",
        &format!(
            "{rows} rows of (key, timestamptz, 40 bytes), in transactions of {BATCH}, with the key as the primary key \
             and a checkpoint after each fifth of the rows, after which each changed page goes to the WAL as a \
             whole. Seconds are those of the INSERTs, the median ± half the distance between the quartiles; rounds: \
             {rounds}. Full is the share of the index's leaf pages that is in use. Buffers read are those of the \
             key's index that were not in shared_buffers, including its new pages."
        ),
        &[
            "key", "rows", "seconds", "±", "table MB", "key's index MB", "full %", "WAL MB",
            "buffers read",
        ],
    );
    table.note(
        "Snowflakes of several shards are in the order of shards, not of time, within a millisecond. If a table gets \
         so many rows in a millisecond that their keys nearly fill a page of the index (some 300), index pages split \
         in the middle and are less full, and a scan by the key goes back and forth between the pages of the table. \
         At 50 rows a millisecond, the index is as full as with one shard.",
    );
    table
}

pub fn measure(server: &Server, scale: Scale, report: &mut Report) {
    let rows: u32 = scale.pick(5_000_000, 200_000);
    let rounds = scale.pick(3, 1);
    let mut session = server.connect("postgres");
    let mut table = fills_table(rows, rounds);
    let mut scans = scans_table(rows);
    let mut fills: Vec<Vec<Filled>> = KEYS.iter().map(|_| Vec::new()).collect();
    let mut charts = [const { Vec::new() }; 3];
    for round in 0..rounds {
        for (key, fills) in KEYS.iter().zip(&mut fills) {
            report::progress(&format!("  round {} of {rounds}: {}", round + 1, key.name));
            fills.push(fill(&mut session, key, rows));
            if round + 1 == rounds {
                let bars = conclude(&mut session, key, fills, rows, &mut table);
                for (bar, chart) in bars.into_iter().zip(&mut charts) {
                    chart.push(bar);
                }
                scan(&mut session, key, rows, scale, &mut scans);
            }
            session.run("DROP TABLE bench_rows");
        }
    }
    for ((file, title, axis), bars) in [
        ("tables_time.svg", "Time to insert the rows", "seconds"),
        ("tables_index.svg", "Size of the key's index", "MB"),
        ("tables_wal.svg", "WAL of the rows", "MB"),
    ]
    .into_iter()
    .zip(&charts)
    {
        let place = report.place(file);
        let axis = format!("{axis}, {rows} rows (green: pg_mint)");
        chart::bars(&place, title, Axis::Linear(&axis), bars);
        table.chart(file, title);
    }
    report.add(table);
    report.add(scans);
}

pub fn megabytes(session: &mut Session, what: &str) -> f64 {
    session.one::<f64>(&format!("SELECT ({what})::float8 / 1e6"))
}

/// Returns the expression of a relation's size, with that of its partitions.
pub fn size_of(relation: &str) -> String {
    format!(
        "SELECT coalesce(sum(pg_relation_size(relid)), pg_relation_size('{relation}')) FROM pg_partition_tree('{relation}')"
    )
}

fn create(session: &mut Session, key: &Key) {
    let partitions = if key.partitioned {
        "PARTITION BY HASH (id)"
    } else {
        ""
    };
    session.run(&format!(
        "CREATE TABLE bench_rows (id {} PRIMARY KEY, at timestamptz NOT NULL, body text) {partitions}",
        key.column
    ));
    if key.partitioned {
        for part in 0..16 {
            session.run(&format!(
                "CREATE TABLE bench_rows_{part} PARTITION OF bench_rows FOR VALUES WITH (MODULUS 16, REMAINDER {part})"
            ));
        }
    }
}

fn fill(session: &mut Session, key: &Key, rows: u32) -> Filled {
    create(session, key);
    let insert = format!(
        "INSERT INTO bench_rows
         SELECT {}, clock_timestamp(), repeat('x', 40) FROM generate_series(1, {BATCH}) AS i",
        key.call
    );
    insert_all(session, &insert, rows)
}

/// Fills the table `bench_rows` by a statement that inserts a batch.
pub fn insert_all(session: &mut Session, insert: &str, rows: u32) -> Filled {
    session.run("CHECKPOINT");
    let before: String = session.one("SELECT pg_current_wal_insert_lsn()::text");
    let mut seconds = 0.0;
    let batches = rows / BATCH;
    for batch in 1..=batches {
        let began = Instant::now();
        session.run(insert);
        seconds += began.elapsed().as_secs_f64();
        if batch % (batches / 5) == 0 && batch < batches {
            report::progress(&format!("    {} of {rows} rows", batch * BATCH));
            session.run("CHECKPOINT");
        }
    }
    // The session must report its statistics first.
    session.run("SELECT pg_stat_force_next_flush()");
    Filled {
        seconds,
        wal_mb: megabytes(
            session,
            &format!("pg_current_wal_insert_lsn() - '{before}'"),
        ),
        buffers: session
            .one("SELECT sum(idx_blks_read)::bigint FROM pg_statio_user_tables WHERE relname ~ '^bench_rows'"),
    }
}

/// Adds the row of a key, and returns its bars of time, index and WAL.
fn conclude(
    session: &mut Session,
    key: &Key,
    fills: &[Filled],
    rows: u32,
    table: &mut Table,
) -> [Bar; 3] {
    let spread = |what: fn(&Filled) -> f64| {
        let rounds: Vec<f64> = fills.iter().map(what).collect();
        Spread::of(&rounds)
    };
    let seconds = spread(|fill| fill.seconds);
    let wal_mb = spread(|fill| fill.wal_mb).median;
    let index_mb = megabytes(session, &size_of("bench_rows_pkey"));
    let full = "SELECT avg_leaf_density FROM pgstatindex('bench_rows_pkey')";
    table.row(&[
        key.name.to_owned(),
        rows.to_string(),
        number(seconds.median),
        number(seconds.noise()),
        number(megabytes(session, &size_of("bench_rows"))),
        number(index_mb),
        // The extension pgstattuple can be missing.
        session
            .try_one::<f64>(full)
            .map_or_else(|_| String::new(), |full| format!("{full:.0}")),
        number(wal_mb),
        number(spread(|fill| fill.buffers as f64).median),
    ]);
    [seconds.median, index_mb, wal_mb].map(|value| Bar {
        name: key.name.to_owned(),
        value,
        label: number(value),
        ours: key.ours,
    })
}

fn scans_table(rows: u32) -> Table {
    Table::new(
        "scans",
        "The newest hundredth of the rows",
        &format!(
            "`SELECT count(body) FROM t WHERE ...` for the newest of the {rows} rows, after VACUUM: by the key, if a \
             range of time is a range of the key, and by an index on the timestamp. The second is about as fast, but \
             that index takes space and is written by each INSERT; the other keys need it. Median of the rounds; \
             buffers are all that were accessed, in shared_buffers or not."
        ),
        &[
            "key", "by", "rows", "ms", "±", "buffers", "index on the timestamp MB",
        ],
    )
}

/// Scans the newest hundredth by the key and by an index on the timestamp.
fn scan(session: &mut Session, key: &Key, rows: u32, scale: Scale, scans: &mut Table) {
    session.run("CREATE INDEX bench_rows_at ON bench_rows (at)");
    session.run("VACUUM ANALYZE bench_rows");
    let size = megabytes(session, &size_of("bench_rows_at"));
    let newest = rows / 100;
    for (column, by, size) in [
        ("id", "the key", String::new()),
        ("at", "the timestamp", number(size)),
    ] {
        if column == "id" && !key.in_time {
            continue;
        }
        // The bound is the key of a row, as times cannot separate two keys of one second.
        let bound: String = session.one(&format!(
            "SELECT {column}::text FROM bench_rows ORDER BY {column} DESC OFFSET {newest} - 1 LIMIT 1"
        ));
        let query = format!("SELECT count(body) FROM bench_rows WHERE {column} >= '{bound}'");
        let found = session.one::<i64>(&query);
        let taken = time_query(session, &query, scale.pick(11, 5));
        scans.row(&[
            key.name.to_owned(),
            by.to_owned(),
            found.to_string(),
            number(taken.median),
            number(taken.noise()),
            touched_buffers(session, &query).to_string(),
            size,
        ]);
    }
}

/// Returns the milliseconds of a query that counts.
pub fn time_query(session: &mut Session, query: &str, rounds: u32) -> Spread {
    let taken: Vec<f64> = (0..rounds)
        .map(|_| {
            let began = Instant::now();
            session.one::<i64>(query);
            began.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    Spread::of(&taken)
}

/// Returns the number of buffers that a query touches.
fn touched_buffers(session: &mut Session, query: &str) -> i64 {
    let plan = session.column::<String>(&format!(
        "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) {query}"
    ));
    // The topmost node comes first and includes those below it.
    let buffers = plan
        .iter()
        .find_map(|line| line.trim().strip_prefix("Buffers: shared "));
    let counts = buffers.unwrap_or_default().split(' ');
    counts
        .filter_map(|count| count.strip_prefix("hit=").or(count.strip_prefix("read=")))
        .filter_map(|count| count.parse::<i64>().ok())
        .sum()
}
