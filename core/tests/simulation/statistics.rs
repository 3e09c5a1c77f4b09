//! Counts of events.

use crate::central::Blow;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub struct Statistics {
    pub blows: BTreeMap<Blow, u64>,
    pub counts: BTreeMap<&'static str, u64>,
    pub ids: u128,
    pub requests: u64,
    pub events: u64,
    /// Seconds that members were up.
    pub present: f64,
}

impl Statistics {
    pub fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// The events that have to happen often for a run to mean anything.
    pub fn happened(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [
            "clocks jumped", "members paused", "members crashed", "members restored",
            "members cloned", "members cut off", "releases", "answers too late", "leases lost",
            "denied by skew", "denied by quarantine", "denied as leased", "nodes changed hands",
        ]
        .map(|what| (what, self.counts.get(what).copied().unwrap_or(0)))
        .into_iter()
    }
}
