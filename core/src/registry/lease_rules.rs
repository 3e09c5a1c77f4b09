//! The rules of a registry of nodes: which member gets which lease, and which gets none.
//!
//! The rules are few. A slice begins now, never before, and where the last one of its nodes has ended. It ends
//! at most one length from now. So whatever a registry has forgotten of its grants is past one length later:
//! after it was started, restored or failed over, it waits for that long (a *quarantine*) and can then grant again.
//! Meanwhile slices that have not ended go on: no other member can have been granted their nodes.
//!
//! Where grants are kept, and how requests reach the registry, is the caller's: in tables and by SQL, or in the
//! memory of a simulation.

use crate::clock::Micros;
use std::cmp::Ordering;

/// A registry's rules and memory, less its grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registry {
    /// How long a slice is.
    pub length: Micros,
    /// How long the longest slice was that it ever granted.
    pub longest: Micros,
    /// How far a server's clock may be from the registry's.
    pub max_skew: Micros,
    /// No slice begins before it: the latest end of grants that are no longer kept.
    pub horizon: Micros,
    /// Nothing is granted before it.
    pub quarantine: Micros,
    /// The registry's identity.
    pub identity: Identity,
}

/// The identity of a registry, which changes when the registry may have forgotten something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Identity {
    /// Of the database system. Another one was restored from a dump.
    pub system: u64,
    /// Of its log. Another one was promoted, or restored to a moment.
    pub timeline: u32,
    /// When its server was started. Another one may be an old copy of the disk.
    pub start: Micros,
    /// Counts quarantines, also those under earlier identities.
    pub incarnation: u32,
}

/// How much of a registry's history a member has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    /// Of whom.
    pub identity: Identity,
    /// Up to where in its log.
    pub position: u64,
}

/// A slice of id time: from the first moment, up to but not the second. In microseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Its first moment.
    pub from: Micros,
    /// The first moment after it.
    pub until: Micros,
}

/// Why a registry grants nothing.
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
    /// Another claim on one of the nodes lasts until then.
    Held {
        /// When it can be had at the earliest.
        until: Micros,
    },
    /// There is no such claim any more: a new one has to be made.
    Lost,
}

impl Registry {
    /// A new registry, which has granted nothing yet.
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

    /// The first thing to do with each request of a server whose clock agrees: notices whether the registry has
    /// forgotten something since it last looked, or knows less than the asking server has `seen`. Returns whether
    /// it did, which must be kept before anything else is asked.
    ///
    /// `here` is the registry's identity now (its incarnation does not count), and where its log ends.
    pub fn detect_state_loss(&mut self, now: Micros, here: Seen, seen: Option<Seen>) -> bool {
        let mine = self.identity;
        let is = Identity {
            incarnation: mine.incarnation,
            ..here.identity
        };
        // Who has seen a later incarnation, or this one as somebody else or with more in its log, has seen what
        // became of another copy.
        let less = seen.is_some_and(|Seen { identity, position }| {
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

    /// Whether a server's clock and the registry's agree. If not, it may be the registry's that is wrong: then it must
    /// not [`Registry::detect_state_loss`] either, as a quarantine by that clock could be over at once when it is put right.
    ///
    /// # Errors
    /// When they do not.
    pub fn compare(&self, now: Micros, clock: Micros) -> Result<(), Denial> {
        let ahead = clock.saturating_sub(now);
        if ahead.saturating_abs() > self.max_skew {
            return Err(Denial::Skew { ahead });
        }
        Ok(())
    }

    /// Whether a server whose clock shows `clock` may be granted anything at `now`. `told` is the slice that it
    /// wants to be renewed, as it knows it.
    ///
    /// # Errors
    /// When it may not.
    pub fn admit(&self, now: Micros, clock: Micros, told: Option<Span>) -> Result<(), Denial> {
        self.compare(now, clock)?;
        // By no clock that a registry may have had has it ended, so no other member has been granted its nodes.
        let lasts = |told: Span| told.until > now.saturating_add(self.max_skew);
        if now < self.quarantine && !told.is_some_and(lasts) {
            let left = self.quarantine.saturating_sub(now);
            return Err(Denial::Quarantine { left });
        }
        Ok(())
    }

    /// The slice of a new claim. `others` are the ends of all claims on any of its nodes.
    ///
    /// # Errors
    /// While any of them lasts.
    pub fn claim(
        &self,
        now: Micros,
        others: impl IntoIterator<Item = Micros>,
    ) -> Result<Span, Denial> {
        let until = others.into_iter().fold(self.horizon, Micros::max);
        if until > now {
            return Err(Denial::Held { until });
        }
        Ok(Span {
            from: now,
            until: now.saturating_add(self.length),
        })
    }

    /// The slice of a claim that goes on, of a server that was admitted. `kept` is what the registry knows of it,
    /// `told` what the server does, and `others` are the ends of all other claims on any of its nodes.
    ///
    /// In quarantine the server is believed: what it was granted may be forgotten. Once a slice has ended, others
    /// may have had its nodes, which may be forgotten too: the claim goes on with a new slice.
    ///
    /// # Errors
    /// When the registry knows nothing of it, or while another claim lasts.
    pub fn renew(
        &self,
        now: Micros,
        kept: Option<Span>,
        told: Span,
        others: impl IntoIterator<Item = Micros>,
    ) -> Result<Span, Denial> {
        let held = if now < self.quarantine {
            told
        } else {
            kept.ok_or(Denial::Lost)?
        };
        if held.until <= now {
            return self.claim(now, others);
        }
        match others.into_iter().max() {
            Some(until) if until > now => Err(Denial::Held { until }),
            _ => Ok(Span {
                from: held.from,
                until: held.until.max(now.saturating_add(self.length)),
            }),
        }
    }
}

/// How long a server waits before it asks again: half a slice when it was granted one, of `length`, and not long
/// when it was denied. So its traffic does not depend on how many others there are.
#[must_use]
pub const fn pace(length: Micros, granted: bool) -> Micros {
    const SECOND: Micros = 1_000_000;
    if granted {
        length / 2
    } else if length < 4 * SECOND {
        length / 4
    } else {
        SECOND
    }
}
