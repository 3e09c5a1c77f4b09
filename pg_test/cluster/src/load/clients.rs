//! Clients of several servers at once, which mint while a story runs and keep every id.

use crate::load::sessions::run_then_stop;
use crate::server::session::{Place, Refusal};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The rest of a client after each answer with ids.
const REST: Duration = Duration::from_millis(10);

/// Clients of one server.
pub struct Group {
    /// The place to which they connect.
    pub place: Place,
    /// The number of changes of their place.
    moves: AtomicUsize,
    clients: Vec<Client>,
}

struct Client {
    sql: String,
    /// Time of its last id, in milliseconds ([`Clients::now`]).
    last: AtomicU64,
    /// The longest time between two answers with ids, in milliseconds.
    longest: AtomicU64,
}

/// Groups of clients.
pub struct Clients {
    /// One group for each server.
    pub groups: Vec<Group>,
    count: AtomicUsize,
    began: Instant,
    stop: AtomicBool,
}

/// Everything that the clients were answered.
#[derive(Default)]
pub struct Answers {
    /// The ids of each client, in the order in which they came.
    pub ids: Vec<Vec<i64>>,
    /// The number of errors of each SQLSTATE, and the first one.
    pub refusals: BTreeMap<String, (usize, String)>,
}

impl Group {
    /// Creates a client for each statement.
    #[must_use]
    pub fn new(place: Place, statements: &[&str]) -> Self {
        let client = |sql: &&str| Client {
            sql: (*sql).to_owned(),
            last: AtomicU64::new(0),
            longest: AtomicU64::new(0),
        };
        Self {
            place,
            moves: AtomicUsize::new(0),
            clients: statements.iter().map(client).collect(),
        }
    }
}

impl Clients {
    /// Creates clients, which start to mint with [`Clients::while_minting`].
    #[must_use]
    pub fn new(groups: Vec<Group>) -> Self {
        Self {
            groups,
            count: AtomicUsize::new(0),
            began: Instant::now(),
            stop: AtomicBool::new(false),
        }
    }

    /// Returns how many ids the clients got so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Runs a story while all clients mint.
    pub fn while_minting(&self, story: impl FnOnce()) -> Answers {
        std::thread::scope(|scope| {
            let mut clients = Vec::new();
            for group in &self.groups {
                for client in &group.clients {
                    clients.push(scope.spawn(|| self.mint(group, client)));
                }
            }
            run_then_stop(&self.stop, story);
            let mut answers = Answers::default();
            for client in clients {
                let (ids, refusals) = client.join().expect("a minting client");
                answers.ids.push(ids);
                for refusal in refusals {
                    let words = || refusal.to_string();
                    let entry = answers.refusals.entry(refusal.code.clone());
                    entry.or_insert_with(|| (0, words())).0 += 1;
                }
            }
            answers
        })
    }

    fn mint(&self, group: &Group, client: &Client) -> (Vec<i64>, Vec<Refusal>) {
        let (mut ids, mut refusals) = (Vec::new(), Vec::new());
        let (mut session, mut moves) = (None, 0);
        while !self.stop.load(Ordering::Relaxed) {
            let before = std::mem::replace(&mut moves, group.moves.load(Ordering::SeqCst));
            let answer = match session.take().filter(|_| before == moves) {
                Some(session) => Ok(session),
                None => group.place.try_connect(),
            };
            let answer = answer.and_then(|mut found| {
                let answer = found.try_column::<i64>(&client.sql);
                session = Some(found);
                answer
            });
            // All servers share this machine, so clients pause between calls.
            let rest = match answer {
                Ok(more) => {
                    self.count.fetch_add(more.len(), Ordering::Relaxed);
                    ids.extend(more);
                    // A question from before a move was answered by another server.
                    let now = match moves == group.moves.load(Ordering::SeqCst) {
                        true => self.now(),
                        false => client.last.load(Ordering::Relaxed),
                    };
                    let last = client.last.swap(now, Ordering::Relaxed);
                    client.longest.fetch_max(now - last, Ordering::Relaxed);
                    REST
                }
                Err(refusal) if refusal.is_loss() => {
                    session = None;
                    Duration::from_millis(30)
                }
                Err(refusal) => {
                    refusals.push(refusal);
                    Duration::from_millis(20)
                }
            };
            std::thread::sleep(rest);
        }
        (ids, refusals)
    }

    /// Leads the clients of a group to another server, also those with a session on one that lives on. Returns the time:
    /// what they get after it is of that server.
    pub fn lead(&self, group: usize, place: &Place) -> u64 {
        let group = &self.groups[group];
        group.place.move_to(place);
        group.moves.fetch_add(1, Ordering::SeqCst);
        self.now()
    }

    /// Returns the milliseconds since the start, never 0.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.began.elapsed().as_millis() as u64 + 1
    }

    /// Returns the longest time in which a client got no id since the last call, up to now.
    #[must_use]
    pub fn silence(&self, group: usize, client: usize) -> Duration {
        let client = &self.groups[group].clients[client];
        let longest = client.longest.swap(0, Ordering::Relaxed);
        let last = client.last.load(Ordering::Relaxed);
        Duration::from_millis(longest.max(self.now().saturating_sub(last)))
    }

    /// Returns whether a client got an id after `since`.
    #[must_use]
    pub fn has_minted(&self, group: usize, client: usize, since: u64) -> bool {
        self.groups[group].clients[client]
            .last
            .load(Ordering::Relaxed)
            > since
    }
}
