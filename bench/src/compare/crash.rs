//! Ids after an immediate stop and a start with the clock set back.

use super::contenders::{Contender, Part};
use super::order::sortable;
use crate::report::{Report, Table, number, progress};
use crate::scale::Scale;
use mint_cluster::{Server, Session};
use std::collections::HashSet;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Ids of a query.
const BATCH: usize = 500;
/// Sessions of each contender.
const SESSIONS: usize = 2;
/// The distance to which the clock is set back before the first id, so that the server has time to start.
const BACK: Duration = Duration::from_secs(8);

pub fn measure(_: &Server, contenders: &[Contender], scale: Scale, report: &mut Report) {
    let span = Duration::from_millis(scale.pick(3_000, 1_000));
    let mut table = Table::new(
        "crash",
        "After an immediate stop, with the clock set back",
        &format!(
            "{SESSIONS} sessions of each read ids, {BATCH} in a transaction, for {} s. Then one reads {BATCH} more in a transaction \
             that is still open when the server stops, by `pg_ctl stop -m immediate`. The clock is set back to {} s before \
             the first id, the server starts, and {SESSIONS} sessions read ids until it is past the last one. Again: how many of \
             these were read before the stop, in a committed transaction or in the open one. Lower: how many are lower than \
             the highest one read before. Wait: until the first id. Settings are the defaults: \
             `synchronous_commit` is on.",
            span.as_secs_f64(),
            BACK.as_secs()
        ),
        &[
            "id", "before", "after", "again, committed", "again, open", "lower", "wait, s",
        ],
    );
    let mut rows = Vec::new();
    for group in [1, 100] {
        let group: Vec<&Contender> = contenders
            .iter()
            .filter(|contender| contender.part == Part::All && contender.cache == group)
            .collect();
        if group.is_empty() {
            continue;
        }
        let survived = survive(&group, span);
        rows.extend(group.iter().map(|contender| contender.name).zip(survived));
    }
    for contender in contenders {
        for (name, cells) in &rows {
            if *name == contender.name {
                let mut row = vec![contender.name.to_owned()];
                row.extend(cells.iter().cloned());
                table.row(&row);
            }
        }
    }
    report.add(table);
}

/// The ids that the sessions of a contender read.
#[derive(Default)]
struct Read {
    ids: Vec<String>,
    /// When the first one came.
    first: Option<Duration>,
    open: Vec<String>,
}

fn survive(group: &[&Contender], span: Duration) -> Vec<[String; 6]> {
    let builder = Server::build_with_clock("compare_crash");
    let server = super::builder(crate::configured(builder))
        .conf("synchronous_commit = on")
        .conf(&format!("pg_mint.session_cache = {}", group[0].cache))
        .start();
    let mut session = server.connect("postgres");
    let tables: Vec<String> = (0..group.len()).map(|n| format!("compare_{n}")).collect();
    for (contender, table) in group.iter().zip(&tables) {
        contender.set_up(&mut session).expect("the extension");
        contender.create(&mut session, table).expect("a table");
    }
    let calls: Vec<String> = group
        .iter()
        .zip(&tables)
        .map(|(contender, table)| contender.call(table))
        .collect();
    drop(session);
    progress(&format!("  {} together", group.len()));
    let began = Instant::now();
    let before = read(&server, &calls, began + span, true);
    let stopped = began.elapsed();
    let back = stopped + BACK;
    server.set_clock(&format!("-{:.3}", back.as_secs_f64()));
    server.start_again();
    let past = began + stopped + back + Duration::from_millis(500);
    let after = read(&server, &calls, past, false);
    before
        .iter()
        .zip(&after)
        .map(|(before, after)| compare(before, after))
        .collect()
}

fn compare(before: &Read, after: &Read) -> [String; 6] {
    let committed: HashSet<&String> = before.ids.iter().collect();
    let open: HashSet<&String> = before.open.iter().collect();
    let among = |set: &HashSet<&String>| after.ids.iter().filter(|id| set.contains(id)).count();
    let highest = before
        .ids
        .iter()
        .chain(&before.open)
        .map(|id| sortable(id))
        .max();
    let lower = after
        .ids
        .iter()
        .filter(|id| {
            highest
                .as_ref()
                .is_some_and(|highest| sortable(id) < *highest)
        })
        .count();
    [
        (before.ids.len() + before.open.len()).to_string(),
        after.ids.len().to_string(),
        among(&committed).to_string(),
        among(&open).to_string(),
        lower.to_string(),
        after
            .first
            .map_or("none".to_owned(), |first| number(first.as_secs_f64())),
    ]
}

/// Reads ids of all calls at once, and stops the server with transactions still open if `stop`.
fn read(server: &Server, calls: &[String], until: Instant, stop: bool) -> Vec<Read> {
    let clients = calls.len() * SESSIONS;
    // All have read and committed; then all have read in open transactions.
    let (committed, opened) = (Barrier::new(clients), Barrier::new(clients + 1));
    let stopped = Barrier::new(clients + 1);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|client| {
                let call = &calls[client / SESSIONS];
                let (committed, opened, stopped) = (&committed, &opened, &stopped);
                scope.spawn(move || {
                    let mut session = server.connect("postgres");
                    let mut read = Read::default();
                    read_until(&mut session, call, until, &mut read);
                    committed.wait();
                    if stop && client % SESSIONS == 0 {
                        session.run("BEGIN");
                        read.open = session.mint(call, BATCH);
                    }
                    opened.wait();
                    stopped.wait();
                    read
                })
            })
            .collect();
        opened.wait();
        if stop {
            server.stop_immediate();
        }
        stopped.wait();
        let mut all: Vec<Read> = calls.iter().map(|_| Read::default()).collect();
        for (client, thread) in threads.into_iter().enumerate() {
            let read = thread.join().expect("a client");
            let all = &mut all[client / SESSIONS];
            all.ids.extend(read.ids);
            all.open.extend(read.open);
            all.first = [all.first, read.first].into_iter().flatten().min();
        }
        all
    })
}

/// Reads ids until then, and for a minute if there was none yet.
fn read_until(session: &mut Session, call: &str, until: Instant, read: &mut Read) {
    let began = Instant::now();
    let longest = began + Duration::from_secs(60);
    let query = format!("SELECT {call}::text FROM generate_series(1, {BATCH})");
    while Instant::now() < if read.first.is_some() { until } else { longest } {
        // A clock that was set back can be a reason to make none for now.
        if let Ok(ids) = session.try_column::<String>(&query) {
            read.first.get_or_insert(began.elapsed());
            read.ids.extend(ids);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
