//! The slots of sequences, for an administrator. This never makes the memory, nor takes its lock.

use crate::counter::segment::slots::{SegmentsSlot, made_slots, most};
use crate::pg::catalog::relation;
use pgrx::pg_sys;
use std::cmp::Reverse;

/// Returns how many sequences have a slot, and how many can.
pub fn used() -> (usize, usize) {
    (made_slots().count(), most())
}

/// Returns how many values were taken and can still be drawn.
pub fn remaining() -> u64 {
    made_slots().map(|slot| slot.segment.remaining()).sum()
}

/// Sets the statistics of all segments to zero.
pub fn reset_statistics() {
    made_slots().for_each(|slot| slot.segment.reset_statistics());
}

/// Returns the results of `look` for each slot of this database.
fn own_slots<T>(look: impl Fn(&SegmentsSlot) -> T) -> impl Iterator<Item = T> {
    let look = move |slot: &SegmentsSlot| slot.is_own().then(|| look(slot));
    made_slots().filter_map(move |slot| slot.read(&look)?.1)
}

/// The segments of a sequence of this database that are in memory.
pub struct Drawn {
    pub sequence: pg_sys::Oid,
    pub owner: pg_sys::Oid,
    /// The percentage of its values that were drawn.
    pub percent: u8,
    /// The number of values from its first to its last.
    pub values: u64,
}

/// Returns the sequences of which at least that many percent were drawn, or else the one with the highest percentage,
/// in descending order. Temporary ones do not count.
pub fn drawn(at_least: u8) -> Vec<Drawn> {
    let mut slots: Vec<_> = own_slots(|slot| (slot.percent(), slot.tag.page())).collect();
    slots.sort_unstable_by_key(|&(percent, _)| Reverse(percent));
    let mut all = Vec::new();
    for (percent, (sequence, file)) in slots {
        if percent < at_least && !all.is_empty() {
            break;
        }
        let sequence = sequence.into();
        // A sequence that was altered has another file, and another slot.
        let is_current = relation::file(sequence) == Some(file.into());
        if is_current
            && let Some(owner) = relation::owner_of_lasting(sequence)
            && let Some(rules) = relation::sequence(sequence)
        {
            all.push(Drawn {
                sequence,
                owner,
                percent,
                values: rules.max.abs_diff(rules.min).saturating_add(1),
            });
        }
    }
    all
}
