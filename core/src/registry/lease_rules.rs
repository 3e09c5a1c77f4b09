//! The rules by which a registry of nodes grants and renews leases.
//!
//! A lease begins now, never before, and after the last one of its nodes has ended. It ends at most one length from
//! now. So every grant that a registry has forgotten is past one length later: after it was started, restored or
//! failed over, it waits for that long (a *quarantine*) and can then grant again. Meanwhile leases that have not ended
//! continue: no other member can have been granted their nodes.
//!
//! Where grants are kept, and how requests reach the registry, is the caller's: in tables and by SQL, or in the
//! memory of a simulation.

use crate::clock::Micros;
use std::cmp::Ordering;

/// A registry's rules and memory, less its grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registry {
    /// How long a lease is.
    pub length: Micros,
    /// How long the longest lease was that it ever granted.
    pub longest: Micros,
    /// How far a server's clock may be from the registry's.
    pub max_skew: Micros,
    /// No lease begins before it: the latest end of grants that are no longer kept.
    pub horizon: Micros,
    /// Nothing is granted before it.
    pub quarantine: Micros,
    /// The registry's identity.
    pub identity: Identity,
}

/// The identity of a registry, which changes when the registry may have forgotten something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Identity {
    /// The identifier of the database system. Another one was restored from a dump.
    pub system: u64,
    /// The timeline of its log. Another one was promoted, or restored to a point in time.
    pub timeline: u32,
    /// The start of its server. Another one may run on an old copy of the disk.
    pub start: Micros,
    /// Counts quarantines, also those under earlier identities.
    pub incarnation: u32,
}

/// A point in the history of a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogPoint {
    /// The registry.
    pub identity: Identity,
    /// The position in its log.
    pub position: u64,
}

/// The term of a lease of id time: from the first timestamp, up to but not the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTerm {
    /// Its first timestamp.
    pub from: Micros,
    /// The first timestamp after it.
    pub until: Micros,
}

/// Reason why a registry grants nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denial {
    /// The asking server's clock is `ahead` of the registry's; negative when behind.
    Skew {
        /// By how much.
        ahead: Micros,
    },
    /// The registry may have forgotten grants, and waits until they are past.
    Quarantine {
        /// For how long.
        left: Micros,
    },
    /// Another lease of one of the nodes lasts until then.
    Leased {
        /// When the node can be leased at the earliest.
        until: Micros,
    },
    /// The registry knows no such lease: the member has to request a new one.
    Lost,
}

impl Registry {
    /// Returns a new registry, which has granted nothing yet.
    #[must_use]
    pub const fn new(length: Micros, max_skew: Micros, identity: Identity) -> Self {
        Self {
            length,
            longest: length,
            max_skew,
            horizon: Micros::MIN,
            quarantine: Micros::MIN,
            identity,
        }
    }

    /// Begins a quarantine at `now`.
    pub fn quarantine(&mut self, now: Micros) {
        let end = now
            .saturating_add(self.longest.max(self.length))
            .saturating_add(self.max_skew);
        self.quarantine = self.quarantine.max(end);
        self.identity.incarnation = self.identity.incarnation.saturating_add(1);
    }

    /// Detects that the registry has forgotten something since the last request, or knows less than the requesting server
    /// has `seen`. The first step for each request of a server whose clock agrees. Returns true when it has: the changed
    /// registry must be stored before the next step.
    ///
    /// `here` is the registry's identity now (its incarnation does not count), and where its log ends.
    pub fn detect_state_loss(
        &mut self,
        now: Micros,
        here: LogPoint,
        seen: Option<LogPoint>,
    ) -> bool {
        let mine = self.identity;
        let is = Identity {
            incarnation: mine.incarnation,
            ..here.identity
        };
        // A server that has seen a later incarnation, or this one with another identity or with more in its log, has
        // seen the history of another copy.
        let less = seen.is_some_and(|LogPoint { identity, position }| {
            match identity.incarnation.cmp(&mine.incarnation) {
                Ordering::Less => false,
                Ordering::Equal => identity != mine || position > here.position,
                Ordering::Greater => true,
            }
        });
        let forgot = is != mine || less;
        if forgot {
            let latest = seen.map_or(0, |seen| seen.identity.incarnation);
            let incarnation = mine.incarnation.max(latest);
            self.identity = Identity { incarnation, ..is };
            self.quarantine(now);
        }
        forgot
    }

