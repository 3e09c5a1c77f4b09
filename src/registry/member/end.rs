//! The end of a lease before its time: sessions that still mint under it fail.

use crate::registry::member::memory::{LeaseSlot, memory};
use crate::snowflake::lane::lanes;
use mint_core::registry::ring::RingLease;
use mint_core::{Lane, Micros};

/// Ends all leases after the postmaster has ended: nobody can end the sessions that use them. **For the worker.**
pub fn end_all() {
    memory().held_slots().for_each(|slot| {
        end(slot);
    });
}

/// Ends a lease now. Returns a timestamp after all ids that were minted under it.
fn end(slot: &LeaseSlot) -> Micros {
    lanes::locked(|table| {
        // In a full table, the node shares its lane with nodes that continue: the lease lasts until its end.
        if table.is_full() {
            return slot.lease().until();
        }
        let is_of_lease = |lane: &&Lane| {
            let layout = lane.layout();
            layout.is_some_and(|layout| layout.shard.width == slot.width())
                && lane.shard() == Some(slot.node())
        };
        slot.lease().release(table.lanes().filter(is_of_lease))
    })
}

/// Ends a lease that is held. Returns it, and a timestamp after all its ids.
pub fn end_held(slot: &LeaseSlot) -> Option<(RingLease, Micros)> {
    let lease = slot.held_lease()?;
    let used = end(slot);
    slot.lose();
    Some((lease, used))
}
