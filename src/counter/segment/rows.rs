//! The rows of the view `mint.segments`.

use crate::counter::segment::slots::{self, SlotState};
use crate::pg::catalog::{privilege, relation};
use mint_core::Micros;
use mint_core::counter::segment::SegmentState;
use pgrx::pg_sys;
use std::collections::BTreeMap;

/// A row of the view `mint.segments`.
pub struct SegmentRow {
    pub sequence: pg_sys::Oid,
    pub look: SegmentState,
    /// The last value that was taken, even before the server started if it has no segment since.
    pub end: Option<i64>,
    /// When a segment was taken last, in microseconds since 1970.
    pub used: Micros,
    /// Why there is no next segment from another server.
    pub trouble: Option<String>,
}

/// Returns whether there is such a sequence, and the role may see its values.
pub fn may_see(sequence: pg_sys::Oid) -> bool {
    relation::is_sequence(sequence)
        && (privilege::any(sequence, pg_sys::ACL_SELECT | pg_sys::ACL_USAGE)
            || privilege::is_member(pg_sys::ROLE_PG_MONITOR.into()))
}

/// Returns the sequences of this database that were drawn from since the server started, and those with an entry in
/// `ends`, the last values that were taken from other servers; only those that the role may see.
pub fn list(ends: BTreeMap<u32, i64>) -> Vec<SegmentRow> {
    let row = |state: SlotState| SegmentRow {
        sequence: state.sequence.into(),
        end: state
            .segments
            .ceiling
            .or_else(|| ends.get(&state.sequence).copied()),
        look: state.segments,
        used: state.used,
        trouble: state.failure,
    };
    let unused = |&sequence: &u32| SlotState {
        sequence,
        used: Micros::MIN,
        segments: SegmentState::default(),
        failure: None,
    };
    let mut latest: BTreeMap<u32, SlotState> = BTreeMap::new();
    let states = slots::states().into_iter();
    let has_row = |state: &SlotState| state.segments.is_used || ends.contains_key(&state.sequence);
    let states = states.filter(has_row);
    for state in states.chain(ends.keys().map(unused)) {
        let known = latest.get(&state.sequence);
        if known.is_none_or(|known| known.used < state.used) {
            latest.insert(state.sequence, state);
        }
    }
    latest
        .into_values()
        .filter(|state| may_see(state.sequence.into()))
        .map(row)
        .collect()
}
