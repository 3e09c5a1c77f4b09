//! Clients of several servers at once, who mint for as long as a story lasts and keep every id.

use crate::server::session::{Place, Refusal};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Where some clients mint, and how it goes.
pub struct Post {
    /// Whose server they look for.
    pub place: Place,
    clients: Vec<Client>,
}

struct Client {
    sql: String,
    /// When it was last given an id, in milliseconds of [`Crowd`]'s time.
    last: AtomicU64,
    /// The longest time between two answers with ids, in milliseconds.
    longest: AtomicU64,
}

/// Posts, and the time since they began.
pub struct Crowd {
    /// As they were given.
    pub posts: Vec<Post>,
    began: Instant,
    stop: AtomicBool,
}

/// What all clients saw.
#[derive(Default)]
pub struct Harvest {
    /// Every id, of each client in the order in which it came.
    pub ids: Vec<Vec<i64>>,
    /// How often each error came, and what it was at first.
    pub refusals: BTreeMap<String, (usize, String)>,
}

impl Post {
    /// A client for each statement.
    #[must_use]
    pub fn new(place: Place, statements: &[&str]) -> Self {
        let client = |sql: &&str| Client {
            sql: (*sql).to_owned(),
            last: AtomicU64::new(0),
            longest: AtomicU64::new(0),
        };
        Self {
            place,
            clients: statements.iter().map(client).collect(),
        }
    }
}

impl Crowd {
    /// Clients that are at their posts, and mint from [`Crowd::while_minting`] on.
    #[must_use]
    pub fn new(posts: Vec<Post>) -> Self {
        Self {
            posts,
            began: Instant::now(),
            stop: AtomicBool::new(false),
        }
    }

    /// Runs a story while all mint.
    pub fn while_minting(&self, story: impl FnOnce()) -> Harvest {
        std::thread::scope(|scope| {
            let mut clients = Vec::new();
            for post in &self.posts {
                for client in &post.clients {
                    clients.push(scope.spawn(|| self.mint(&post.place, client)));
                }
            }
            // They must end also when the story panics, or the panic would never be seen.
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(story));
            self.stop.store(true, Ordering::Relaxed);
            let mut harvest = Harvest::default();
            for client in clients {
                let (ids, refusals) = client.join().expect("a minting client");
                harvest.ids.push(ids);
                for refusal in refusals {
                    let words = || refusal.to_string();
                    let entry = harvest.refusals.entry(refusal.code.clone());
                    entry.or_insert_with(|| (0, words())).0 += 1;
                }
            }
            if let Err(panic) = outcome {
                std::panic::resume_unwind(panic);
            }
            harvest
        })
    }

    fn mint(&self, place: &Place, client: &Client) -> (Vec<i64>, Vec<Refusal>) {
        let (mut ids, mut refusals) = (Vec::new(), Vec::new());
        let mut session = None;
        while !self.stop.load(Ordering::Relaxed) {
            let answer = match session.take() {
                Some(session) => Ok(session),
                None => place.try_connect(),
            };
            let answer = answer.and_then(|mut found| {
                let answer = found.try_column::<i64>(&client.sql);
                session = Some(found);
                answer
            });
            // Not as fast as it goes: all servers share this machine.
            let rest = match answer {
                Ok(more) => {
                    ids.extend(more);
                    let now = self.now();
                    let last = client.last.swap(now, Ordering::Relaxed);
                    client.longest.fetch_max(now - last, Ordering::Relaxed);
                    2
                }
                Err(refusal) if refusal.is_loss() => {
                    session = None;
                    30
                }
                Err(refusal) => {
                    refusals.push(refusal);
                    20
                }
            };
            std::thread::sleep(Duration::from_millis(rest));
        }
        (ids, refusals)
    }

    /// Time since the beginning, in milliseconds; never 0.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.began.elapsed().as_millis() as u64 + 1
    }

    /// The longest time for which a client had to do without ids since it was last asked this.
    #[must_use]
    pub fn silence(&self, post: usize, client: usize) -> Duration {
        let longest = &self.posts[post].clients[client].longest;
        Duration::from_millis(longest.swap(0, Ordering::Relaxed))
    }

    /// Whether a client was given an id since then.
    #[must_use]
    pub fn has_minted(&self, post: usize, client: usize, since: u64) -> bool {
        self.posts[post].clients[client]
            .last
            .load(Ordering::Relaxed)
            > since
    }
}
