//! A lease of id time: what keeps the servers that share a node number apart.
//!
//! A registry lends a server the right to mint ids of a node whose *time* lies from one moment to another.
//! Slices of one node never overlap, and follow each other in time. The check is made on the id itself, with
//! the lane's other checks. So a server that was paused, cut off or has a wrong clock cannot mint outside
//! its lease, whatever it believes of the time: nothing has to be taken away from it.

use crate::atomic::{AtomicI64, Ordering};
use crate::clock::Micros;
use crate::snowflake::lane::Lane;

/// The lease that this server holds of some nodes, in shared memory. Zeroed memory holds nothing.
///
/// Both only rise, but for [`Lease::give_back`]. A session that reads an end reads the beginning that belongs to it.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Lease {
    from: AtomicI64,
    until: AtomicI64,
}

impl Lease {
    /// Takes what a registry has granted: a lease that begins where this one does, or at its end or later.
    pub fn extend(&self, from: Micros, until: Micros) {
        // The beginning before what lets anyone mint.
        self.from.fetch_max(from, Ordering::AcqRel);
        self.until.fetch_max(until, Ordering::AcqRel);
    }

    /// Ids have ticks that start at or after it. Read after the end.
    #[must_use]
    #[inline]
    pub fn from(&self) -> Micros {
        self.from.load(Ordering::Acquire)
    }

    /// No id has a tick that starts at or after it.
    #[must_use]
    #[inline]
    pub fn until(&self) -> Micros {
        self.until.load(Ordering::Acquire)
    }

    /// Ends the lease now. Returns a moment that all ids minted under it are before; a session still minting under it
    /// fails.
    ///
    /// `lanes` are all from which nodes of this lease are minted. **No such lane may be made meanwhile**: the caller
    /// holds the table's lock. Nor may it be extended, but by a new claim.
    pub fn give_back<'a>(&self, lanes: impl IntoIterator<Item = &'a Lane>) -> Micros {
        let from = self.from();
        self.until.store(from, Ordering::SeqCst);
        lanes
            .into_iter()
            .filter_map(Lane::close)
            .fold(from, |used, start| used.max(start.saturating_add(1)))
    }
}
