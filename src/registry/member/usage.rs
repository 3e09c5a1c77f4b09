//! The leases, for an administrator. These functions never create the memory and never contact the registry.

use crate::registry::member::memory::{LeaseSlot, SLOTS, if_made};
use crate::registry::member::trouble::Trouble;
use crate::snowflake::node::grantor;

/// Returns how many slots are used, and how many there are.
pub fn slots_used() -> (usize, usize) {
    (if_made().map_or(0, |head| head.slots().count()), SLOTS)
}

/// A width of which sessions need a node: the lease that is held, and why the last request failed.
pub struct WantedWidth {
    pub width: u32,
    pub slot: Option<&'static LeaseSlot>,
    pub trouble: Option<Trouble>,
}

/// Returns the widths of which sessions have needed a node, unless it was released since.
pub fn wanted_widths() -> Vec<WantedWidth> {
    let Some(head) = if_made() else {
        return Vec::new();
    };
    let missing = Trouble::of_missing_database().filter(|_| !head.requests.is_served());
    let wanted = head.wanted_widths().map(|width| WantedWidth {
        width,
        slot: head.chosen_slot(width),
        trouble: missing.clone().or_else(|| head.trouble(width)),
    });
    wanted.collect()
}

/// Returns whether leases are wanted, but no worker that could request them runs.
pub fn lacks_worker() -> bool {
    if_made().is_some_and(|head| {
        grantor::has_registry()
            && head.wanted_widths().next().is_some()
            && !head.requests.is_served_or_started()
            && Trouble::of_missing_database().is_none()
    })
}
