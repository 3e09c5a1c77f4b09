//! The rows of the view `mint.segments`.

use crate::counter::segment::slots;
use crate::pg::catalog::{privilege, relation};
use mint_core::Micros;
use mint_core::counter::segment::SegmentState;
use pgrx::pg_sys;
use std::collections::BTreeMap;

/// A row of the view `mint.segments`.
pub struct SegmentRow {
    pub sequence: pg_sys::Oid,
    pub look: SegmentState,
    /// The last value that was taken, also before the server started if this one still had no segment.
    pub end: Option<i64>,
    /// When a segment was taken last, in microseconds since 1970.
    pub used: Micros,
}

/// Returns whether there is such a sequence, and the role may see its values.
pub fn may_see(sequence: pg_sys::Oid) -> bool {
    relation::is_sequence(sequence)
        && (privilege::any(sequence, pg_sys::ACL_SELECT | pg_sys::ACL_USAGE)
            || privilege::is_member(pg_sys::ROLE_PG_MONITOR.into()))
}

/// Returns the sequences of this database that were drawn from since the server started, and those of which `ends` has the
/// last value that was taken from another server; only those that the role may see.
pub fn list(ends: BTreeMap<u32, i64>) -> Vec<SegmentRow> {
    let row = |sequence: u32, used, look| SegmentRow {
        sequence: sequence.into(),
        look,
        end: look.ceiling.or_else(|| ends.get(&sequence).copied()),
        used,
    };
    let mut latest = BTreeMap::new();
    let states = slots::states().into_iter();
    for (sequence, used, look) in states.filter(|(_, _, look)| look.is_used) {
        if latest.get(&sequence).is_none_or(|&(at, _)| at < used) {
            latest.insert(sequence, (used, look));
        }
    }
    for &sequence in ends.keys() {
        latest
            .entry(sequence)
            .or_insert((Micros::MIN, SegmentState::default()));
    }
    latest
        .into_iter()
        .filter(|&(sequence, _)| may_see(sequence.into()))
        .map(|(sequence, (used, look))| row(sequence, used, look))
        .collect()
}
