//! The rows of the view `mint.segments`.

use crate::counter::segment::slots::{Segments, SegmentsSlot, made_slots};
use crate::pg::catalog::{privilege, relation};
use mint_core::Micros;
use mint_core::counter::segment::SegmentState;
use pgrx::pg_sys;
use std::collections::BTreeMap;

/// The segments of a sequence of this database.
#[derive(Default)]
pub struct SlotState {
    pub sequence: u32,
    /// When the slot was filled last.
    pub used: Micros,
    pub segments: SegmentState,
    /// Why the last request for a segment from another server has failed.
    pub failure: Option<String>,
}

/// Returns the state of a slot, if it is of this database.
fn state(slot: &'static SegmentsSlot) -> Option<SlotState> {
    let look = |slot: &SegmentsSlot| {
        let state = || (slot.tag.sequence(), slot.tag.used(), slot.segment.state());
        slot.is_own().then(state)
    };
    let (owner, state) = slot.read(look)?;
    let (sequence, used, segments) = state?;
    Some(SlotState {
        sequence,
        used,
        segments,
        failure: Segments { slot, owner }.failure(),
    })
}

/// Returns whether there is such a sequence, and the role may see its values.
pub fn may_see(sequence: pg_sys::Oid) -> bool {
    relation::is_sequence(sequence)
        && (privilege::has_any(sequence, pg_sys::ACL_SELECT | pg_sys::ACL_USAGE)
            || privilege::is_member(pg_sys::ROLE_PG_MONITOR.into()))
}

/// Returns the sequences of this database that were drawn from since the server started, and those of which `ends` has the
/// last value that was taken from another server, also before the server started; only those that the role may see.
pub fn list(ends: BTreeMap<u32, i64>) -> Vec<SlotState> {
    let unused = |&sequence: &u32| SlotState {
        sequence,
        used: Micros::MIN,
        ..SlotState::default()
    };
    let mut latest: BTreeMap<u32, SlotState> = BTreeMap::new();
    let has_row = |state: &SlotState| state.segments.is_used || ends.contains_key(&state.sequence);
    let states = made_slots().filter_map(state).filter(has_row);
    for state in states.chain(ends.keys().map(unused)) {
        let known = latest.get(&state.sequence);
        if known.is_none_or(|known| known.used < state.used) {
            latest.insert(state.sequence, state);
        }
    }
    for (sequence, state) in &mut latest {
        state.segments.ceiling = state.segments.ceiling.or(ends.get(sequence).copied());
    }
    let all = latest.into_values();
    all.filter(|state| may_see(state.sequence.into())).collect()
}
