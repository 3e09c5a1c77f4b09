//! Statistics of the times without ids, by fault.

use crate::registry::survival::{Fault, Quarantine, Survived};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The longest time without ids of each fault that was survived.
#[derive(Default)]
pub struct Gaps(BTreeMap<(Fault, Quarantine), Vec<Duration>>);

impl Gaps {
    /// Adds a fault that was survived.
    pub fn add(&mut self, fault: Fault, survived: &Survived) {
        let gaps = self.0.entry((fault, survived.quarantine)).or_default();
        gaps.push(survived.gap);
        gaps.sort_unstable();
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
        writeln!(out, "| Fault | Quarantine | Times | Median | Longest |")?;
        write!(out, "|---|---|---|---|---|")?;
        for ((fault, quarantine), gaps) in &self.0 {
            let [median, longest] = [gaps.len() / 2, gaps.len() - 1]
                .map(|place| format!("{:.1} s", gaps[place].as_secs_f64()));
            let times = gaps.len();
            write!(
                out,
                "\n| {fault} | {quarantine} | {times} | {median} | {longest} |"
            )?;
        }
        Ok(())
    }
}
