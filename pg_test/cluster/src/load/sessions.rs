//! Many sessions at once, and the checks on what they drew.

use crate::server::process::Server;
use crate::server::session::{Place, Refusal, Session};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

/// Opens `sessions` sessions, lets them start at one moment, and returns what each drew, in the order it came.
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

/// What a client got while it kept asking.
#[derive(Default)]
pub struct Record {
    pub ids: Vec<i64>,
    pub refusals: Vec<Refusal>,
}

/// The ids of each client, and the refusals of all.
#[must_use]
pub fn split(records: Vec<Record>) -> (Vec<Vec<i64>>, Vec<Refusal>) {
    let (ids, refusals): (Vec<_>, Vec<_>) = records
        .into_iter()
        .map(|record| (record.ids, record.refusals))
        .unzip();
    (ids, refusals.into_iter().flatten().collect())
}

/// A client that keeps minting in the background, takes note of every answer, and never gives up: when it loses its
/// connection, it makes another.
pub struct Minter<'scope> {
    thread: ScopedJoinHandle<'scope, Record>,
    stop: &'scope AtomicBool,
}

impl<'scope> Minter<'scope> {
    /// Starts to ask `sql` for ids, once and again, until the flag is set.
    pub fn start(
        scope: &'scope Scope<'scope, '_>,
        place: &'scope Place,
        stop: &'scope AtomicBool,
        sql: &'scope str,
    ) -> Self {
        let thread = scope.spawn(move || {
            let mut session = None;
            let mut record = Record::default();
            while !stop.load(Ordering::Relaxed) {
                match ask(place, &mut session, sql) {
                    Ok(ids) => record.ids.extend(ids),
                    Err(refusal) if refusal.is_loss() => {
                        session = None;
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    Err(refusal) => record.refusals.push(refusal),
                }
            }
            record
        });
        Self { thread, stop }
    }

    /// Ends the asking, and returns the record.
    pub fn finish(self) -> Record {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("a minting client")
    }
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

/// Runs `story` while one client each keeps asking each statement; returns their records.
pub fn while_asking(place: &Place, statements: &[&str], story: impl FnOnce()) -> Vec<Record> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let minters: Vec<_> = statements
            .iter()
            .map(|sql| Minter::start(scope, place, &stop, sql))
            .collect();
        // The minters must end also when the story panics, or the panic would never be seen.
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(story));
        let records: Vec<_> = minters.into_iter().map(Minter::finish).collect();
        if let Err(panic) = outcome {
            std::panic::resume_unwind(panic);
        }
        records
    })
}

/// No id twice, in whichever list.
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

/// Each id above the one before it.
#[track_caller]
pub fn assert_ascending(ids: &[i64]) {
    if let Some(place) = ids.windows(2).position(|pair| pair[0] >= pair[1]) {
        panic!(
            "id {} was followed by {} at place {place} of {}",
            ids[place],
            ids[place + 1],
            ids.len()
        );
    }
}

/// What holds for every session on any lane: its ids ascend, and no other has them.
#[track_caller]
pub fn assert_sound(lists: &[Vec<i64>]) {
    for list in lists {
        assert_ascending(list);
    }
    assert_unique(lists);
}
