//! The nodes that are assigned to this server, and how it shows the registry that they are its own: see
//! [`assigned_rules`](mint_core::registry::assigned_rules).
//!
//! A file of the data directory has the keys that this server and the registry have agreed on; the next one is written
//! before the registry hears of it. With the file, a server that gets no answer at all from the registry can mint as its
//! node without a lease, for as long as `pg_mint.registry_max_outage` allows. Once the registry answers, whatever that is,
//! only a lease counts; and a server that was answered before it had one since its start, as a copy is, needs one ever after. A
//! file that is not understood is left as it is.
//!
//! Where the server is, its host name and directory, is told to people. It decides one thing: a server that was started
//! elsewhere, as a copy is, does not begin to mint before the registry answers.

use crate::pg::error;
use crate::pg::machine::{clock, host, random, server};
use crate::pg::worker::transaction::{Failure, one_line};
use crate::registry::member::assigned_file::{AssignedFile, LastGrant};
use crate::registry::member::end::{abandon, shorten};
use crate::registry::member::memory::assigned::Said;
use crate::registry::member::memory::leases;
use crate::registry::member::memory::slot::LeaseSlot;
use crate::registry::protocol::{Assignee, LeaseAnswer, NumberedTerm};
use crate::registry::settings;
use mint_core::registry::assigned_rules::{AgreedKey, KEYS, Proof};
use mint_core::registry::lease_rules::LARGEST_SKEW;
use mint_core::{LeaseTerm, Micros};
use std::collections::BTreeMap;
use std::ptr;

/// For how long a server mints as its assigned node without a lease, unless it has tried again to get one: that is a second
/// later, and takes about three.
const WITHOUT_LEASE: Micros = 6_000_000;
/// How long before the end of a lease this begins: a request that is not answered takes three seconds.
const BEFORE_THE_END: Micros = 5_000_000;
/// The number of that time where no lease was held before it.
const NO_LEASE: i64 = -1;
/// How much of its place the server tells, in characters.
const LONGEST_PLACE: usize = 100;
/// How many keys can be unanswered.
const UNANSWERED: usize = KEYS / 2;

/// What the worker has of the file and of its requests.
#[derive(Default)]
pub struct AssignedNodes {
    memory: Option<AssignedFile>,
    /// For each width, the key that was proposed, and that no answer has accepted.
    proposed: BTreeMap<u32, AgreedKey>,
    /// For each width, the end of the last lease that was granted.
    until: BTreeMap<u32, Micros>,
}

impl AssignedNodes {
    /// Returns what the registry is told of this server. The file has it from then on.
    ///
    /// # Errors
    /// When the file is not understood, or could not be written and has no key yet.
    pub fn describe(&mut self, width: u32) -> Result<Assignee, String> {
        let next = self.propose(width)?;
        let memory = self.memory()?;
        let known = memory.nodes.get(&width);
        Ok(Assignee {
            place: place().chars().take(LONGEST_PLACE).collect(),
            max_outage: settings::max_outage(),
            proof: Proof {
                origin: memory.origin,
                instance: leases::memory().assigned.instance(),
                keys: known.map_or_else(Vec::new, |known| known.keys.clone()),
                next,
            },
        })
    }

    /// Returns the key to agree on next, which the file has. None if it cannot be written: a lease is renewed with the key
    /// of before.
    fn propose(&mut self, width: u32) -> Result<Option<AgreedKey>, String> {
        if let Some(&proposed) = self.proposed.get(&width) {
            return Ok(Some(proposed));
        }
        let mut memory = self.memory()?.clone();
        let known = memory.nodes.entry(width).or_default();
        let last = known.keys.last().copied();
        let unanswered = known.keys.iter().filter(|key| key.counter > known.agreed);
        let next = match last {
            // Of a worker that got no answer, as those before it.
            Some(last) if unanswered.count() >= UNANSWERED => last,
            _ => {
                // By the clock: of two servers that continue from the same key, the counters say which one was later.
                let counter = last.map_or(0, |last| last.counter).saturating_add(1);
                let next = AgreedKey {
                    counter: counter.max(clock::now()),
                    number: random::bits().cast_signed(),
                };
                known.keys.push(next);
                let surplus = known.keys.len().saturating_sub(KEYS);
                known.keys.drain(..surplus);
                match memory.write() {
                    Ok(()) => self.memory = Some(memory),
                    Err(why) if last.is_none() => return Err(why),
                    Err(why) => {
                        error::log(why);
                        return Ok(None);
                    }
                }
                next
            }
        };
        self.proposed.insert(width, next);
        Ok(Some(next))
    }

