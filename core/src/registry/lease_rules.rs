//! The rules by which a registry of nodes grants and renews leases.
//!
//! A lease begins now, never before, and after the last one of its nodes has ended. It ends at most
//! [`LONGEST_LEASE`] from now. So every grant that a registry has forgotten is past that much later: after it was started,
//! restored or failed over, it waits for [`QUARANTINE`] and can then grant again. Both are constants, as a length that is
//! kept in tables can be forgotten with them. Meanwhile leases that have not ended continue, by the word of their
//! holders: no other member can have been granted their nodes.
//!
//! Where grants are kept, and how requests reach the registry, is the caller's: in tables and by SQL, or in the
//! memory of a simulation.

use crate::clock::Micros;
use crate::registry::identity::{Identity, Incarnation, LogPoint};

const SECOND: Micros = 1_000_000;

/// The shortest lease that a registry grants.
pub const SHORTEST_LEASE: Micros = 5 * SECOND;
/// The longest lease that a registry grants.
pub const LONGEST_LEASE: Micros = 60 * SECOND;
/// How far the clocks of members, of the registry and of its copies may be from each other at most.
pub const LARGEST_SKEW: Micros = 10 * SECOND;
/// How long a registry that can have forgotten something grants nothing new: until all that it can have granted is past.
pub const QUARANTINE: Micros = LONGEST_LEASE + LARGEST_SKEW;
/// The longest time in which a restart can be planned.
pub const LONGEST_RESTART: Micros = 3_600 * SECOND;
/// How long, after a quarantine, no word of a member begins another: the turn of those that have waited.
pub const TURN: Micros = LONGEST_LEASE / 2;

/// A registry's rules and memory, less its grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registry {
    /// How long a lease is.
    pub length: Micros,
    /// How far a server's clock may be from the registry's, and the registry's from that of its copies.
    pub max_skew: Micros,
    /// No lease begins before it: the latest end of grants that are no longer kept.
    pub horizon: Micros,
    /// Nothing is granted before it.
    pub quarantine: Micros,
    /// Until then, the next start of its server is one that was planned.
    pub restart_until: Micros,
    /// The registry's identity.
    pub identity: Identity,
}

/// The term of a lease of id time: from the first timestamp, up to but not the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LeaseTerm {
    /// Its first timestamp.
    pub from: Micros,
    /// The first timestamp after it.
    pub until: Micros,
}

impl LeaseTerm {
    /// Returns whether a lease that a member tells of is one that lasts, and that a registry can have granted: by a clock
    /// that was at most [`LARGEST_SKEW`] from `now`.
    #[must_use]
    pub const fn is_credible(&self, now: Micros) -> bool {
        let begun = 0 <= self.from && self.from <= now.saturating_add(LARGEST_SKEW);
        let lasts = now < self.until && self.from <= self.until;
        begun && lasts && self.until <= now.saturating_add(QUARANTINE)
    }
}

/// The end of a lease that the registry keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseEnd {
    /// The lease's end.
    pub until: Micros,
    /// When its nodes can be granted again: then the lease is over by the clock of every copy of the registry.
    pub free_from: Micros,
}

/// How a registry learned that it can have forgotten something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateLoss {
    /// It was started, promoted, restored or copied, or its clock was set back.
    Returned,
    /// Its tables were changed by somebody else.
    Changed,
    /// A member has seen more of its history, or another one.
    Told,
}

