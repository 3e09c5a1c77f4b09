//! A server with an assigned node: its disk, which is copied, and its memory, which is not.

use super::registry::{Answer, Refusal, Request};
use crate::rng::Rng;
use mint_core::registry::assigned_rules::{AgreedKey, KEYS, Proof};
use mint_core::{LeaseTerm, LogPoint, Micros};

/// How many keys can be unanswered.
const UNANSWERED: usize = KEYS / 2;

#[derive(Debug, Clone)]
pub struct Disk {
    origin: i64,
    keys: Vec<AgreedKey>,
    /// The counter of the last key that was agreed on.
    agreed: i64,
}

/// What a server has from its start to its end.
#[derive(Debug)]
pub struct Memory {
    pub instance: i64,
    pub lease: Option<LeaseTerm>,
    pub seen: Option<LogPoint>,
    proposed: Option<AgreedKey>,
    /// The number of the request whose answer is awaited.
    pub waits_for: Option<u64>,
    /// Whether the last answer was that the node is another server's.
    pub is_stranger: bool,
}

#[derive(Debug)]
pub struct Server {
    pub disk: Disk,
    /// None while it is down.
    pub memory: Option<Memory>,
    /// Copies of its disk, the oldest first.
    pub old: Vec<Disk>,
    /// The number of its starts.
    pub life: u32,
    pub clock_error: Micros,
    pub paused_until: Micros,
    pub cut_off_until: Micros,
}

impl Server {
    pub fn new(disk: Disk, rng: &mut Rng) -> Self {
        let mut server = Self {
            disk,
            memory: None,
            old: Vec::new(),
            life: 0,
            clock_error: rng.between(-300_000..300_000),
            paused_until: Micros::MIN,
            cut_off_until: Micros::MIN,
        };
        server.start(rng);
        server
    }

    pub fn start(&mut self, rng: &mut Rng) {
        self.life += 1;
        self.memory = Some(Memory {
            instance: rng.roll().cast_signed(),
            lease: None,
            seen: None,
            proposed: None,
            waits_for: None,
            is_stranger: false,
        });
    }

    /// Returns its next request; the key that it proposes is on its disk first, unless that is full.
    pub fn request(&mut self, now: Micros, rng: &mut Rng, is_disk_full: bool) -> Option<Request> {
        let memory = self.memory.as_mut()?;
        if memory.proposed.is_none() {
            memory.proposed = self.disk.propose(now + self.clock_error, rng, is_disk_full);
        }
        Some(Request {
            proof: Proof {
                origin: self.disk.origin,
                keys: self.disk.keys.clone(),
                next: memory.proposed,
                instance: memory.instance,
            },
            told: memory.lease,
            clock: now + self.clock_error,
            seen: memory.seen,
        })
    }

    /// Takes an answer. Returns the term that was granted.
    pub fn receive(&mut self, answer: &Answer) -> Option<LeaseTerm> {
        let memory = self.memory.as_mut()?;
        memory.seen = answer.seen.or(memory.seen);
        memory.is_stranger = matches!(answer.lease, Err(Refusal::Stranger(_)));
        match answer.lease {
            Ok(term) => {
                memory.lease = Some(term);
                if let Some(agreed) = memory.proposed.take() {
                    self.disk.agreed = agreed.counter;
                }
                return Some(term);
            }
            Err(Refusal::Stranger(_)) => memory.lease = None,
            Err(Refusal::Denied(_)) => {}
        }
        None
    }
}

impl Disk {
    pub fn new(rng: &mut Rng) -> Self {
        Self {
            origin: rng.roll().cast_signed(),
            keys: Vec::new(),
            agreed: 0,
        }
    }

    fn propose(&mut self, clock: Micros, rng: &mut Rng, is_full: bool) -> Option<AgreedKey> {
        let last = self.keys.last().copied();
        let unanswered = self.keys.iter().filter(|key| key.counter > self.agreed);
        if let Some(last) = last
            && unanswered.count() >= UNANSWERED
        {
            return Some(last);
        }
        if is_full && last.is_some() {
            return None;
        }
        let next = AgreedKey {
            counter: clock.max(last.map_or(0, |last| last.counter) + 1),
            number: rng.roll().cast_signed(),
        };
        self.keys.push(next);
        let surplus = self.keys.len().saturating_sub(KEYS);
        self.keys.drain(..surplus);
        Some(next)
    }
}
