//! The size of a table with these ids, and the time to find the rows of a span of time by them.

use super::contenders::{Contender, Part, insert};
use crate::report::{Report, Table, number, progress};
use crate::scale::Scale;
use crate::stats::Spread;
use crate::tables::{self, BATCH, megabytes, size_of};
use mint_cluster::{Server, Session};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The time of some ids ticks each second.
const PAUSE: Duration = Duration::from_millis(1_100);

pub fn measure(server: &Server, contenders: &[Contender], scale: Scale, report: &mut Report) {
    let rows: u32 = scale.pick(5_000_000, 100_000);
    let mut table = Table::new(
        "rows",
        "The table",
        &format!(
            "{rows} rows of (id, timestamptz, 40 bytes) by the default of the column, in transactions of {BATCH}, with the id as \
             the primary key and a checkpoint after each fifth of them. Bytes: of one id, as `pg_column_size` says. Seconds: of the \
             INSERTs, of one round. By time: `SELECT count(body)` of another hundredth, inserted after a pause, by the id alone, after \
             VACUUM: in a range of the key, or by the timestamp of the id of each row. The median of three, ± half the distance \
             between the quartiles. Found: of the {} rows since the pause. COPY: of {} rows without ids, into the emptied table, in \
             seconds, the median of three.",
            rows / 100,
            rows / 5
        ),
        &[
            "id", "bytes", "seconds", "table MB", "index MB", "WAL MB", "by time", "ms", "±",
            "found", "copy s",
        ],
    );
    let mut measured = BTreeMap::new();
    let mut session = server.connect("postgres");
    let folder: String = session.one("SELECT current_setting('data_directory')");
    let file = format!("{folder}/bench_copy");
    session.run(&format!(
        "COPY (SELECT clock_timestamp(), repeat('x', 40) FROM generate_series(1, {})) TO '{file}'",
        rows / 5
    ));
    super::in_groups(&mut session, contenders, |session, group| {
        for contender in group.iter().filter(|contender| contender.part == Part::All) {
            progress(&format!("  {}", contender.name));
            measured.insert(contender.name, row(session, contender, rows, &file));
        }
    });
    for contender in contenders {
        if let Some(cells) = measured.get(contender.name) {
            table.row(cells);
        }
    }
    report.add(table);
}

fn row(session: &mut Session, contender: &Contender, rows: u32, file: &str) -> Vec<String> {
    contender.create(session, "bench_rows").expect("a table");
    session.run("ALTER TABLE bench_rows ADD PRIMARY KEY (id)");
    let filled = tables::insert_all(session, &insert("bench_rows", BATCH), rows);
    let bytes: i32 = session.one("SELECT pg_column_size(id) FROM bench_rows LIMIT 1");
    let mut cells = vec![
        contender.name.to_owned(),
        bytes.to_string(),
        number(filled.seconds),
        number(megabytes(session, &size_of("bench_rows"))),
        number(megabytes(session, &size_of("bench_rows_pkey"))),
        number(filled.wal_mb),
    ];
    std::thread::sleep(PAUSE);
    let since: String = session.one("SELECT clock_timestamp()::text");
    std::thread::sleep(PAUSE);
    session.run(&insert("bench_rows", rows / 100));
    session.run("VACUUM ANALYZE bench_rows");
    cells.push(contender.by_time.word().to_owned());
    match contender.by_time.condition(&since) {
        None => cells.extend([const { String::new() }; 3]),
        Some(condition) => {
            let query = format!("SELECT count(body) FROM bench_rows WHERE {condition}");
            let taken = tables::time_query(session, &query, 3);
            let found: i64 = session.one(&query);
            cells.extend([
                number(taken.median),
                number(taken.noise()),
                found.to_string(),
            ]);
        }
    }
    let copied: Vec<f64> = (0..3)
        .map(|_| {
            session.run("TRUNCATE bench_rows");
            session.run("CHECKPOINT");
            let began = Instant::now();
            session.run(&format!("COPY bench_rows (at, body) FROM '{file}'"));
            began.elapsed().as_secs_f64()
        })
        .collect();
    cells.push(number(Spread::of(&copied).median));
    contender.drop(session, "bench_rows");
    cells
}
