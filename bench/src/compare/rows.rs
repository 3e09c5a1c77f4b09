//! What the ids do to a table, and how the rows of a span of time are found by them.

use super::contenders::{Contender, Part, insert};
use crate::report::{Report, Table, number, progress};
use crate::scale::Scale;
use crate::tables::{self, BATCH, megabytes, size_of};
use mint_cluster::{Server, Session};
use std::collections::BTreeMap;
use std::time::Duration;

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
             between the quartiles. Found: of the {} rows since the pause.",
            rows / 100
        ),
        &[
            "id", "bytes", "seconds", "table MB", "index MB", "WAL MB", "by time", "ms", "±",
            "found",
        ],
    );
    let mut measured = BTreeMap::new();
    let mut session = server.connect("postgres");
    super::in_groups(&mut session, contenders, |session, group| {
        for contender in group.iter().filter(|contender| contender.part == Part::All) {
            progress(&format!("  {}", contender.name));
            measured.insert(contender.name, row(session, contender, rows));
        }
    });
    for contender in contenders {
        if let Some(cells) = measured.get(contender.name) {
            table.row(cells);
        }
    }
    report.add(table);
}

fn row(session: &mut Session, contender: &Contender, rows: u32) -> Vec<String> {
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
            let taken = tables::timed(session, &query, 3);
            let found: i64 = session.one(&query);
            cells.extend([
                number(taken.median),
                number(taken.noise()),
                found.to_string(),
            ]);
        }
    }
    contender.drop(session, "bench_rows");
    cells
}
