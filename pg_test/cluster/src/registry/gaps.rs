//! Statistics of the times without ids, by fault.

use crate::registry::survival::Fault;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The times that each fault was survived, and the longest time without ids.
#[derive(Default)]
pub struct Gaps(BTreeMap<Fault, (usize, Duration)>);

impl Gaps {
    /// Adds a fault that was survived.
    pub fn add(&mut self, fault: Fault, gap: Duration) {
        let (count, longest) = self.0.entry(fault).or_default();
        *count += 1;
        *longest = gap.max(*longest);
    }

    /// Returns whether nothing was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Gaps {
    /// A table of Markdown.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "| Fault | Runs | Longest time without ids |\n|---|---|---|"
        )?;
        for (fault, (count, longest)) in &self.0 {
            let longest = longest.as_secs_f64();
            write!(out, "\n| {fault} | {count} | {longest:.1} s |")?;
        }
        Ok(())
    }
}
