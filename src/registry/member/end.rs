//! The end of a lease before its time: sessions that still mint under it fail.

use crate::registry::member::memory::leases;
use crate::registry::member::memory::slot::LeaseSlot;
use crate::snowflake::lane::lanes;
use mint_core::{Lane, Micros};

/// Ends all leases, as the postmaster has ended: nobody can end the sessions that mint under them. **For the worker.**
pub fn end_all() {
    leases::slots()
        .filter(|slot| slot.id().is_some())
        .for_each(|slot| {
            end(slot);
        });
}

/// Ends a lease now. Returns a timestamp that all ids minted under it are before.
pub fn end(slot: &LeaseSlot) -> Micros {
    shorten(slot, slot.lease().from())
}

/// Lets a lease end then, which is sooner than it did. Returns as [`end`].
pub fn shorten(slot: &LeaseSlot, until: Micros) -> Micros {
    lanes::locked(|table| {
        // In a full table nodes share lanes, whose other nodes continue: the lease lasts until its end.
        if table.is_full() {
            return slot.lease().until();
        }
        let is_of_lease = |lane: &&Lane| {
            let layout = lane.layout();
            layout.is_some_and(|layout| layout.shard.width == slot.width())
                && lane
                    .shard()
                    .is_some_and(|node| slot.nodes().contains(&node))
        };
        let lanes = table.lanes().filter(is_of_lease);
        slot.lease().shorten(until, lanes)
    })
}

/// Ends a lease, of which the registry knows nothing more.
pub fn abandon(slot: &LeaseSlot) {
    end(slot);
    slot.lose();
}

/// Ends a lease that is held. Returns the key of its registry, its number, and a timestamp that all its ids are before.
pub fn end_held(slot: &LeaseSlot) -> Option<(u64, i64, Micros)> {
    let id = slot.id()?;
    let used = end(slot);
    slot.lose();
    Some((slot.registry(), id, used))
}
