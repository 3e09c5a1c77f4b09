//! Counts of what happened.

use std::collections::BTreeMap;

#[derive(Default)]
pub struct Statistics(BTreeMap<&'static str, u64>);

impl Statistics {
    pub fn count(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }

    pub fn add(&mut self, other: &Self) {
        for (what, times) in &other.0 {
            *self.0.entry(what).or_default() += times;
        }
    }

    pub fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.0
    }
}
