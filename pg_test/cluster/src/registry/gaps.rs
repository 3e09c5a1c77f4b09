//! Statistics of the times without ids, by fault and by kind of member.

use crate::registry::kind::Kind;
use crate::registry::survival::{Fault, Quarantine, Survived, TOLERANCE};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The longest times without ids of faults that were survived.
#[derive(Default)]
pub struct Gaps(BTreeMap<Row, Runs>);

/// The times of each kind of members, in ascending order.
#[derive(Default)]
struct Runs {
    count: usize,
    gaps: [Vec<Duration>; Kind::ALL.len()],
}

/// What has a row of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
        let runs = self.0.entry(row).or_default();
        runs.count += 1;
        for (all, gap) in runs.gaps.iter_mut().zip(survived.gaps) {
            all.extend(gap);
            all.sort_unstable();
        }
    }

    /// Returns whether nothing was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the faults in which assigned members had no ids for longer than all others.
    #[must_use]
    pub fn worse(&self) -> Vec<String> {
        let is_worse = |(row, runs): &(&Row, &Runs)| {
            let longest = |kind: Kind| runs.gaps[kind as usize].last().copied();
            let others = longest(Kind::Auto).max(longest(Kind::Number));
            let both = longest(Kind::Assigned).zip(others);
            let is_longer = both.is_some_and(|(own, others)| own > others + TOLERANCE);
            matches!(row, Row::Of(fault, _) if fault.is_comparable()) && is_longer
        };
        let worse = self.0.iter().filter(is_worse);
        worse.map(|(row, runs)| format!("{row} | {runs}")).collect()
    }
}

impl fmt::Display for Row {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Of(fault, quarantine) => write!(out, "{fault} | {quarantine}"),
            Self::InQuarantine(quarantine) => {
                write!(out, "any other of these, in a quarantine | {quarantine}")
            }
        }
    }
}

impl fmt::Display for Runs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.count)?;
        for gaps in &self.gaps {
            match gaps.last() {
                Some(longest) => write!(out, " | {:.1} s", longest.as_secs_f64())?,
                None => write!(out, " | -")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Gaps {
    /// A table of Markdown.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "| Fault | Quarantine | Runs |")?;
        for kind in Kind::ALL {
            write!(out, " {kind} |")?;
        }
        write!(out, "\n|---|---|---|{}", "---|".repeat(Kind::ALL.len()))?;
        for (row, runs) in &self.0 {
            write!(out, "\n| {row} | {runs} |")?;
        }
        Ok(())
    }
}
