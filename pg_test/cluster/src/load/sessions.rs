//! Many sessions at once, and checks of what they drew.

use crate::server::process::Server;
use crate::server::session::{Place, Refusal, Session};
use std::fmt::Display;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Opens `sessions` sessions, starts them together, and returns what each drew, in order.
pub fn draw_at_once(
    server: &Server,
    database: &str,
    sessions: usize,
    draw: impl Fn(&mut Session, usize) -> Vec<i64> + Sync,
) -> Vec<Vec<i64>> {
    let start = Barrier::new(sessions);
    std::thread::scope(|scope| {
        let drawing: Vec<_> = (0..sessions)
            .map(|number| {
                let (start, draw) = (&start, &draw);
                scope.spawn(move || {
                    let mut session = server.connect(database);
                    start.wait();
                    draw(&mut session, number)
                })
            })
            .collect();
        drawing
            .into_iter()
            .map(|thread| thread.join().expect("a drawing session"))
            .collect()
    })
}

/// Everything that a client was answered.
#[derive(Default)]
pub struct Record {
    pub ids: Vec<i64>,
    pub refusals: Vec<Refusal>,
}

/// Splits records into the ids of each client and the refusals of all.
#[must_use]
pub fn split(records: Vec<Record>) -> (Vec<Vec<i64>>, Vec<Refusal>) {
    let (ids, refusals): (Vec<_>, Vec<_>) = records
        .into_iter()
        .map(|record| (record.ids, record.refusals))
        .unzip();
    (ids, refusals.into_iter().flatten().collect())
}

/// Asks `sql` for ids again and again until the flag is set, records every answer, and connects again after a lost
/// connection.
fn keep_asking(place: &Place, begun: &Barrier, stop: &AtomicBool, sql: &str) -> Record {
    let mut session = None;
    let mut record = Record::default();
    let mut first = Some(begun);
    while !stop.load(Ordering::Relaxed) {
        let answer = ask(place, &mut session, sql);
        first.take().map(Barrier::wait);
        match answer {
            Ok(ids) => record.ids.extend(ids),
            Err(refusal) if refusal.is_loss() => {
                session = None;
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(refusal) => record.refusals.push(refusal),
        }
    }
    record
}

fn ask(place: &Place, session: &mut Option<Session>, sql: &str) -> Result<Vec<i64>, Refusal> {
    if session.is_none() {
        *session = Some(place.try_connect()?);
    }
    session
        .as_mut()
        .map_or_else(|| Ok(Vec::new()), |session| session.try_column(sql))
}

/// Runs `story` while `sessions` clients keep asking `sql`; returns their records.
pub fn while_minting(
    server: &Server,
    sessions: usize,
    sql: &str,
    story: impl FnOnce(),
) -> Vec<Record> {
    while_asking(&server.place(), &vec![sql; sessions], story)
}

/// Runs `story` while one client for each statement keeps asking it, from the first answers on; returns their records.
pub fn while_asking<S: AsRef<str> + Sync>(
    place: &Place,
    statements: &[S],
    story: impl FnOnce(),
) -> Vec<Record> {
    let stop = &AtomicBool::new(false);
    let begun = &Barrier::new(statements.len() + 1);
    std::thread::scope(|scope| {
        let clients: Vec<_> = statements
            .iter()
            .map(|sql| scope.spawn(move || keep_asking(place, begun, stop, sql.as_ref())))
            .collect();
        begun.wait();
        run_then_stop(stop, story);
        clients
            .into_iter()
            .map(|client| client.join().expect("a minting client"))
            .collect()
    })
}

/// Runs `story` and sets the flag when it ends, also by a panic: a scope hides the panic until all its threads end.
pub(crate) fn run_then_stop<T>(stop: &AtomicBool, story: impl FnOnce() -> T) -> T {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(story));
    stop.store(true, Ordering::Relaxed);
    outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Asserts that no id occurs twice in all lists together.
#[track_caller]
pub fn assert_unique<'a>(lists: impl IntoIterator<Item = &'a Vec<i64>>) {
    let mut all: Vec<i64> = lists.into_iter().flatten().copied().collect();
    assert!(!all.is_empty(), "nothing was minted at all");
    all.sort_unstable();
    let twice: Vec<i64> = all
        .windows(2)
        .filter(|pair| pair[0] == pair[1])
        .map(|pair| pair[0])
        .collect();
    assert!(
        twice.is_empty(),
        "{} of {} ids were issued twice, the first ones {:?}",
        twice.len(),
        all.len(),
        &twice[..twice.len().min(5)]
    );
}

/// Asserts that each id is above the one before it.
#[track_caller]
pub fn assert_ascending<T: PartialOrd + Display>(ids: &[T]) {
    if let Some(place) = ids.windows(2).position(|pair| pair[0] >= pair[1]) {
        panic!(
            "id {} was followed by {} at place {place} of {}",
            ids[place],
            ids[place + 1],
            ids.len()
        );
    }
}

/// Asserts what every lane promises: the ids of each session ascend, and none occurs twice.
#[track_caller]
pub fn assert_sound(lists: &[Vec<i64>]) {
    for list in lists {
        assert_ascending(list);
    }
    assert_unique(lists);
}