/// Reason why a registry grants nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denial {
    /// The asking server's clock is `ahead` of the registry's; negative when behind.
    Skew {
        /// By how much.
        ahead: Micros,
    },
    /// The registry can have forgotten grants, and waits until they are past.
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
            max_skew,
            horizon: Micros::MIN,
            quarantine: Micros::MIN,
            restart_until: Micros::MIN,
            identity,
        }
    }

    /// Begins a quarantine at `now`, whatever an earlier one was. `random` tells it from those of copies.
    pub const fn quarantine(&mut self, now: Micros, random: u32) {
        self.quarantine_after(None, now, random);
    }

    /// Does the same as [`Registry::quarantine`], after one that a member has seen.
    const fn quarantine_after(&mut self, seen: Option<Incarnation>, now: Micros, random: u32) {
        self.quarantine = now.saturating_add(QUARANTINE);
        self.restart_until = Micros::MIN;
        self.identity.incarnation = self.identity.incarnation.next(seen, random);
    }

    /// Detects that the registry has forgotten something since the last request, or knows less than the requesting server
    /// has `seen`. The first step for each request of a server whose clock agrees. Returns how it learned of that: then the
    /// changed registry must be stored before the next step.
    ///
    /// `here` is the registry's identity now (its incarnation does not count), and where its log ends. `is_intact` says
    /// that its tables are as it has left them. `random` is as in [`Registry::quarantine`].
    pub fn detect_state_loss(
        &mut self,
        now: Micros,
        here: LogPoint,
        is_intact: bool,
        seen: Option<LogPoint>,
        random: u32,
    ) -> Option<StateLoss> {
        let mine = self.identity;
        let is = Identity {
            incarnation: mine.incarnation,
            ..here.identity
        };
        // A server that has seen this incarnation with more in its log, or an identity that this registry never had, has
        // seen the history of another copy. A quarantine covers that history, and tells all servers the new identity: so
        // they are not listened to until a little later, and those that lie never keep others from their turn.
        let listens = now >= self.quarantine.saturating_add(TURN);
        let is_more = |seen: LogPoint| match seen.is_of_history(mine) {
            true => seen.position > here.position,
            false => !seen.identity.is_before(mine),
        };
        let loss = if is != mine || self.quarantine.saturating_sub(QUARANTINE) > now {
            StateLoss::Returned
        } else if !is_intact {
            StateLoss::Changed
        } else if listens && seen.is_some_and(is_more) {
            StateLoss::Told
        } else {
            return None;
        };
        self.identity = is;
        let seen = seen.map(|seen| seen.identity.incarnation);
        self.quarantine_after(seen, now, random);
        Some(loss)
    }

    /// Continues without a quarantine if the server was started as it was planned, and nothing else has changed: all that it
    /// had granted is in its tables. Returns true then: the changed registry must be stored. A step before
    /// [`Registry::detect_state_loss`], which still notices when a member has seen more.
    ///
    /// `here` and `is_intact` are as there.
    pub fn resume(&mut self, now: Micros, here: LogPoint, is_intact: bool) -> bool {
        let is_later = here.identity.start > self.identity.start;
        let is = LogPoint {
            identity: Identity {
                incarnation: self.identity.incarnation,
                ..here.identity
            },
            ..here
        };
        let left = self.restart_until.saturating_sub(now);
        let is_planned = 0 < left && left <= LONGEST_RESTART;
        let resumes = is_intact && is_later && is_planned && is.is_of_history(self.identity);
        if resumes {
            self.identity = is.identity;
            self.restart_until = Micros::MIN;
        }
        resumes
    }

    /// Checks that a server's clock and the registry's agree. If not, the registry's can be the wrong one: then it must
    /// not [`Registry::detect_state_loss`] either, as a quarantine by that clock could end at once when it is corrected.
    ///
    /// # Errors
    /// When they do not.
    pub fn check_clock(&self, now: Micros, clock: Micros) -> Result<(), Denial> {
        let ahead = clock.saturating_sub(now);
        if ahead.saturating_abs() > self.max_skew.min(LARGEST_SKEW) {
            return Err(Denial::Skew { ahead });
        }
        Ok(())
    }

    /// Checks that a server with a clock at `clock` may be granted anything at `now`. `told` is the term of the lease that
    /// it asks to renew, by its own account.
    ///
    /// # Errors
    /// When it does not.
    pub fn admit(&self, now: Micros, clock: Micros, told: Option<LeaseTerm>) -> Result<(), Denial> {
        self.check_clock(now, clock)?;
        if now < self.quarantine && !told.is_some_and(|told| told.is_credible(now)) {
            let left = self.quarantine.saturating_sub(now);
            return Err(Denial::Quarantine { left });
        }
        Ok(())
    }

    /// Returns the term of a new lease. `others` are the ends of all leases of any of its nodes.
    ///
    /// # Errors
    /// While any of its nodes is not free.
    pub fn grant(
        &self,
        now: Micros,
        others: impl IntoIterator<Item = LeaseEnd>,
    ) -> Result<LeaseTerm, Denial> {
        let ends = others.into_iter().map(|other| other.free_from);
        let until = ends.fold(self.horizon, Micros::max);
        if until > now {
            return Err(Denial::Leased { until });
        }
        Ok(LeaseTerm {
            from: now,
            until: now.saturating_add(self.bounded_length()),
        })
    }

    /// Returns the renewed term of a lease of a server that was admitted. `kept` is its term as the registry knows it,
    /// `told` as the server does, and `others` are the ends of all other leases of any of its nodes.
    ///
    /// In quarantine the server is trusted, as the registry can have forgotten its grant. Once a lease has ended, others
    /// can have had its nodes, which can be forgotten too: it is renewed with a new term.
    ///
    /// # Errors
    /// When the registry knows nothing of it, or while another lease lasts.
    pub fn renew(
        &self,
        now: Micros,
        kept: Option<LeaseTerm>,
        told: LeaseTerm,
        others: impl IntoIterator<Item = LeaseEnd>,
    ) -> Result<LeaseTerm, Denial> {
        let term = if now < self.quarantine {
            told
        } else {
            kept.ok_or(Denial::Lost)?
        };
        if term.until <= now {
            return self.grant(now, others);
        }
        match others.into_iter().map(|other| other.until).max() {
            Some(until) if until > now => Err(Denial::Leased { until }),
            _ => Ok(LeaseTerm {
                from: term.from,
                until: term.until.max(now.saturating_add(self.bounded_length())),
            }),
        }
    }

    /// Returns the end of a lease with this term, as the registry keeps it: for as long as the clock of one of its copies
    /// can be behind, a holder can still renew the lease there.
    #[must_use]
    pub const fn end_of(&self, term: LeaseTerm) -> LeaseEnd {
        LeaseEnd {
            until: term.until,
            free_from: term.until.saturating_add(self.max_skew),
        }
    }

    /// Returns the length of leases. No quarantine covers a longer one, whatever a table says.
    #[must_use]
    pub fn bounded_length(&self) -> Micros {
        self.length.clamp(SHORTEST_LEASE, LONGEST_LEASE)
    }
}

/// Returns how long a server waits before its next request: a third of the lease's `length` when it was granted one, and
/// a second when it was denied. So its traffic does not depend on how many others there are, and a registry that is away
/// for less than half a lease is not noticed.
#[must_use]
pub const fn request_interval(length: Micros, granted: bool) -> Micros {
    if granted { length / 3 } else { SECOND }
}