    /// Returns what the file says, which is read once.
    fn memory(&mut self) -> Result<&mut AssignedFile, String> {
        let memory = match self.memory.take() {
            Some(memory) => memory,
            None => AssignedFile::read()?,
        };
        Ok(self.memory.insert(memory))
    }

    /// Returns the lease of the assigned node that is held in memory, with its number.
    pub fn held(&self, width: u32) -> Option<NumberedTerm> {
        let slot = leases::any_slot(width)?;
        let id = slot.id().filter(|&id| id != NO_LEASE)?;
        let mut term = slot.term();
        if let Some(&granted) = self.until.get(&width) {
            term.until = term.until.min(granted);
        }
        Some(NumberedTerm { id, term })
    }

    /// Follows what the registry has answered about the node that is assigned to this server. If it did not answer at all,
    /// the server mints as the node that it knows. `told`: the longest outage that the request named. `now`: when it had ended.
    ///
    /// # Errors
    /// Why there is no lease.
    pub fn settle(
        &mut self,
        width: u32,
        told: Option<Micros>,
        now: Micros,
        answer: Result<LeaseAnswer, Failure>,
    ) -> Result<(), String> {
        match answer {
            Ok(answer) => {
                let (is_stranger, is_unassigned) = (answer.is_stranger, answer.is_unassigned);
                let (lease, nodes) = answer.granted().inspect_err(|_| {
                    let said = leases::memory().assigned.said(width);
                    if is_stranger || is_unassigned || said == Said::Nothing {
                        leases::memory().assigned.set_said(width, Said::No);
                    }
                    if is_stranger {
                        self.remember_stranger(width);
                    }
                    self.end_unless_leased(width, is_stranger);
                })?;
                let node = *nodes.start();
                leases::memory().assigned.set_said(width, Said::Yes);
                self.remember((width, node), told, lease.term.until);
                self.until.insert(width, lease.term.until);
                slot_for(width, node)?.continue_as(lease.id, lease.term);
                Ok(())
            }
            Err(Failure { why, is_silent, .. }) => {
                if !is_silent {
                    if leases::memory().assigned.said(width) == Said::Nothing {
                        leases::memory().assigned.set_said(width, Said::No);
                    }
                    self.end_unless_leased(width, false);
                    return Err(why);
                }
                Err(match self.continue_without_lease(width, now) {
                    Ok(None) => why,
                    Ok(Some(node)) => {
                        format!("{why}; ids are generated as assigned node {node} without a lease")
                    }
                    Err(reason) => format!("{why}; {reason}"),
                })
            }
        }
    }

    /// Ends what this server mints under without a lease, as the registry answers: a lease that was granted lasts until its
    /// end, unless another server has one.
    fn end_unless_leased(&self, width: u32, is_stranger: bool) {
        let Some(slot) = leases::any_slot(width).filter(|slot| slot.id().is_some()) else {
            return;
        };
        if !is_stranger && self.is_leased(width, slot) {
            return;
        }
        let lasts = |&granted: &Micros| {
            !is_stranger && slot.id() != Some(NO_LEASE) && granted > clock::now()
        };
        match self.until.get(&width).copied().filter(lasts) {
            Some(granted) => {
                shorten(slot, granted);
            }
            None => abandon(slot),
        }
    }

    /// Returns whether what the slot has was granted, all of it.
    fn is_leased(&self, width: u32, slot: &LeaseSlot) -> bool {
        let granted = self.until.get(&width).copied();
        slot.id().is_some_and(|id| id != NO_LEASE)
            && granted.is_none_or(|granted| slot.lease().until() <= granted)
    }

