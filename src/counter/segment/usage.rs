//! What an administrator watches of the slots of sequences. Nothing here makes the memory, or takes its lock.

use crate::counter::segment::slots::{Slot, made_slots, most};
use crate::counter::segment::{slots, source};
use crate::pg::catalog::{extension, relation};
use pgrx::pg_sys;
use std::cmp::Reverse;

/// Returns how many sequences have a slot, and how many can.
pub fn used() -> (usize, usize) {
    (made_slots().count(), most())
}

/// Returns how many values were taken and can still be drawn.
pub fn left() -> u64 {
    made_slots().map(|slot| slot.segment.left()).sum()
}

/// Sets the statistics of all segments to zero.
pub fn reset_statistics() {
    made_slots().for_each(|slot| slot.segment.reset_statistics());
}

/// Returns the slots of this database.
fn own_slots() -> impl Iterator<Item = &'static Slot> {
    let (database, incarnation) = (extension::database(), extension::incarnation());
    made_slots().filter(move |slot| slot.tag.database() == database && slot.tag.is_of(incarnation))
}

/// Returns the sequence of this database of which most was drawn, as far as segments of it are in memory, and how much, in
/// percent.
pub fn fullest() -> Option<(pg_sys::Oid, u8)> {
    let mut slots: Vec<_> = own_slots().map(|slot| (slot.percent(), slot)).collect();
    slots.sort_unstable_by_key(|&(percent, _)| Reverse(percent));
    // A sequence that was altered has another file, and another slot.
    let is_current = |slot: &Slot| {
        let (sequence, file) = slot.tag.page();
        (relation::file(sequence.into()) == Some(file.into())).then(|| sequence.into())
    };
    slots
        .into_iter()
        .find_map(|(percent, slot)| Some((is_current(slot)?, percent)))
}

/// Whether this database wants a segment of another server, and has no worker to request it.
pub fn lacks_supplier() -> bool {
    own_slots().any(Slot::is_ordered) && !source::is_served()
}

/// Whether values were taken that only a worker gives back at a shutdown, and there is none.
pub fn lacks_keeper() -> bool {
    left() > 0 && slots::drawers() > 0 && !slots::keeper().is_served_or_started()
}
