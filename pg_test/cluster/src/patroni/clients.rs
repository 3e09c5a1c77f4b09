//! Clients of a cluster under Patroni: programs on other machines, which look for the primary, and programs on each of its
//! machines, which use the server there for as long as it takes them.

use crate::load::sessions::run_then_stop;
use crate::patroni::node::Node;
use crate::patroni::terms::Terms;
use crate::server::session::{Refusal, Session};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Scope, sleep};
use std::time::{Duration, Instant};

/// Ids that came with one answer.
pub struct Answer {
    /// The number of the node.
    pub node: u8,
    /// When it was asked for and when it came ([`Terms::now`]).
    pub asked: u64,
    pub answered: u64,
    /// True if the client was on another machine.
    pub outside: bool,
    /// True if the ids were committed, as ids of rows.
    pub stored: bool,
    pub ids: Vec<i64>,
}

/// Everything that clients were answered.
#[derive(Default)]
pub struct Answers {
    pub answers: Vec<Answer>,
    /// The number of errors of each SQLSTATE, and the last one.
    pub refusals: BTreeMap<String, (usize, String)>,
}

/// The clients.
pub struct Clients<'a> {
    nodes: &'a [Node],
    terms: &'a Terms,
    answers: Mutex<Answers>,
    stop: AtomicBool,
}

/// Clients on other machines: eight with one on each of three machines.
const OUTSIDE: usize = 5;
/// Ids that a client asks for at once.
const MANY: u32 = 20;
/// The time after which a client without an answer connects again.
const PATIENCE: Duration = Duration::from_secs(3);
const REST: Duration = Duration::from_millis(20);
/// The rest of a client after an error.
const PAUSE: Duration = Duration::from_millis(100);

impl<'a> Clients<'a> {
    /// Creates the clients, which mint during [`Clients::while_minting`].
    #[must_use]
    pub fn new(nodes: &'a [Node], terms: &'a Terms) -> Self {
        Self {
            nodes,
            terms,
            answers: Mutex::default(),
            stop: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the answers since the last call.
    pub fn take(&self) -> Answers {
        std::mem::take(&mut *self.lock())
    }

    /// Runs a story while the clients mint.
    pub fn while_minting<T>(&self, story: impl FnOnce() -> T) -> T {
        std::thread::scope(|scope| {
            for number in 0..OUTSIDE {
                scope.spawn(move || self.keep_one_busy(scope, number, None));
            }
            for (number, node) in self.nodes.iter().enumerate() {
                scope.spawn(move || self.keep_one_busy(scope, number, Some(node)));
            }
            run_then_stop(&self.stop, story)
        })
    }

    /// Keeps one client at work: one that has had no answer for a while is replaced. When it gets its answer after all, it
    /// notes it and ends.
    fn keep_one_busy<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        number: usize,
        at: Option<&'scope Node>,
    ) {
        while !self.stop.load(Ordering::Relaxed) {
            let work = std::sync::Arc::new(Work::default());
            work.seen.store(self.terms.now(), Ordering::Relaxed);
            let its = std::sync::Arc::clone(&work);
            scope.spawn(move || self.work(number, at, &its));
            let is_at_work = || {
                let seen = work.seen.load(Ordering::Relaxed);
                self.terms.now().saturating_sub(seen) < PATIENCE.as_millis() as u64
            };
            while is_at_work() && !self.stop.load(Ordering::Relaxed) {
                sleep(PAUSE);
            }
            work.is_replaced.store(true, Ordering::Relaxed);
        }
    }

    /// Asks for ids again and again.
    fn work(&self, number: usize, at: Option<&Node>, work: &Work) {
        // The first of each kind stores its ids.
        let sql = match number {
            0 => format!(
                "INSERT INTO message (id) SELECT snowflake_next_id() FROM generate_series(1, {MANY}) RETURNING id"
            ),
            _ => format!("SELECT snowflake_next_id() FROM generate_series(1, {MANY})"),
        };
        let mut session: Option<(u8, Session)> = None;
        let mut attempt = number;
        while !self.stop.load(Ordering::Relaxed) && !work.is_replaced.load(Ordering::Relaxed) {
            let node = at.unwrap_or(&self.nodes[attempt % self.nodes.len()]);
            let found = match session.take() {
                Some(session) => Ok(session),
                None => connect(node, at.is_none()).map(|session| (node.number, session)),
            };
            let asked = self.terms.now();
            let answer = found.and_then(|(node, mut found)| {
                let ids = found.try_column::<i64>(&sql)?;
                session = Some((node, found));
                Ok((node, ids))
            });
            let answered = self.terms.now();
            work.seen.store(answered, Ordering::Relaxed);
            match answer {
                Ok((node, ids)) => {
                    self.lock().answers.push(Answer {
                        node,
                        asked,
                        answered,
                        outside: at.is_none(),
                        stored: number == 0,
                        ids,
                    });
                    sleep(REST);
                }
                Err(refusal) => {
                    attempt += 1;
                    // Every client gets these errors until there is a primary, so they have no line.
                    if !refusal.is_loss() && refusal.code != "25006" {
                        let mut answers = self.lock();
                        let entry = answers.refusals.entry(refusal.code.clone()).or_default();
                        *entry = (entry.0 + 1, refusal.to_string());
                    }
                    sleep(PAUSE);
                }
            }
        }
    }
}

/// Messages between a client and the thread that watches it.
#[derive(Default)]
struct Work {
    /// When it was last answered.
    seen: AtomicU64,
    is_replaced: AtomicBool,
}

/// Opens a session; on another machine only if the server takes writes, as `target_session_attrs=read-write` does.
fn connect(node: &Node, outside: bool) -> Result<Session, Refusal> {
    let begun = Instant::now();
    let config = if outside {
        node.outside()
    } else {
        node.inside()
    };
    let lost = |error: postgres::Error| Refusal::new(&error, begun.elapsed());
    let mut session = Session::open(&config).map_err(lost)?;
    if outside {
        // Raises 25006 on a standby.
        session.try_run("BEGIN READ WRITE; COMMIT")?;
    }
    Ok(session)
}
