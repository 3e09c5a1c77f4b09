//! Counts of events.

use crate::registry::RegistryFault;
use mint_core::Micros;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub struct Statistics {
    pub registry_faults: BTreeMap<RegistryFault, u64>,
    pub counts: BTreeMap<&'static str, u64>,
    pub ids: u128,
    pub requests: u64,
    pub events: u64,
    /// The longest time for which a member that was well had no lease, while the registry was up.
    pub longest_wait: Micros,
    /// Seconds that members were up.
    pub present: f64,
}

impl Statistics {
    pub fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// Returns how often the events happened that a meaningful run has many of.
    pub fn frequent_events(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [
            "clocks jumped", "members paused", "members crashed", "members restored",
            "members cloned", "members cut off", "releases", "answers too late", "leases lost",
            "denied by skew", "denied by quarantine", "denied as leased", "nodes changed hands",
            "lies trusted", "lies refused",
        ]
        .map(|what| (what, self.counts.get(what).copied().unwrap_or(0)))
        .into_iter()
    }
}
