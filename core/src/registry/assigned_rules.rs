//! The rules by which a registry keeps an assigned node with one server, and tells the server from its copies.
//!
//! The registry and the server agree on a new [`AgreedKey`] at each grant and renewal. The server writes the next one
//! to its disk before it asks, beside those before: so a lost answer is survived, and so is a registry that has lost its
//! last commits. A copy of the disk has the keys of the time when it was made. Of two copies, the first that asks makes
//! the keys of the other outdated, which hears so at its next request.
//!
//! While a lease lasts, a key alone is not enough: the running server has its [`Proof::instance`] in memory only. A server
//! that was started again has another one, as a copy has, and gets a lease when the last one has ended.

use crate::clock::Micros;
use crate::registry::lease_rules::{Denial, LeaseTerm, Registry};

/// How many keys a server keeps.
pub const KEYS: usize = 16;

/// What the registry and a server have agreed on, and nobody else knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "(i64, i64)", into = "(i64, i64)"))]
pub struct AgreedKey {
    /// Counts the keys of a server.
    pub counter: i64,
    /// A random number.
    pub number: i64,
}

impl From<(i64, i64)> for AgreedKey {
    fn from((counter, number): (i64, i64)) -> Self {
        Self { counter, number }
    }
}

impl From<AgreedKey> for (i64, i64) {
    fn from(key: AgreedKey) -> Self {
        (key.counter, key.number)
    }
}

/// What the registry keeps of the server that uses an assigned node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tenant {
    /// [`Proof::origin`].
    pub origin: i64,
    /// The key that was agreed on last.
    pub key: AgreedKey,
    /// [`Proof::instance`] of the last grant; none after an eviction.
    pub instance: Option<i64>,
}

/// Who uses an assigned node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tenancy {
    /// Nobody yet.
    Vacant,
    /// Nobody: the administrator has said that the server is gone which had this instance.
    Moved(i64),
    /// This server.
    Taken(Tenant),
}

/// How a server shows that a node is its own.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Proof {
    /// A random number that the server has chosen at its first request, and that its copies have as well.
    pub origin: i64,
    /// The keys on its disk, the oldest first: at most [`KEYS`]. Of the last ones the registry can have heard or not.
    #[cfg_attr(feature = "serde", serde(default))]
    pub keys: Vec<AgreedKey>,
    /// The key to agree on now; it is on the disk as well. None keeps the last one.
    pub next: Option<AgreedKey>,
    /// A random number that the server has in memory only, from its start to its end.
    pub instance: i64,
}

/// What the registry knows of a server that shows a [`Proof`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is the first to use the node.
    First,
    /// It has the disk of the server that uses the node: it was started again, or is a copy.
    Restarted,
    /// It is the running server that had the last grant.
    Running,
}

/// Why a server does not get the node that is assigned to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stranger {
    /// Another server has used its keys: one of the two is a copy.
    Copy,
    /// Its keys are not of this node: it is another server of that name, or has lost its keys.
    Other,
    /// The administrator has given the node to another server.
    Replaced,
}

impl Proof {
    /// Returns what the registry knows of the server.
    ///
    /// # Errors
    /// Why the node is not its own.
    pub fn check(&self, tenancy: &Tenancy) -> Result<Standing, Stranger> {
        let tenant = match tenancy {
            Tenancy::Vacant => return Ok(Standing::First),
            Tenancy::Moved(gone) if *gone == self.instance => return Err(Stranger::Replaced),
            Tenancy::Moved(_) => return Ok(Standing::First),
            Tenancy::Taken(tenant) => tenant,
        };
        if tenant.origin != self.origin {
            return Err(Stranger::Other);
        }
        if !self.has(tenant.key) {
            return Err(Stranger::Copy);
        }
        Ok(match tenant.instance == Some(self.instance) {
            true => Standing::Running,
            false => Standing::Restarted,
        })
    }

    /// Returns whether the key is one of the server's history. It is, too, if it is older than all that the server keeps:
    /// then the registry has lost more than those, as one that was restored from a backup.
    fn has(&self, key: AgreedKey) -> bool {
        let is_kept = self.keys.contains(&key) || self.next == Some(key);
        let oldest = self.keys.first().map(|oldest| oldest.counter);
        is_kept || oldest.is_some_and(|oldest| key.counter < oldest)
    }
}

impl Registry {
    /// Returns the term of a lease of an assigned node. `kept` is the last term as the registry knows it, and `told` the one
    /// that the server holds in memory, if any. `is_evicted`: the last lease must not be renewed.
    ///
    /// In quarantine the registry can have forgotten a grant. So only the running server gets a lease, which had the last
    /// grant that the registry knows, or one that holds a lease which lasts.
    ///
    /// # Errors
    /// When there is none for now.
    pub fn lease_assigned(
        &self,
        now: Micros,
        standing: Standing,
        is_evicted: bool,
        kept: LeaseTerm,
        told: Option<LeaseTerm>,
    ) -> Result<LeaseTerm, Denial> {
        let is_in_quarantine = now < self.quarantine;
        let lasting = told.filter(|told| told.is_credible(now) && !is_evicted);
        let (from, end) = match (standing, lasting) {
            // A registry that was restored knows less of the lease than the server, which goes by it until its end.
            (Standing::Running, Some(told)) => {
                (told.from.max(kept.from), kept.until.max(told.until))
            }
            // Nobody else has had the node since.
            (Standing::Running, None) if !is_in_quarantine => (now, kept.until),
            (Standing::First | Standing::Restarted, Some(told)) if is_in_quarantine => {
                (told.from, told.until)
            }
            _ => return self.lease_anew(now, kept),
        };
        let renewed = now.saturating_add(self.bounded_length());
        Ok(LeaseTerm {
            from,
            until: renewed.max(end),
        })
    }

    /// Returns the term of a lease that follows the last one of an assigned node.
    fn lease_anew(&self, now: Micros, kept: LeaseTerm) -> Result<LeaseTerm, Denial> {
        if now < self.quarantine {
            let left = self.quarantine.saturating_sub(now);
            return Err(Denial::Quarantine { left });
        }
        let until = self.end_of(kept).free_from;
        if until > now {
            return Err(Denial::Leased { until });
        }
        self.grant(now, [])
    }
}
