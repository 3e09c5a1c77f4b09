//! The order of ids over sessions, and ids that two tables or two sessions were given.

use super::contenders::{Contender, Part, insert};
use crate::report::{Report, Table, progress};
use crate::scale::Scale;
use mint_cluster::Server;
use mint_cluster::load::sessions::draw_at_once;
use postgres::NoTls;
use std::collections::BTreeMap;

const SESSIONS: usize = 8;
/// Rows of a statement.
const BATCH: u32 = 5_000;

pub fn measure(server: &Server, contenders: &[Contender], scale: Scale, report: &mut Report) {
    let turns = scale.pick(40_000, 4_000);
    let rows = scale.pick(400_000, 80_000);
    let mut table = Table::new(
        "order",
        "Order and duplicates",
        &format!(
            "Lower: {SESSIONS} sessions take turns, one id each, {turns} in all, and each asks after the one before it was \
             answered: how many ids are lower than the one before. In both tables: two tables get {rows} rows each at the same time, from a session each, in \
             statements of {BATCH}: how many ids are in both. Twice in one: {SESSIONS} sessions fill one table with {rows} rows: how \
             many of its ids are there already."
        ),
        &["id", "lower", "in both tables", "twice in one"],
    );
    let mut counted = BTreeMap::new();
    super::in_groups(&mut server.connect("postgres"), contenders, |_, group| {
        for contender in group.iter().filter(|contender| contender.part == Part::All) {
            progress(&format!("  {}", contender.name));
            let counts = [
                lower(server, contender, turns),
                in_both(server, contender, rows),
                count_twice(server, contender, rows),
            ];
            counted.insert(contender.name, counts);
        }
    });
    for contender in contenders {
        if let Some(counts) = counted.get(contender.name) {
            let mut cells = vec![contender.name.to_owned()];
            cells.extend(counts.iter().map(i64::to_string));
            table.row(&cells);
        }
    }
    report.add(table);
}

/// Returns the text of an id in a form whose order is that of the type.
pub fn sortable(id: &str) -> String {
    // Numbers that are not negative; texts of UUIDs, ULIDs and ObjectIDs are in the order of their bytes.
    format!("{id:0>20}")
}

fn lower(server: &Server, contender: &Contender, turns: usize) -> i64 {
    let mut owner = server.connect("postgres");
    contender
        .create(&mut owner, "compare_order")
        .expect("a table");
    let query = format!("SELECT {}::text", contender.call("compare_order"));
    let mut sessions: Vec<_> = (0..SESSIONS)
        .map(|_| {
            let config = server.config("postgres", "postgres");
            let mut session = config.connect(NoTls).expect("a session");
            let statement = session.prepare(&query).expect("a statement");
            (session, statement)
        })
        .collect();
    let ids: Vec<String> = (0..turns)
        .map(|turn| {
            let (session, statement) = &mut sessions[turn % SESSIONS];
            let row = session.query_one(statement, &[]).expect("an id");
            sortable(row.get(0))
        })
        .collect();
    contender.drop(&mut owner, "compare_order");
    ids.windows(2).filter(|pair| pair[1] < pair[0]).count() as i64
}

/// Fills tables from sessions at once, the session of each number the table of that number.
fn fill(server: &Server, tables: &[&str], rows: u32) {
    draw_at_once(server, "postgres", tables.len(), |session, number| {
        for _ in 0..rows / BATCH {
            session.run(&insert(tables[number], BATCH));
        }
        Vec::new()
    });
}

fn in_both(server: &Server, contender: &Contender, rows: u32) -> i64 {
    let mut session = server.connect("postgres");
    for table in ["compare_one", "compare_two"] {
        contender.create(&mut session, table).expect("a table");
    }
    fill(server, &["compare_one", "compare_two"], rows);
    let count = session.one("SELECT count(*) FROM compare_one JOIN compare_two USING (id)");
    for table in ["compare_one", "compare_two"] {
        contender.drop(&mut session, table);
    }
    count
}

fn count_twice(server: &Server, contender: &Contender, rows: u32) -> i64 {
    let mut session = server.connect("postgres");
    contender
        .create(&mut session, "compare_one")
        .expect("a table");
    fill(server, &["compare_one"; SESSIONS], rows / SESSIONS as u32);
    let count = session.one("SELECT count(*) - count(DISTINCT id) FROM compare_one");
    contender.drop(&mut session, "compare_one");
    count
}
