//! The history of the leader key: which node had it from when to when.

use crate::patroni::etcd::Etcd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time between two looks at the key.
const INTERVAL: Duration = Duration::from_millis(25);

/// A time for which a node had the leader key, in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    node: String,
    from: u64,
    until: u64,
}

/// The terms so far.
pub struct Terms {
    began: Instant,
    /// The terms, and whether the key is in the last one's hands.
    terms: Mutex<(Vec<Term>, bool)>,
}

impl Terms {
    /// Begins with no terms.
    #[must_use]
    pub fn new() -> Self {
        Self {
            began: Instant::now(),
            terms: Mutex::new((Vec::new(), false)),
        }
    }

    /// Returns the milliseconds since the start.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    fn lock(&self) -> MutexGuard<'_, (Vec<Term>, bool)> {
        self.terms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the key again and again until the flag is set.
    pub fn watch(&self, etcd: &Etcd, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let asked = self.now();
            if let Some(leader) = etcd.leader() {
                self.note(leader, asked, self.now());
            }
            std::thread::sleep(INTERVAL);
        }
    }

    /// Notes who has the key, as read between two times. A term lasts until the key is found in other hands: while etcd does
    /// not answer, nobody else can get it.
    fn note(&self, leader: Option<String>, asked: u64, answered: u64) {
        let (terms, is_held) = &mut *self.lock();
        if let Some(last) = terms.last_mut().filter(|_| *is_held) {
            last.until = answered;
            if leader.as_ref() == Some(&last.node) {
                return;
            }
        }
        *is_held = leader.is_some();
        terms.extend(leader.map(|node| Term {
            node,
            from: asked,
            until: answered,
        }));
    }

    /// Waits until the key was read after a time.
    pub fn wait_until_read(&self, time: u64) {
        while self.lock().0.last().is_none_or(|last| last.until <= time) {
            std::thread::sleep(INTERVAL);
        }
    }

    /// Returns whether the node had the leader key from the one time to the other.
    #[must_use]
    pub fn has_held(&self, node: &str, from: u64, until: u64) -> bool {
        let (terms, _) = &*self.lock();
        let covers = |term: &&Term| term.node == node && term.from <= from && until <= term.until;
        terms.iter().rev().any(|term| covers(&term))
    }

    /// Returns how long before a time the node had the key last.
    #[must_use]
    pub fn since_held(&self, node: &str, at: u64) -> Option<Duration> {
        let (terms, _) = &*self.lock();
        let earlier = |term: &&Term| term.node == node && term.from <= at;
        let last = terms.iter().rev().find(earlier)?;
        Some(Duration::from_millis(at.saturating_sub(last.until)))
    }

    /// Returns who has the key, if that is known.
    #[must_use]
    pub fn holder(&self) -> Option<String> {
        let (terms, is_held) = &*self.lock();
        let last = terms.last().filter(|_| *is_held)?;
        Some(last.node.clone())
    }
}

impl Default for Terms {
    fn default() -> Self {
        Self::new()
    }
}

#[test]
fn a_term_ends_when_the_key_is_in_other_hands() {
    let terms = Terms::new();
    terms.note(Some("n1".into()), 10, 11);
    terms.note(Some("n1".into()), 20, 21);
    terms.note(None, 30, 31);
    terms.note(Some("n2".into()), 40, 41);
    assert!(terms.has_held("n1", 10, 31));
    assert!(!terms.has_held("n1", 10, 32));
    assert!(!terms.has_held("n2", 39, 41));
    assert_eq!(terms.since_held("n1", 50), Some(Duration::from_millis(19)));
    assert_eq!(terms.holder().as_deref(), Some("n2"));
}