    /// Lets the server mint as the node that it knows, if its lease ends soon and the settings allow that. Returns the node.
    fn continue_without_lease(&mut self, width: u32, now: Micros) -> Result<Option<u64>, String> {
        let held = leases::any_slot(width).filter(|slot| self.is_leased(width, slot));
        let end = held.map_or(now, |slot| slot.lease().until());
        if end > now + BEFORE_THE_END {
            return Ok(None);
        }
        let (node, limit) = self.recall(width, now)?;
        let slot = slot_for(width, node)?;
        let id = slot.id().unwrap_or(NO_LEASE);
        let until = (now + WITHOUT_LEASE).min(limit);
        if id != NO_LEASE {
            self.until.entry(width).or_insert(now.max(end));
        }
        let term = slot.term();
        // A lease that lasts continues, so that the registry is told of all of it.
        let from = if term.until > now { term.from } else { now };
        slot.continue_as(id, LeaseTerm { from, until });
        Ok(Some(node))
    }

    /// Returns the node that was leased last, not longer ago than the settings allow, and until when they do.
    ///
    /// # Errors
    /// When it must not be used without the registry.
    fn recall(&mut self, width: u32, now: Micros) -> Result<(u64, Micros), String> {
        let known = self.memory()?.nodes.get(&width);
        let Some((known, grant)) = known.and_then(|known| Some((known, known.grant.as_ref()?)))
        else {
            return Err("this server has not leased an assigned node yet".to_owned());
        };
        let said = leases::memory().assigned.said(width);
        let limits = [grant.max_outage, settings::max_outage()];
        let limit = limits.into_iter().flatten().min().unwrap_or(Micros::MAX);
        let limit = grant.at.saturating_add(limit);
        let reason = if known.is_stranger {
            "another server has it"
        } else if said == Said::No {
            "the registry has answered since this server was started, and has not leased it"
        } else if grant.registry != settings::registry_key() {
            "it was leased at another registry"
        } else if now >= limit {
            "the registry leased it longer ago than \"pg_mint.registry_max_outage\" allows"
        } else if now - grant.at < -LARGEST_SKEW {
            "the clock is behind the time at which it was leased"
        } else if said == Said::Nothing && grant.place != place() {
            return Err(format!(
                "this server might be a copy, as node {} was last leased at {}",
                grant.node,
                one_line(&grant.place)
            ));
        } else {
            return Ok((grant.node, limit));
        };
        Err(format!(
            "assigned node {} cannot be used meanwhile, as {reason}",
            grant.node
        ))
    }

    /// Remembers that another server has the node, also after a restart.
    fn remember_stranger(&mut self, width: u32) {
        let known = self.memory.as_mut().map(|memory| {
            let known = memory.nodes.entry(width).or_default();
            std::mem::replace(&mut known.is_stranger, true)
        });
        if known == Some(false) {
            self.save();
        }
    }

    /// Writes the file. If that fails, it is written later.
    fn save(&self) {
        if let Some(Err(why)) = self.memory.as_ref().map(AssignedFile::write) {
            error::log(why);
        }
    }

    /// Remembers that the registry has leased a node, and keeps it for so long. The file, by which the server can start
    /// again while the registry is away, follows at the next proposal, or now if that is new. A file that cannot be written
    /// costs no lease.
    fn remember(&mut self, (width, node): (u32, u64), max_outage: Option<Micros>, until: Micros) {
        let proposed = self.proposed.remove(&width);
        let Some(memory) = &mut self.memory else {
            return;
        };
        let known = memory.nodes.entry(width).or_default();
        if let Some(agreed) = proposed {
            known.agreed = agreed.counter;
        }
        let before = known.grant.take();
        let grant = LastGrant {
            node,
            registry: settings::registry_key(),
            max_outage,
            // The answer can be one that this process slept over.
            at: clock::now().min(until),
            place: place(),
        };
        let was_stranger = std::mem::take(&mut known.is_stranger);
        let is_known = before.is_some_and(|before| {
            LastGrant {
                at: grant.at,
                ..before
            } == grant
        });
        known.grant = Some(grant);
        if !is_known || was_stranger {
            self.save();
        }
    }
}

/// Returns where this server is: its machine and its data directory.
fn place() -> String {
    let host = host::name();
    let host = String::from_utf8_lossy(&host);
    format!("{host}:{}", server::data_directory())
}

/// Returns the slot of the node. If this server had another one, it mints no more as that.
fn slot_for(width: u32, node: u64) -> Result<&'static LeaseSlot, String> {
    let slot = leases::slot_for(width, &(node..=node)).ok_or(leases::NO_ROOM)?;
    let before = leases::any_slot(width).filter(|&before| !ptr::eq(before, slot));
    before.into_iter().for_each(abandon);
    leases::set_any_slot(width, slot);
    Ok(slot)
}
