//! The slots of sequences, for an administrator. This never makes the memory, nor takes its lock.

use crate::counter::segment::slots::{SegmentsSlot, made_slots, most};
use crate::pg::catalog::relation;
use pgrx::pg_sys;

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
    /// True if the last request for a segment from another server has failed.
    pub is_troubled: bool,
    /// The number of values that can be drawn without another segment.
    pub left: u64,
    /// The number of its values, from the first to the last.
    pub values: u64,
}

/// Returns the sequences of which at least that many percent were drawn, and those whose last request for a segment from
/// another server has failed. Temporary ones do not count.
pub fn nearly_drawn(at_least: u8) -> Vec<Drawn> {
    let look = |slot: &SegmentsSlot| {
        let (percent, is_troubled) = (slot.percent(), slot.request.is_troubled());
        let look = || {
            (
                percent,
                is_troubled,
                slot.segment.remaining(),
                slot.tag.page(),
            )
        };
        (percent >= at_least || is_troubled).then(look)
    };
    let named = |(percent, is_troubled, left, (sequence, file)): (u8, _, _, (u32, u32))| {
        let sequence = sequence.into();
        // A sequence that was altered has another file, and another slot.
        let is_current = relation::file(sequence) == Some(file.into());
        let rules = relation::sequence(sequence).filter(|_| is_current)?;
        Some(Drawn {
            sequence,
            owner: relation::owner_of_lasting(sequence)?,
            percent,
            is_troubled,
            left,
            values: rules.max.abs_diff(rules.min).saturating_add(1),
        })
    };
    own_slots(look).flatten().filter_map(named).collect()
}
