//! A dump, and its restore into another server.

use super::contenders::{Contender, Part, insert};
use crate::report::{Report, Table, number, progress};
use crate::scale::Scale;
use mint_cluster::{Server, Session};
use std::time::Instant;

pub fn measure(server: &Server, contenders: &[Contender], scale: Scale, report: &mut Report) {
    let rows = scale.pick(100_000, 10_000);
    let mut table = Table::new(
        "dump",
        "Dump and restore",
        &format!(
            "A database with the extension and a table of {rows} rows, its key the id by default, is dumped by `pg_dump` and \
             restored by `psql` into another server with the same settings. Errors: of the restore. Then 1000 rows are inserted: \
             how many of their ids are lower than the highest in the dump, or the error. An ObjectID has its \
             second and a number of the server first: of two servers in one second, the one or the other has the lower ids."
        ),
        &["id", "errors", "rows", "seconds", "lower"],
    );
    let other = super::builder(crate::builder("compare_restored")).start();
    for (place, contender) in contenders.iter().enumerate() {
        if !contender.is_in(Part::Dump) || contender.cache != 1 {
            continue;
        }
        progress(&format!("  {}", contender.name));
        let database = format!("compare_{place}");
        for server in [server, &other] {
            let mut session = server.connect("postgres");
            session.run(&format!("CREATE DATABASE {database}"));
        }
        fill(&mut server.connect(&database), contender, rows);
        let mut cells = vec![contender.name.to_owned()];
        cells.extend(restore(server, &other, &database));
        table.row(&cells);
    }
    report.add(table);
}

fn fill(session: &mut Session, contender: &Contender, rows: u32) {
    contender.set_up(session).expect("the extension");
    contender.create(session, "dumped").expect("a table");
    session.run("ALTER TABLE dumped ADD PRIMARY KEY (id)");
    session.run(&insert("dumped", rows));
}

/// Returns the errors, the rows, the seconds, and what happened to new ids.
fn restore(server: &Server, other: &Server, database: &str) -> [String; 4] {
    let began = Instant::now();
    let dump = server.dump("postgres", database);
    let said = other.psql(database, dump.as_bytes());
    let seconds = began.elapsed().as_secs_f64();
    let said = String::from_utf8_lossy(&said);
    let errors = said.lines().filter(|line| line.contains("ERROR:")).count();
    let mut session = other.connect(database);
    let count = match session.try_one::<i64>("SELECT count(*) FROM dumped") {
        Ok(count) => count.to_string(),
        Err(refusal) => {
            return [
                errors.to_string(),
                "0".to_owned(),
                number(seconds),
                refusal.message,
            ];
        }
    };
    session.run("CREATE TABLE highest AS SELECT id FROM dumped ORDER BY id DESC LIMIT 1");
    let then = match session.try_run(&insert("dumped", 1_000)) {
        Err(refusal) => refusal.message,
        Ok(()) => {
            let newer = "SELECT id FROM dumped ORDER BY at DESC LIMIT 1000";
            let lower: i64 = session.one(&format!(
                "SELECT count(*) FROM ({newer}) AS n WHERE id < (SELECT id FROM highest)"
            ));
            lower.to_string()
        }
    };
    [errors.to_string(), count, number(seconds), then]
}
