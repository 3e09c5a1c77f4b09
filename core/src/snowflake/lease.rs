//! A lease of id time: what keeps the servers that share a node number apart.
//!
//! A registry grants a server the right to mint ids of a node with a *time* from one timestamp to another.
//! Leases of one node never overlap, and follow each other in time. The check is made on the id itself, with
//! the lane's other checks. So a server that was paused, cut off or has a wrong clock cannot mint outside
//! its lease: the registry never has to revoke one.

use crate::atomic::{AtomicI64, Ordering};
use crate::clock::Micros;
use crate::snowflake::lane::Lane;

/// The lease of some nodes to this server, in shared memory. Zeroed memory is an empty one.
///
/// `from` and `until` only rise, except in [`Lease::release`] and [`Lease::replace`]. A session that reads `until` and
/// then `from` gets the start of that lease, or of a later one.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Lease {
    from: AtomicI64,
    until: AtomicI64,
}

impl Lease {
    /// Applies a renewal: a lease that begins where this one does, or at its end or later.
    pub fn extend(&self, from: Micros, until: Micros) {
        // The beginning before the end, which lets sessions mint.
        self.from.fetch_max(from, Ordering::AcqRel);
        self.until.fetch_max(until, Ordering::AcqRel);
    }

    /// Replaces the lease by a new one, perhaps of another registry. **The old lease has ended, or was released.**
    /// Nothing of it remains, whatever the clocks of the two registries say.
    pub fn replace(&self, from: Micros, until: Micros) {
        self.until.store(self.from(), Ordering::SeqCst);
        self.extend(from, until);
    }

    /// Returns the start: every id has a tick that starts at or after it. Read it after the end.
    #[must_use]
    #[inline]
    pub fn from(&self) -> Micros {
        self.from.load(Ordering::Acquire)
    }

    /// Returns the end: no id has a tick that starts at or after it.
    #[must_use]
    #[inline]
    pub fn until(&self) -> Micros {
        self.until.load(Ordering::Acquire)
    }

    /// Ends the lease now. Returns a timestamp after all ids that were minted under it; a session still minting under it
    /// fails.
    ///
    /// `lanes` are all lanes of the lease's nodes. **No lane of these nodes can be made meanwhile**: the caller holds
    /// the table's lock. Only a new grant can extend the lease again, never a renewal.
    pub fn release<'a>(&self, lanes: impl IntoIterator<Item = &'a Lane>) -> Micros {
        self.until.store(self.from(), Ordering::SeqCst);
        lanes
            .into_iter()
            .filter_map(Lane::close)
            .fold(self.from(), |used, start| used.max(start.saturating_add(1)))
    }
}
