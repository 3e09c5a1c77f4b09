//! Statistics of the times without ids, by fault.

use crate::registry::survival::{Fault, Quarantine, Survived};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The longest times without ids of faults that were survived.
#[derive(Default)]
pub struct Gaps(BTreeMap<Row, Vec<Duration>>);

/// What has a row of its own.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Row {
    Of(Fault, Quarantine),
    /// Any fault, in a quarantine that an earlier one began.
    InQuarantine(Quarantine),
}

impl Gaps {
    /// Adds a fault that was survived.
    pub fn add(&mut self, fault: Fault, survived: &Survived) {
        let row = match survived.quarantine {
            Quarantine::None => Row::Of(fault, Quarantine::None),
            quarantine if fault.begins_quarantine() => Row::Of(fault, quarantine),
            quarantine => Row::InQuarantine(quarantine),
        };
        let gaps = self.0.entry(row).or_default();
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
        writeln!(out, "| Fault | Quarantine | Runs | Median | Longest |")?;
        write!(out, "|---|---|---|---|---|")?;
        for (row, gaps) in &self.0 {
            let (fault, quarantine) = match row {
                Row::Of(fault, quarantine) => (fault.to_string(), quarantine),
                Row::InQuarantine(quarantine) => {
                    ("any other of these, in a quarantine".to_owned(), quarantine)
                }
            };
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