    /// Checks that a server's clock and the registry's agree. If not, the registry's may be the wrong one: then it must
    /// not [`Registry::detect_state_loss`] either, as a quarantine by that clock could end at once when it is corrected.
    ///
    /// # Errors
    /// When they do not.
    pub fn check_clock(&self, now: Micros, clock: Micros) -> Result<(), Denial> {
        let ahead = clock.saturating_sub(now);
        if ahead.saturating_abs() > self.max_skew {
            return Err(Denial::Skew { ahead });
        }
        Ok(())
    }

    /// Checks that a server with a clock at `clock` may be granted anything at `now`. `told` is the term of the lease that
    /// it asks to renew, by its own account.
    ///
    /// # Errors
    /// When it may not.
    pub fn admit(&self, now: Micros, clock: Micros, told: Option<LeaseTerm>) -> Result<(), Denial> {
        self.check_clock(now, clock)?;
        // It has not ended by any clock that a registry may have had, so no other member has been granted its nodes.
        let lasts = |told: LeaseTerm| told.until > now.saturating_add(self.max_skew);
        if now < self.quarantine && !told.is_some_and(lasts) {
            let left = self.quarantine.saturating_sub(now);
            return Err(Denial::Quarantine { left });
        }
        Ok(())
    }

    /// Returns the term of a new lease. `others` are the ends of all leases of any of its nodes.
    ///
    /// # Errors
    /// While any of them lasts.
    pub fn grant(
        &self,
        now: Micros,
        others: impl IntoIterator<Item = Micros>,
    ) -> Result<LeaseTerm, Denial> {
        let until = others.into_iter().fold(self.horizon, Micros::max);
        if until > now {
            return Err(Denial::Leased { until });
        }
        Ok(LeaseTerm {
            from: now,
            until: now.saturating_add(self.length),
        })
    }

    /// Returns the renewed term of a lease of a server that was admitted. `kept` is its term as the registry knows it,
    /// `told` as the server does, and `others` are the ends of all other leases of any of its nodes.
    ///
    /// In quarantine the server is trusted, as the registry may have forgotten its grant. Once a lease has ended, others
    /// may have had its nodes, which may be forgotten too: it is renewed with a new term.
    ///
    /// # Errors
    /// When the registry knows nothing of it, or while another lease lasts.
    pub fn renew(
        &self,
        now: Micros,
        kept: Option<LeaseTerm>,
        told: LeaseTerm,
        others: impl IntoIterator<Item = Micros>,
    ) -> Result<LeaseTerm, Denial> {
        let term = if now < self.quarantine {
            told
        } else {
            kept.ok_or(Denial::Lost)?
        };
        if term.until <= now {
            return self.grant(now, others);
        }
        match others.into_iter().max() {
            Some(until) if until > now => Err(Denial::Leased { until }),
            _ => Ok(LeaseTerm {
                from: term.from,
                until: term.until.max(now.saturating_add(self.length)),
            }),
        }
    }
}

/// Returns how long a server waits before its next request: half of the lease's `length` when it was granted one, and
/// not long when it was denied. So its traffic does not depend on how many others there are.
#[must_use]
pub const fn request_interval(length: Micros, granted: bool) -> Micros {
    const SECOND: Micros = 1_000_000;
    if granted {
        length / 2
    } else if length < 4 * SECOND {
        length / 4
    } else {
        SECOND
    }
}
